//! Leadership of this broker in its partition: what begins with it, and what ends.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use broker_api::SubmitError;
use bytes::Bytes;
use protocol::{Batch, Command};
use replication::{Payload, Role};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::metric_definitions::leads_after;
use crate::node::Node;
use crate::{configured, shared_exports};

/// Pause before the commands of a new leader are tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Whether this broker does the work of the leader: timers, steps left over, configuration.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    leads: AtomicBool,
    /// The first entries of the leader are applied.
    has_begun: AtomicBool,
    is_alone: bool,
    changed: Notify,
}

impl Leading {
    /// A broker that is alone leads.
    pub fn alone() -> Self {
        let begun = || AtomicBool::new(true);
        Self { leads: begun(), has_begun: begun(), is_alone: true, changed: Notify::new() }
    }

    /// Whether there are no other replicas.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    pub fn leads(&self) -> bool {
        self.leads.load(Ordering::Acquire)
    }

    /// Whether it leads, and its first entries are applied.
    pub fn has_begun(&self) -> bool {
        self.leads() && self.has_begun.load(Ordering::Acquire)
    }

    /// Resolves when leadership has begun or ended since the last call.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    fn set(&self, leads: bool) {
        self.has_begun.store(false, Ordering::Release);
        self.leads.store(leads, Ordering::Release);
        self.changed.notify_one();
    }
}

/// Follows the role of this broker until shutdown. Does not keep the node alive.
pub(crate) async fn follow_role(node: Weak<Node>, mut role: watch::Receiver<Role>, stop: CancellationToken) {
    let (mut led, mut failures, mut since) = (false, 0_u32, None);
    loop {
        let now = *role.borrow_and_update();
        let leads = matches!(now, Role::Leader { .. });
        {
            let Some(node) = node.upgrade() else { return };
            node.shared.leading.set(leads);
            if leads {
                tracing::info!(partition = 1, "this broker leads");
                let began = *since.get_or_insert_with(Instant::now);
                failures = match begin(&node).await {
                    Ok(()) => {
                        leads_after(began.elapsed());
                        shared_exports::lead(&node, true);
                        0
                    }
                    // It may lead no more, or be about to stop.
                    Err(error) if failures == 0 => {
                        tracing::info!(%error, "the commands of a new leader did not get through yet");
                        1
                    }
                    Err(error) => {
                        tracing::warn!(%error, failures, "the commands of a leader do not get through; they are tried again");
                        failures + 1
                    }
                };
            } else if led {
                tracing::info!(partition = 1, "this broker leads no more");
            }
        }
        if !leads {
            (failures, since) = (0, None);
            if let Some(node) = node.upgrade() {
                shared_exports::lead(&node, false);
            }
        }
        led = leads;
        let retry = async {
            let failed = node.upgrade().is_some_and(|node| leads && !node.shared.leading.has_begun());
            if failed { tokio::time::sleep(RETRY_PAUSE).await } else { std::future::pending().await }
        };
        tokio::select! {
            changed = role.changed() => if changed.is_err() { return },
            () = retry => {}
            () = stop.cancelled() => return,
        }
    }
}

/// The first entries of a leader. State may hold timers that are due and steps that are left over: one tick finds out,
/// and once it is applied, everything of earlier leaders is. It passes by the proposer, whose entries may wait for it
/// to learn that they are in no log. Then the configuration takes effect.
async fn begin(node: &Node) -> Result<(), SubmitError> {
    let mut batch = Batch {
        engine_version: 0,
        timestamp_ms: 0,
        commands: vec![Command::Tick],
        demand: vec![],
        origin: None,
        digest: None,
    };
    node.shared.stamp(&mut batch);
    let proposed = node.group().propose(Payload::new(Bytes::from(batch.encode()))).await;
    proposed.map_err(|error| SubmitError::Unavailable(error.to_string()))?;
    let failed = |error: state::StateError| SubmitError::Internal(error.to_string());
    let commands = configured::commands(&node.engine.lock(), node.options()).map_err(failed)?;
    for command in commands {
        node.run_own(command).await?;
    }
    node.shared.leading.has_begun.store(true, Ordering::Release);
    Ok(())
}
