//! How listeners of all user tasks are written.

use protocol::{GlobalListener, GlobalListenerSource, JobListenerEventType, Name, is_path_part};

use super::value::Setting;

/// Listeners of all user tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listeners(pub Vec<GlobalListener>);

impl Setting for Listeners {
    const EXPECTED: &'static str = "listeners with different IDs such as 'audit type=audit-job events=creating,completing retries=3 \
                                    priority=70 after', separated by ';'";

    fn parse(text: &str) -> Option<Self> {
        let mut listeners: Vec<GlobalListener> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let listener = listener(part)?;
            if listeners.iter().any(|other| other.id == listener.id) {
                return None;
            }
            listeners.push(listener);
        }
        Some(Self(listeners))
    }

    fn show(&self) -> String {
        self.0.iter().map(show).collect::<Vec<_>>().join("; ")
    }
}

fn listener(text: &str) -> Option<GlobalListener> {
    let mut words = text.split_whitespace();
    let id = words.next().filter(|id| !id.contains('=') && is_path_part(id))?;
    let mut listener = GlobalListener {
        id: Name::from(id),
        job_type: Name::default(),
        retries: GlobalListener::DEFAULT_RETRIES,
        event_types: Vec::new(),
        after_non_global: false,
        priority: GlobalListener::DEFAULT_PRIORITY,
        source: GlobalListenerSource::Configuration,
    };
    for word in words {
        match word.split_once('=') {
            None if word == "after" => listener.after_non_global = true,
            Some(("type", job_type)) => listener.job_type = Name::from(job_type),
            Some(("retries", retries)) => {
                listener.retries = retries.parse().ok().filter(|retries| *retries > 0)?;
            }
            Some(("priority", priority)) => listener.priority = priority.parse().ok()?,
            Some(("events", events)) => {
                listener.event_types = events.split(',').map(event).collect::<Option<_>>()?;
            }
            _ => return None,
        }
    }
    (!listener.job_type.is_empty()).then_some(listener)
}

fn event(name: &str) -> Option<JobListenerEventType> {
    GlobalListener::EVENTS.into_iter().find(|(known, _)| *known == name).map(|(_, event)| event)
}

fn show(listener: &GlobalListener) -> String {
    let mut text = format!("{} type={}", listener.id, listener.job_type);
    let names =
        |event| GlobalListener::EVENTS.into_iter().find(|(_, known)| *known == event).map(|(name, _)| name);
    let events: Vec<&str> = listener.event_types.iter().copied().filter_map(names).collect();
    if !events.is_empty() {
        text += &format!(" events={}", events.join(","));
    }
    text += &format!(" retries={} priority={}", listener.retries, listener.priority);
    if listener.after_non_global {
        text += " after";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_read_and_written() {
        for (text, shown) in [
            ("", ""),
            ("a type=x;", "a type=x retries=3 priority=50"),
            (
                " a  type=x events=creating,canceling retries=1 priority=-7 after ; b type=y",
                "a type=x events=creating,canceling retries=1 priority=-7 after; b type=y retries=3 priority=50",
            ),
        ] {
            let listeners = Listeners::parse(text);
            assert_eq!(listeners.as_ref().map(Setting::show).as_deref(), Some(shown));
            assert_eq!(Listeners::parse(shown), listeners);
        }
        for wrong in [
            "a",
            "type=x",
            "a type=",
            "a type=x; a type=y",
            "a type=x retries=0",
            "a type=x priority=high",
            "a type=x events=",
            "a type=x events=started",
            "a type=x before",
            "a type=x other=1",
        ] {
            assert_eq!(Listeners::parse(wrong), None, "{wrong}");
        }
    }
}
