//! Settings that become state of a partition.

use std::ops::ControlFlow;
use std::sync::Arc;

use engine::Engine;
use protocol::{
    Command, ENGINE_VERSION, FIRST_PARTITION, GlobalListener, GlobalListenerCommand, GlobalListenerSource,
    Settings,
};
use state::StateError;

use crate::options::PartitionOptions;

/// The commands that bring the state in line with the configuration.
pub(crate) fn commands(engine: &Engine, options: &PartitionOptions) -> Result<Vec<Command>, StateError> {
    let settings = settings(engine, &options.engine().settings())?;
    // Partition 1 gives them to all.
    let listeners = (options.number == FIRST_PARTITION)
        .then(|| global_listeners(engine, &options.global_listeners))
        .transpose()?
        .flatten();
    // This broker is the only replica.
    let version = (engine.active_version() < ENGINE_VERSION)
        .then_some(Command::ActivateVersion { version: ENGINE_VERSION });
    Ok(version.into_iter().chain(settings).chain(listeners).collect())
}

/// The command that has the configured settings take effect, unless they are in effect.
fn settings(engine: &Engine, configured: &Settings) -> Result<Option<Command>, StateError> {
    let is_so = engine.settings()?.is_some_and(|settings| settings == *configured);
    Ok((!is_so).then(|| Command::Configure { settings: Box::new(*configured) }))
}

/// The command that brings the listeners of all user tasks in line with the configuration, unless they are.
fn global_listeners(engine: &Engine, configured: &[GlobalListener]) -> Result<Option<Command>, StateError> {
    let source = GlobalListenerSource::Configuration;
    let mut wanted: Vec<_> =
        configured.iter().map(|listener| GlobalListener { source, ..listener.clone() }).collect();
    wanted.sort_by(|one, other| one.id.0.cmp(&other.id.0));
    let mut known = Vec::new();
    engine.tables().global_listeners.visit(.., |_, row| {
        known.extend((row.listener.source == source).then(|| Arc::clone(row)));
        ControlFlow::Continue(())
    })?;
    let is_so = known.iter().map(|row| &row.listener).eq(&wanted);
    Ok((!is_so).then(|| Command::GlobalListener(GlobalListenerCommand::Configure(wanted))))
}
