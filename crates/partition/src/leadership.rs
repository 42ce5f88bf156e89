//! Leadership of this broker in its partition: the work that begins with it, and ends.

use std::sync::Weak;
use std::time::{Duration, Instant};

use broker_api::SubmitError;
use bytes::Bytes;
use protocol::{Batch, Command};
use replication::{Payload, Role};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::acknowledging::lead;
use crate::configured;
use crate::partition::Partition;

/// Pause before the commands of a new leader are tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Follows the role of this replica until shutdown. Does not keep the partition alive.
pub(crate) async fn follow_role(
    partition: Weak<Partition>,
    mut role: watch::Receiver<Role>,
    stop: CancellationToken,
) {
    let (mut led, mut failures, mut since) = (false, 0_u32, None);
    loop {
        let now = *role.borrow_and_update();
        let leads = matches!(now, Role::Leader { .. });
        {
            let Some(partition) = partition.upgrade() else { return };
            partition.shared.leading.set(leads);
            if leads {
                tracing::info!(partition = partition.number(), "this broker leads");
                let began = *since.get_or_insert_with(Instant::now);
                let beginning = while_it_lasts(role.clone(), now, begin(&partition));
                let Some(begun) = stop.run_until_cancelled(beginning).await else { return };
                failures = match begun {
                    None => 0,
                    Some(Ok(())) => {
                        partition.shared.counts.metrics.leads_after(began.elapsed());
                        lead(&partition, true);
                        0
                    }
                    // It may lead no more, or be about to stop.
                    Some(Err(error)) if failures == 0 => {
                        tracing::info!(%error, "the commands of a new leader did not get through yet");
                        1
                    }
                    Some(Err(error)) => {
                        tracing::warn!(%error, failures, "the commands of a leader do not get through; they are tried again");
                        failures + 1
                    }
                };
            } else if led {
                tracing::info!(partition = partition.number(), "this broker leads no more");
            }
        }
        if !leads {
            (failures, since) = (0, None);
            if let Some(partition) = partition.upgrade() {
                lead(&partition, false);
            }
        }
        led = leads;
        let retry = async {
            let failed =
                partition.upgrade().is_some_and(|partition| leads && !partition.shared.leading.has_begun());
            if failed { tokio::time::sleep(RETRY_PAUSE).await } else { std::future::pending().await }
        };
        tokio::select! {
            changed = role.changed() => if changed.is_err() { return },
            () = retry => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Works as long as the role is the same, and returns nothing when it has changed: entries of a former leader may wait
/// for the next one, however long that takes.
async fn while_it_lasts<T>(
    mut role: watch::Receiver<Role>,
    now: Role,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        _ = role.wait_for(|role| *role != now) => None,
    }
}

/// Appends the first entries of a leader. State may hold timers that are due and steps that are left over: one tick
/// finds out, and once it is applied, everything of earlier leaders is. It passes by the proposer, whose entries may
/// wait for it to learn that they are in no log. Then the configuration takes effect.
async fn begin(partition: &Partition) -> Result<(), SubmitError> {
    let mut batch = Batch {
        engine_version: 0,
        timestamp_ms: 0,
        commands: vec![Command::Tick],
        demand: vec![],
        origin: None,
        digest: None,
    };
    partition.shared.stamp(&mut batch);
    let proposed = partition.group().propose(Payload::new(Bytes::from(batch.encode()))).await;
    proposed.map_err(|error| SubmitError::Unavailable(error.to_string()))?;
    let failed = |error: state::StateError| SubmitError::Internal(error.to_string());
    let commands = configured::commands(&partition.engine.lock(), partition.options()).map_err(failed)?;
    for command in commands {
        partition.run_own(command).await?;
    }
    partition.shared.leading.begin();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_leader_that_is_none_any_more_waits_for_none_of_its_entries() {
        let (sender, role) = watch::channel(Role::Leader { term: 1 });
        let now = *role.borrow();
        assert_eq!(while_it_lasts(role.clone(), now, async { 7 }).await, Some(7));
        let changes = async {
            tokio::task::yield_now().await;
            sender.send_replace(Role::Follower { term: 2, leader: None });
        };
        let (waited, ()) = tokio::join!(while_it_lasts(role, now, std::future::pending::<()>()), changes);
        assert_eq!(waited, None);
    }
}
