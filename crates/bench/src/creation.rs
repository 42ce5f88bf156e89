//! The work of a starter: it creates instances of a process or of several, each with its variables, one after the
//! other.

use std::fmt::{Display, Formatter};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use client::{Client, CreateInstance, PublishMessage};
use tokio::sync::Semaphore;

use crate::{
    Error, Options,
    mix::Mix,
    model::{JobKind, MESSAGE_NAME, Model},
    pace::Pace,
    payload,
    record::Recorder,
    track::Tracker,
};

/// Pause of a starter in a closed loop after a refusal, so that a busy server is not hammered.
const REFUSED_PAUSE: Duration = Duration::from_millis(5);
/// How long a message waits for its instance.
const MESSAGE_LIFE: Duration = Duration::from_mins(1);

/// A process with the variables of its instances.
pub(crate) struct StartedProcess {
    pub(crate) model: Model,
    variables: Mix<String>,
}

impl Display for StartedProcess {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.model.process_id)
    }
}

/// The processes and tenants of the instances.
pub(crate) struct Creation {
    pub(crate) processes: Mix<StartedProcess>,
    tenants: Option<Mix<String>>,
    /// Tells the keys of messages of this run from those of another.
    run: u64,
    /// Room for another instance in a closed loop with workers.
    room: Option<Arc<Semaphore>>,
}

impl Creation {
    pub(crate) fn of(options: &Options, room: Option<Arc<Semaphore>>) -> Result<Self, Error> {
        let names = options.mix.clone().unwrap_or_else(|| Mix::only(options.process.clone()));
        let processes = names.map(|name| {
            let model = Model::of(name, options)?;
            let variables = payload::variables(options, &model)?;
            Ok::<_, Error>(StartedProcess { model, variables })
        })?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = since.as_micros() as u64;
        Ok(Self { processes, tenants: options.tenants.clone(), run, room })
    }

    /// The kinds of jobs of all processes, each once.
    pub(crate) fn jobs(&self) -> Vec<&JobKind> {
        let mut kinds: Vec<&JobKind> = Vec::new();
        for kind in self.processes.choices().flat_map(|process| &process.model.jobs) {
            if kinds.iter().all(|other| other.name != kind.name) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// The largest variables of an instance.
    pub(crate) fn payload_bytes(&self) -> usize {
        let all = self.processes.choices().flat_map(|process| process.variables.choices());
        all.map(String::len).max().unwrap_or(0)
    }

    /// The correlation key of an instance.
    fn key(&self, index: u64) -> String {
        format!("{}-{index}", self.run)
    }
}

/// One task that starts instances.
pub(crate) struct LaneWork {
    pub(crate) pace: Pace,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) starter: Client,
    pub(crate) creation: Arc<Creation>,
    /// Whether the next request waits for this one's answer.
    pub(crate) closed: bool,
    /// Whether somebody works the jobs.
    pub(crate) follow: bool,
}

impl LaneWork {
    pub(crate) async fn run(self) {
        loop {
            if let Some(room) = &self.creation.room {
                match room.acquire().await {
                    Ok(permit) => permit.forget(),
                    Err(_) => return,
                }
            }
            let Some((index, intended)) = self.pace.next().await else { return };
            if let Err(error) = self.start(index, intended).await {
                self.recorder.not_created(&error);
                self.tracker.give_room(1);
                if self.closed {
                    tokio::time::sleep(REFUSED_PAUSE).await;
                }
            }
        }
    }

    /// Creates instance number `index`.
    async fn start(&self, index: u64, intended: Instant) -> Result<(), client::Error> {
        let creation = &*self.creation;
        let process = creation.processes.of(index);
        // Numbers of another multiple, so that each process has all sizes and all tenants.
        let variables = process.variables.of(index.wrapping_mul(3));
        let tenant_id = creation.tenants.as_ref().map(|tenants| tenants.of(index.wrapping_mul(7)).as_str());
        let keyed;
        let variables = if process.model.waits_for_message {
            keyed = with_key(variables, &creation.key(index));
            &keyed
        } else {
            variables
        };
        let command = CreateInstance {
            variables: Some(variables),
            tenant_id,
            ..CreateInstance::latest(&process.model.process_id)
        };
        let key = self.starter.create_instance_key(&command).await?;
        self.recorder.request(intended, Instant::now());
        if self.follow {
            self.tracker.started(key, intended, process.model.jobs_per_instance);
        }
        if process.model.waits_for_message {
            let message = PublishMessage {
                name: MESSAGE_NAME,
                correlation_key: &creation.key(index),
                time_to_live: MESSAGE_LIFE,
                message_id: None,
                variables: None,
                tenant_id,
            };
            // The instance is there already: that its message is refused is an error, but gives no room.
            if let Err(error) = self.starter.publish_message(&message).await {
                self.recorder.error(&error);
            }
        }
        Ok(())
    }
}

/// Adds the variable `key` to a JSON object.
fn with_key(object: &str, key: &str) -> String {
    let inner = object.trim_start().strip_prefix('{').unwrap_or_default();
    let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
    format!("{{\"key\":\"{key}\"{comma}{inner}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_added_to_an_object() {
        assert_eq!(with_key("{}", "a-1"), r#"{"key":"a-1"}"#);
        assert_eq!(with_key(r#" {"b":1}"#, "a-1"), r#"{"key":"a-1","b":1}"#);
    }

    #[test]
    fn kinds_of_jobs_are_worked_once() {
        let options =
            Options { mix: Some(Mix::parse("benchmark=3,ten-tasks,order").unwrap()), ..Options::default() };
        let creation = Creation::of(&options, None).unwrap();
        let names: Vec<&str> = creation.jobs().iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["benchmark-task", "check-stock", "charge-payment", "ship-order"]);
        assert_eq!(creation.processes.to_string(), "benchmark (3), ten-tasks (1), order (1)");
    }
}
