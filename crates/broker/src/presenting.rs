//! The time before a replica takes part in its cluster: it presents itself to the others, each of which compares it
//! with what it remembers (`known_replicas.rs`). Until then it has no vote and answers nobody.
//!
//! A majority must have answered, this replica included: without one, nothing is acknowledged in any case. All are
//! asked at the same time, so that a leader that is there is heard. One that was away then is not asked later: by then
//! this replica has acknowledged something else, and its answer would tell nothing.
//!
//! The one that is away may be the only one that knows what this replica has acknowledged to it. When a broker fails
//! and another restarts, that must be borne. A log in another directory than before is something else: it was copied,
//! and waits until all have answered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use planted::Bug;
use protocol::PartitionId;
use replication::Group;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use cluster::RequestKind;
use cluster::{ASK_INTERVAL, SAY_INTERVAL, give_up_or_say};
use cluster::{Presented, Verdict};
use data_directory::log_directory;

/// Time-out of another broker's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// The answer of a broker of an earlier release, which remembers nothing.
const UNKNOWN_REQUEST: &str = "a request of another kind";

/// The answers of one round.
#[derive(Debug, Default)]
struct Round {
    vouched: usize,
    went_back: Option<String>,
    /// Brokers that have not answered, and why.
    away: Vec<(u32, String)>,
}

impl Round {
    fn of(answers: Vec<(u32, Result<Bytes, String>)>) -> Self {
        let mut round = Self::default();
        for (broker, answer) in answers {
            match answer.and_then(|answer| Verdict::of(&answer)) {
                Ok(Verdict::Vouched) => round.vouched += 1,
                Ok(Verdict::WentBack(reason)) => {
                    round.went_back.get_or_insert(format!("broker {broker} says that {reason}"));
                }
                Err(reason) if reason.contains(UNKNOWN_REQUEST) => round.vouched += 1,
                Err(reason) => round.away.push((broker, reason)),
            }
        }
        round
    }

    /// Whether those that vouch for this replica are enough: with it a majority of the brokers, or all for a copy.
    fn is_enough(&self, brokers: u32, is_copied: bool) -> bool {
        self.vouched + 1 > brokers as usize / 2 && (!is_copied || self.away.is_empty())
    }
}

impl ClusterState {
    /// Whether the log is in another directory than before. One that cannot be looked at may be.
    fn is_copied(&self) -> bool {
        let log = log_directory(&self.links.data_dir);
        self.links.identity.is_copied(&log).unwrap_or(true)
    }

    /// Notes where the log is that others have vouched for.
    fn note_vouched(&self) {
        let data_dir = &self.links.data_dir;
        if let Err(error) = self.links.identity.vouched(data_dir, &log_directory(data_dir)) {
            tracing::warn!(%error, "the directory of the log cannot be noted: the next start may wait for all brokers");
        }
    }
}

/// Answers a broker that presents its replica.
pub(crate) async fn answer(node: &Node, broker: u32, presented: Bytes) -> Result<Bytes, String> {
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    let heard = cluster.heard_here(node);
    let known = Arc::clone(&cluster.links.known);
    let answered = tokio::task::spawn_blocking(move || known.answer(broker, &presented, &heard)).await;
    answered.map_err(|error| error.to_string())?
}

/// Presents this replica until a majority has vouched for it, and lets it take part then; or notes that it went back in
/// time, which ends this life of the broker.
pub(crate) async fn present(
    cluster: Arc<ClusterState>,
    groups: BTreeMap<PartitionId, Group>,
    stop: CancellationToken,
) {
    let (request, is_copied) = (request(&cluster, &groups), cluster.is_copied());
    stop.run_until_cancelled(ask_until_vouched(&cluster, &groups, &request, is_copied)).await;
}

fn request(cluster: &ClusterState, groups: &BTreeMap<PartitionId, Group>) -> Bytes {
    let ends = groups.iter().map(|(partition, group)| (*partition, group.position())).collect();
    let presented = Presented::new(&cluster.links.identity, cluster.replica, ends);
    RequestKind::Present.with(&serde_json::to_vec(&presented).expect("numbers are JSON"))
}

/// Asks until the quarantine can end, or never does.
async fn ask_until_vouched(
    cluster: &ClusterState,
    groups: &BTreeMap<PartitionId, Group>,
    request: &Bytes,
    is_copied: bool,
) {
    let end_quarantine = || groups.values().for_each(Group::end_quarantine);
    let mut said: Option<Instant> = None;
    loop {
        if planted::has(Bug::OldCopyTakesPart) {
            end_quarantine();
        }
        let links = &cluster.links;
        let round = Round::of(links.ask_all(request, ANSWER_TIMEOUT).await);
        if let Some(reason) = round.went_back.clone().filter(|_| !planted::has(Bug::OldCopyTakesPart)) {
            tracing::error!(
                reason,
                "this replica went back in time: its data directory is an old copy. It takes no part; the files are \
                 set aside, and the others bring up a new replica"
            );
            // Before anything else of this life: the next one must not ask others, who may know less.
            give_up_or_say(&links.data_dir);
            links.went_back(reason);
            return;
        }
        if round.is_enough(links.cluster_size(), is_copied) {
            cluster.note_vouched();
            end_quarantine();
            return;
        }
        if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) {
            said = Some(Instant::now());
            tracing::info!(
                away = ?round.away,
                is_copied,
                "this replica takes part when a majority of the brokers has told that it has all that it acknowledged, or \
                 all of them if its log is in another directory than before"
            );
        }
        sleep(ASK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(answers: &[(u32, Result<&'static [u8], &str>)]) -> Round {
        let answers = answers
            .iter()
            .map(|(broker, answer)| (*broker, answer.map(Bytes::from_static).map_err(str::to_owned)));
        Round::of(answers.collect())
    }

    #[test]
    fn a_majority_vouches_and_one_voice_is_enough_against_it() {
        let vouched: Result<&'static [u8], &str> = Ok(&[0]);
        let away = Err("no answer");
        assert!(!round(&[(1, away), (2, away)]).is_enough(3, false));
        assert!(round(&[(1, away), (2, vouched)]).is_enough(3, false));
        assert!(!round(&[(1, away), (2, vouched)]).is_enough(3, true));
        assert!(round(&[(1, vouched), (2, vouched)]).is_enough(3, true));
        assert!(!round(&[(1, away), (2, vouched), (3, away), (4, away)]).is_enough(5, false));
        assert!(!round(&[(1, away)]).is_enough(2, false));
        let split = round(&[(1, vouched), (2, Ok(b"\x01it has less"))]);
        assert_eq!(split.went_back.as_deref(), Some("broker 2 says that it has less"));
        let earlier = round(&[(1, Err("the other side: a request of another kind")), (2, Ok(b"?"))]);
        assert!(earlier.is_enough(3, false));
        assert_eq!(earlier.away, [(2, "an answer of another form".to_owned())]);
    }
}
