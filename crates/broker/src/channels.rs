//! Messages from one partition to another: the leader sends them in order until they are acknowledged.
//!
//! A task for each pair of partitions wakes when there are messages, and looks again from time to time, so that
//! neither a change of leaders nor a restart loses any. The receiver knows which it had, so that sending twice does
//! no harm.

use std::sync::{Arc, Weak};
use std::time::Duration;

use broker_api::SubmitError;
use planted::Bug;
use protocol::PartitionId;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::node::Node;

/// Interval at which an outbox is looked at although nothing has woken its sender.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Time within which further messages are acknowledged together with those before.
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(20);
/// Messages that are acknowledged at once, however fast others follow.
const ACKNOWLEDGE_EACH: u64 = 1024;
/// Pause after a parcel that was not taken; it doubles up to the interval above.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Starts a sender for each pair of partitions. They do not keep the node alive.
pub(crate) fn begin(node: &Arc<Node>, stop: &CancellationToken) -> Vec<JoinHandle<()>> {
    let numbers: Vec<PartitionId> = node.partition_numbers().collect();
    let pairs = numbers.iter().flat_map(|source| numbers.iter().map(move |target| (*source, *target)));
    pairs
        .filter(|(source, target)| source != target)
        .map(|(source, target)| {
            let sender = Sender { node: Arc::downgrade(node), source, target, sent: None };
            let stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = sender.run() => {}
                    () = stop.cancelled() => {}
                }
            })
        })
        .collect()
}

/// The sender of one partition's messages to another one.
struct Sender {
    node: Weak<Node>,
    source: PartitionId,
    target: PartitionId,
    /// Number of the last message that the target has received, as far as is known since this broker leads the
    /// source.
    sent: Option<u64>,
}

impl Sender {
    async fn run(mut self) {
        let mut pause = RETRY_PAUSE;
        loop {
            let Some(node) = self.node.upgrade() else { return };
            let source = Arc::clone(node.at(self.source));
            let sent = if source.has_begun_to_lead() {
                self.send(&node).await
            } else {
                // Another broker sends, and may come further.
                self.sent = None;
                Ok(())
            };
            drop(node);
            if let Err(reason) = sent {
                tracing::debug!(self.source, self.target, reason, "messages are sent again later");
                sleep(pause).await;
                pause = LOOK_INTERVAL.min(pause * 2);
            } else {
                pause = RETRY_PAUSE;
                let _ = timeout(LOOK_INTERVAL, source.outbox_grew(self.target)).await;
            }
        }
    }

    /// Sends what there is, and has it acknowledged. An error: the reason why it is sent again.
    async fn send(&mut self, node: &Node) -> Result<(), String> {
        let (source, target) = (node.at(self.source), node.at(self.target));
        let mut acknowledged = None;
        loop {
            let parcel = source.next_parcel(self.target, self.sent)?;
            let Some(parcel) = parcel else {
                let Some(up_to) = self.sent.filter(|sent| acknowledged != Some(*sent)) else { return Ok(()) };
                if timeout(ACKNOWLEDGE_AFTER, source.outbox_grew(self.target)).await.is_err() {
                    source.acknowledge_messages(self.target, up_to).await.map_err(reason)?;
                    acknowledged = Some(up_to);
                }
                continue;
            };
            let last = parcel.first + parcel.messages.len() as u64 - 1;
            if planted::has(Bug::EarlyMessageAcknowledgement) {
                source.acknowledge_messages(self.target, last).await.map_err(reason)?;
            }
            let up_to = match target.receive(parcel).await {
                Ok(up_to) => up_to,
                Err(_) if planted::has(Bug::PassedOverMessages) => last,
                Err(error) => {
                    // The gap is found out anew.
                    self.sent = None;
                    return Err(reason(error));
                }
            };
            self.sent = Some(up_to);
            if up_to >= acknowledged.unwrap_or(0) + ACKNOWLEDGE_EACH {
                source.acknowledge_messages(self.target, up_to).await.map_err(reason)?;
                acknowledged = Some(up_to);
            }
        }
    }
}

fn reason(error: SubmitError) -> String {
    error.to_string()
}
