//! The threads of a command.

use std::process::ExitCode;

use crate::failure::Failure;

pub(crate) fn block_on(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
    runtime.block_on(work)
}
