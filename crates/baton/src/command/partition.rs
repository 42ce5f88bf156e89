//! `baton partition`: batches that stop a partition are set aside, on a data directory that no server has open.

use std::process::ExitCode;

use broker::set_aside::{ClosedPartition, SetAside, SetAsideError};

use crate::cli::{Partition, PartitionAction};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Partition) -> Result<ExitCode, Failure> {
    match &arguments.action {
        PartitionAction::Skip { position, place, force } => skip(place.closed(), *position, *force).await,
        PartitionAction::Skipped { position: None, place } => list(place.closed()),
        PartitionAction::Skipped { position: Some(position), place } => show(place.closed(), *position),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn skip(partition: ClosedPartition<'_>, position: u64, is_sure: bool) -> Result<(), Failure> {
    let skipped = partition.set_aside(position, is_sure).await;
    let skipped =
        skipped.map_err(|error| failure(format!("set the batch at position {position} aside"), &error))?;
    output::line(describe(&skipped))?;
    output::line(format_args!("its bytes are in {}", skipped.file.display()))?;
    output::note(
        "The next start does not apply it, and bans the process instances of its commands. These were not answered, so \
         clients may repeat them. Start the server, list the instances with `baton banned`, and cancel or release each \
         of them.",
    );
    Ok(())
}

fn list(partition: ClosedPartition<'_>) -> Result<(), Failure> {
    let all = partition.list().map_err(|error| failure("list batches that were set aside", &error))?;
    all.iter().try_for_each(|skipped| output::line(describe(skipped)))
}

fn show(partition: ClosedPartition<'_>, position: u64) -> Result<(), Failure> {
    let skipped = partition.inspect(position);
    let skipped =
        skipped.map_err(|error| failure(format!("show the batch at position {position}"), &error))?;
    output::line(describe(&skipped))?;
    skipped.batch.commands.iter().try_for_each(|command| output::line(format_args!("{command:#?}")))
}

fn describe(skipped: &SetAside) -> String {
    let SetAside { position, process_instance_key, batch, .. } = skipped;
    let commands = batch.commands.len();
    let time = jiff::Timestamp::from_millisecond(batch.timestamp_ms).unwrap_or_default();
    let at =
        process_instance_key.map_or_else(String::new, |key| format!(", at work on process instance {key}"));
    format!("set aside: position {position}, {commands} commands of {time:.0}{at}")
}

fn failure(action: impl std::fmt::Display, error: &SetAsideError) -> Failure {
    let failure = Failure::new(format!("cannot {action}: {error}"));
    match error {
        SetAsideError::NoData(..) => failure.hint("name the directory that the server is started with by --data-dir"),
        error if error.is_in_use() => {
            failure.hint("a server has it open: stop that first, by kill -9 if it does not stop otherwise")
        }
        SetAsideError::NotNext { expected, .. } => failure.hint(format!(
            "if the server stood at {expected}, name that; if it did not, start it and wait until its liveness probe names the \
             position; --force takes any batch that the state does not have, and loses what was acknowledged with it"
        )),
        SetAsideError::Already(_) => failure.hint("start the server"),
        _ => failure,
    }
}
