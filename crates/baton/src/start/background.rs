//! Work beside the gateways, which ends after the broker.

use ::traces::Traces;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub(super) struct Background {
    pub stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Background {
    /// Begins work that ends when `stop` says so.
    pub fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(tokio::spawn(work));
    }

    /// Stops everything, and sends the spans that are left over.
    pub async fn end(self, traces: Option<Traces>) {
        self.stop.cancel();
        if let Some(traces) = traces {
            // It waits for what is left to be sent.
            let _ = tokio::task::spawn_blocking(move || traces.stop()).await;
        }
        for task in self.tasks {
            // It only ends; how is of no interest any more.
            let _ = task.await;
        }
    }
}
