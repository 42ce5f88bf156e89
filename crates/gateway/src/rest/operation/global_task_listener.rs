//! Listeners of all user tasks: what their operations have in common.

use protocol::{GlobalListener, GlobalListenerSource, Name};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::writer::{object, write_text};

/// Reads what a request says about a listener.
pub(super) fn listener(call: &Call<'_>, id: Name) -> Result<GlobalListener, Failure> {
    let fields = &call.fields;
    let not_blank = |name: &str, value: Name| match value.trim() {
        "" => Err(Failure::invalid(format!("{name}: must not be blank"))),
        _ => Ok(value),
    };
    let int32 = |name: &str| {
        let number = fields.integer(name).map(i32::try_from).transpose();
        number.map_err(|_| Failure::invalid(format!("{name}: must be a 32-bit number")))
    };
    let retries = int32("retries")?.unwrap_or(GlobalListener::DEFAULT_RETRIES);
    if retries < 1 {
        return Err(Failure::invalid("retries: must be greater than 0"));
    }
    let names = fields.names("eventTypes");
    if names.is_empty() {
        return Err(Failure::invalid("eventTypes: at least one is required"));
    }
    let is_for_all = names.iter().any(|name| &**name == "all");
    let is_named = |name: &str| !is_for_all && names.iter().any(|known| **known == *name);
    let named = GlobalListener::EVENTS.into_iter().filter(|(name, _)| is_named(name));
    Ok(GlobalListener {
        id: not_blank("id", id)?,
        job_type: not_blank("type", fields.name_or_empty("type"))?,
        retries,
        event_types: named.map(|(_, event)| event).collect(),
        after_non_global: fields.flag("afterNonGlobal"),
        priority: int32("priority")?.unwrap_or(GlobalListener::DEFAULT_PRIORITY),
        source: GlobalListenerSource::Api,
    })
}

/// The moments that a listener is for, as the API names them.
pub(super) fn event_types(listener: &GlobalListener) -> impl Iterator<Item = &'static str> {
    let all = listener.event_types.is_empty().then_some("all");
    let named = GlobalListener::EVENTS.into_iter().filter(|(_, event)| listener.event_types.contains(event));
    all.into_iter().chain(named.map(|(name, _)| name))
}

pub(super) fn write(listener: &GlobalListener, out: &mut Vec<u8>) {
    object(out)
        .with("id", &listener.id)
        .with("type", &listener.job_type)
        .with("retries", listener.retries)
        .list("eventTypes", event_types(listener), write_text)
        .with("afterNonGlobal", listener.after_non_global)
        .with("priority", listener.priority)
        .with("source", listener.source.as_str())
        .end();
}
