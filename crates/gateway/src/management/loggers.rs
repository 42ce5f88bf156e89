//! Log levels, changed while the process runs.

use parking_lot::Mutex;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Registry, reload};

use super::problem::{Problem, json_answer};

/// The logger that all others take their level from.
const ROOT: &str = "ROOT";
/// How many loggers may have a level of their own.
const LOGGERS_MAX: usize = 256;
/// Length of a logger's name, in bytes.
const NAME_LENGTH_MAX: usize = 256;
const LEVELS: [(&str, LevelFilter); 6] = [
    ("OFF", LevelFilter::OFF),
    ("ERROR", LevelFilter::ERROR),
    ("WARN", LevelFilter::WARN),
    ("INFO", LevelFilter::INFO),
    ("DEBUG", LevelFilter::DEBUG),
    ("TRACE", LevelFilter::TRACE),
];

/// The levels and the filter they act on.
#[derive(Clone)]
pub struct Loggers {
    targets: Arc<Mutex<Targets>>,
    handle: reload::Handle<Targets, Registry>,
}

/// The filter to put between the registry and what writes the log.
pub type Filter = reload::Layer<Targets, Registry>;

/// Why text does not say which levels to log.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected a level or a list such as 'info,broker=debug' with the levels off, error, warn, info, debug, trace"
)]
pub struct LevelError;

impl Loggers {
    /// Makes a filter from text such as `info,broker=debug`.
    pub fn new(levels: &str) -> Result<(Filter, Self), LevelError> {
        let targets: Targets = levels.parse().map_err(|_| LevelError)?;
        // A word that is no level parses as the name of a target, which nobody means.
        let lone_word = levels.split(',').any(|part| !part.contains('=') && level(part.trim()).is_none());
        if lone_word {
            return Err(LevelError);
        }
        let (filter, handle) = reload::Layer::new(targets.clone());
        Ok((filter, Self { targets: Arc::new(Mutex::new(targets)), handle }))
    }

    fn current(&self) -> Targets {
        self.targets.lock().clone()
    }

    fn set(&self, name: &str, level: Option<LevelFilter>) -> Result<(), Problem> {
        let mut targets = self.targets.lock();
        let root = targets.default_level().unwrap_or(LevelFilter::OFF);
        let others: Vec<_> = targets
            .iter()
            .filter(|(target, _)| *target != name)
            .map(|(target, level)| (target.to_owned(), level))
            .collect();
        if others.len() >= LOGGERS_MAX {
            let detail = format!("At most {LOGGERS_MAX} loggers may have a level of their own");
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
        let changed = Targets::new().with_targets(others);
        let changed = match (name, level) {
            (ROOT, level) => changed.with_default(level.unwrap_or(LevelFilter::INFO)),
            (name, Some(level)) => changed.with_default(root).with_target(name, level),
            (_, None) => changed.with_default(root),
        };
        self.handle
            .reload(changed.clone())
            .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        *targets = changed;
        Ok(())
    }
}

fn level(word: &str) -> Option<LevelFilter> {
    LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, level)| *level)
}

fn word(level: LevelFilter) -> &'static str {
    LEVELS.iter().find(|(_, l)| *l == level).map_or("OFF", |(name, _)| name)
}

fn describe(targets: &Targets, name: &str) -> Value {
    let root = targets.default_level().unwrap_or(LevelFilter::OFF);
    if name == ROOT {
        return json!({ "configuredLevel": word(root), "effectiveLevel": word(root) });
    }
    let own = targets.iter().find(|(target, _)| *target == name).map(|(_, level)| level);
    let nearest = targets
        .iter()
        .filter(|(target, _)| name.starts_with(target))
        .max_by_key(|(target, _)| target.len())
        .map_or(root, |(_, level)| level);
    json!({ "configuredLevel": own.map(word), "effectiveLevel": word(nearest) })
}

/// Names are module paths; dots are taken for their separators.
fn logger_name(name: &str) -> Result<String, Problem> {
    if name.eq_ignore_ascii_case(ROOT) {
        return Ok(ROOT.to_owned());
    }
    let name = name.replace('.', "::");
    let well_formed = name.len() <= NAME_LENGTH_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:".contains(&b));
    if well_formed {
        return Ok(name);
    }
    Err(Problem::new(
        StatusCode::BAD_REQUEST,
        "The name of a logger is a module path such as broker::ingress",
    ))
}

/// `GET /actuator/loggers`.
pub(super) async fn list(State(loggers): State<Loggers>) -> Response {
    let targets = loggers.current();
    let mut all = Map::new();
    all.insert(ROOT.to_owned(), describe(&targets, ROOT));
    for (name, _) in &targets {
        all.insert(name.to_owned(), describe(&targets, name));
    }
    let levels = LEVELS.map(|(name, _)| name);
    json_answer(StatusCode::OK, &json!({ "levels": levels, "loggers": all }))
}

/// `GET /actuator/loggers/{name}`.
pub(super) async fn read(
    State(loggers): State<Loggers>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    Ok(json_answer(StatusCode::OK, &describe(&loggers.current(), &logger_name(&name)?)))
}

/// `POST /actuator/loggers/{name}` with `{"configuredLevel": "DEBUG"}`; null takes the level away.
pub(super) async fn change(
    State(loggers): State<Loggers>,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<Response, Problem> {
    let wrong = |detail: String| Problem::new(StatusCode::BAD_REQUEST, detail);
    let name = logger_name(&name)?;
    let body: Map<String, Value> = serde_json::from_slice(&body)
        .map_err(|error| wrong(format!("Expected a JSON object with 'configuredLevel': {error}")))?;
    if let Some(other) = body.keys().find(|key| *key != "configuredLevel") {
        return Err(wrong(format!("There is no member '{other}'; expected only 'configuredLevel'")));
    }
    let wanted = match body.get("configuredLevel") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_str().and_then(level).ok_or_else(|| {
            wrong(format!("Expected 'configuredLevel' to be one of OFF, ERROR, WARN, INFO, DEBUG, TRACE or null, but it was {value}"))
        })?),
    };
    loggers.set(&name, wanted)?;
    tracing::info!(logger = name, level = wanted.map(word), "log level changed");
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt;

    #[test]
    fn levels_change_what_is_logged() {
        let (filter, loggers) = Loggers::new("info,quiet=error").unwrap();
        let subscriber = tracing_subscriber::registry().with(filter);
        tracing::subscriber::with_default(subscriber, || {
            let debug = || tracing::enabled!(target: "broker::ingress", tracing::Level::DEBUG);
            let quiet = || tracing::enabled!(target: "quiet", tracing::Level::WARN);
            assert!(!debug() && !quiet());
            loggers.set("broker", Some(LevelFilter::DEBUG)).unwrap();
            assert!(debug() && !quiet());
            loggers.set("broker", None).unwrap();
            loggers.set("quiet", None).unwrap();
            assert!(!debug() && quiet());
            loggers.set(ROOT, Some(LevelFilter::TRACE)).unwrap();
            assert!(debug());
        });
        let told = describe(&loggers.current(), "broker::x");
        assert_eq!(told, json!({ "configuredLevel": null, "effectiveLevel": "TRACE" }));
    }

    #[test]
    fn what_is_no_level_is_refused() {
        for wrong in ["loud", "info,x=loud", "info,loud"] {
            assert!(Loggers::new(wrong).is_err(), "{wrong}");
        }
        assert!(Loggers::new("WARN").is_ok());
    }
}
