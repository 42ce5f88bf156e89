//! Suggestions after the demonstration, with or without its server.

use std::process::ExitCode;

use client::{RestClient, RestOptions};
use tokio::process::Child;

use super::scene::{self, ORDER};
use crate::failure::Failure;
use crate::output;
use crate::start::ReadyLine;

/// Orders that nobody works on, so that there is something to be found.
const WAITING: usize = 20;

/// Three things to try, with the server that has gone.
pub(super) fn suggest(program: &str) {
    output::note(format_args!(
        "\nTry next:\n  \
         the same with a server that stays:    make demo ARGS=--stay\n  \
         a server that keeps its data:         {program} start --data-dir data\n  \
         more load, other processes:           {program} bench --help"
    ));
}

/// Leaves orders that wait and much else, tells what to try with them, and stays until it is interrupted or the server
/// ends.
pub(super) async fn stay(server: &mut Child, ready: &ReadyLine, program: &str) -> Result<ExitCode, Failure> {
    let address = format!("http://{}", ready.rest);
    let options = RestOptions { address: address.clone(), ..RestOptions::default() };
    let client = RestClient::new(options).map_err(Failure::new)?;
    let scene = scene::make(&client, WAITING).await?;
    output::note(format_args!(
        "\nThe server stays at {address} (gRPC {}, management {}) until Ctrl-C. {WAITING} more orders wait in it, {} have \
         failed, and {} refunds want to be approved.\n  \
         in a browser:                 {address}/\n\
         Or, in another terminal:\n  \
         what waits for a worker:      {program} search jobs --state CREATED\n  \
         be the worker of one:         {program} work check-stock --count 1 --variables '{{\"inStock\": false}}'\n  \
         what became of the orders:    {program} search instances --process {ORDER}",
        ready.grpc, ready.management, scene.incidents, scene.tasks
    ));
    tokio::select! {
        ended = server.wait() => Err(Failure::new(format!("the server has ended: {}", ended.map_err(Failure::new)?))),
        _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
    }
}
