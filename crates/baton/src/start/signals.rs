//! The signals that stop the server. A second one ends it at once, as a crash would: nothing acknowledged is lost.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// A shell's exit code for a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// A token that SIGTERM and SIGINT cancel.
pub(super) fn listen() -> Result<CancellationToken, Failure> {
    let on = |kind| signal(kind).map_err(|error| Failure::new(format!("cannot wait for signals: {error}")));
    let (mut terminate, mut interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        either(&mut terminate, &mut interrupt).await;
        cancel.cancel();
        either(&mut terminate, &mut interrupt).await;
        tracing::info!("second signal to stop: ending at once");
        std::process::exit(INTERRUPTED);
    });
    Ok(stop)
}

/// Waits for the end of the server, or for its next start.
pub(super) async fn any(stop: &CancellationToken, again: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = again.cancelled() => {}
    }
}

async fn either(first: &mut Signal, second: &mut Signal) {
    tokio::select! {
        _ = first.recv() => {}
        _ = second.recv() => {}
    }
}
