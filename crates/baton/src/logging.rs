//! The log: lines on the standard error output, with levels that change while the server runs.

use std::io::{self, IsTerminal};

use gateway::management::Loggers;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};
use crate::failure::Failure;

/// Libraries that tell what only their own developers want to know; raft-engine warns of the torn end of a log
/// after every crash, which is as it should be; openraft warns of votes in every election, and its failures are
/// told by the group; h2 and rustls warn of what any client can send. Named in the levels, they speak again.
const QUIET: &str = "openraft=off,raft_engine=error,pprof=warn,opentelemetry=warn,h2=error,rustls=off";

/// Begins to log.
pub(crate) fn begin(config: &Config) -> Result<Loggers, Failure> {
    let levels = format!("{QUIET},{}", config.logging.level.0);
    let (filter, loggers) = Loggers::new(&levels).map_err(Failure::usage)?;
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match config.logging.format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init()
        .map_err(|error| Failure::new(format!("cannot log: {error}")))?;
    Ok(loggers)
}
