//! The way of an entry into the log of a cluster, and of a read to the last acknowledged state.
//!
//! An entry goes to the group where this broker leads, else to the broker that does. As long as it is surely in no
//! log it is sent again, to whoever leads then. When it was applied here, its waiters have their answers.

use std::sync::Arc;
use std::time::Duration;

use broker_api::SubmitError;
use bytes::Bytes;
use planted::Bug;
use protocol::{Batch, BatchOrigin};
use replication::{Group, Payload, ProposeError, Role};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::entered::Proposed;
use crate::others::{Fate, Others};
use crate::partition_state::PartitionState;

/// Time-out of an entry that waits for a leader or its fate.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Back-off before an entry is sent again, unless the leader changes earlier.
const RETRY_PAUSE: Duration = Duration::from_millis(20);
/// Time without contact to a majority after which a leader counts as unable to commit: heartbeats are much more
/// frequent.
const SILENCE_MAX: Duration = Duration::from_secs(1);
/// Time without contact to the leader after which a follower counts as unable to serve, also where it stands for no
/// election.
const LEADER_SILENCE_MAX: Duration = Duration::from_secs(2);
/// Reads that wait for the next round.
const READ_QUEUE: usize = 4096;

/// The reason why an entry got no answer.
pub(crate) enum RouteError {
    /// The group of this broker refused the entry.
    Refused(ProposeError),
    /// The group of this broker took the entry and gave no answer. It may be in the log.
    Lost(ProposeError),
    /// The leader has no room.
    Full(SubmitError),
    /// No leader took the entry: it is in no log.
    NoLeader,
    /// The outcome is unknown: the entry may be in the log.
    Open,
}

/// The way to the leader.
pub struct Router {
    pub group: Group,
    pub others: Arc<dyn Others>,
    shared: Arc<PartitionState>,
    reads: mpsc::Sender<ReadWaiter>,
}

type ReadWaiter = oneshot::Sender<Result<u64, String>>;

impl Router {
    /// The way of the entries of a group.
    pub fn new(
        group: &Group,
        others: Arc<dyn Others>,
        shared: &Arc<PartitionState>,
        stop: &CancellationToken,
    ) -> Arc<Self> {
        let (reads, waiting) = mpsc::channel(READ_QUEUE);
        let router = Arc::new(Self { group: group.clone(), others, shared: Arc::clone(shared), reads });
        tokio::spawn(read_rounds(Arc::downgrade(&router), waiting, stop.clone()));
        router
    }

    /// The sender of a new entry.
    pub fn origin(&self) -> BatchOrigin {
        let (number, term) = (self.shared.entered.next(), term(*self.group.role().borrow()));
        BatchOrigin { number, term }
    }

    /// Brings an entry into the log; resolves when it is applied here, or cannot be.
    /// `found_by`: until when a leader must be found for it, if that is earlier than usual.
    pub async fn enter(
        &self,
        proposed: Arc<Proposed>,
        found_by: Option<std::time::Instant>,
    ) -> Result<(), RouteError> {
        let number = proposed.batch.origin.expect("entries of a cluster have an origin").number;
        let mut applied = self.shared.entered.add(number, Arc::clone(&proposed));
        let deadline = Instant::now() + PATIENCE;
        let found_by = found_by.map_or(deadline, |found_by| deadline.min(found_by.into()));
        let error = tokio::select! {
            biased;
            // Without an answer, the state machine has failed on it; another broker applies it.
            applied = &mut applied => return applied.map(drop).map_err(|_| RouteError::Open),
            error = self.send(&proposed, deadline, found_by) => error,
        };
        self.shared.entered.forget(number);
        // Unless it was applied in the same moment.
        if applied.try_recv().is_ok() { Ok(()) } else { Err(error) }
    }

    /// Sends an entry, to one leader after the other, until it cannot be sent again. It may be applied at any time.
    async fn send(&self, proposed: &Arc<Proposed>, deadline: Instant, found_by: Instant) -> RouteError {
        let mut role = self.group.role();
        let mut skips = self.shared.entered.skips();
        let mut is_sent = false;
        let closing = self.others.closing();
        loop {
            let now = *role.borrow_and_update();
            is_sent |= now.has_leader();
            let sent = tokio::select! {
                biased;
                _ = skips.changed(), if is_sent => return RouteError::Open,
                sent = self.send_once(now, proposed) => sent,
                // It came too late, if at all.
                () = self.shared.entered.later_term(term(now)) => Ok(Fate::NotAppended),
                () = sleep_until(deadline) => Ok(Fate::Open),
                () = closing.cancelled() => return stopping(now.has_leader()),
            };
            match sent {
                Err(error @ ProposeError::TooLarge { .. }) => return RouteError::Refused(error),
                Err(error) => return RouteError::Lost(error),
                Ok(Fate::Full(reason)) => return RouteError::Full(reason),
                Ok(Fate::Open) if planted::has(Bug::SentAgain) => {}
                Ok(Fate::Applied | Fate::Open) => tokio::select! {
                    biased;
                    _ = skips.changed() => return RouteError::Open,
                    () = self.shared.entered.later_term(term(now)) => continue,
                    () = sleep_until(deadline) => return RouteError::Open,
                    () = closing.cancelled() => return stopping(true),
                },
                Ok(Fate::NotAppended) => {}
            }
            tokio::select! {
                changed = role.changed() => if changed.is_err() { return RouteError::NoLeader },
                () = sleep(RETRY_PAUSE) => {}
                () = sleep_until(found_by) => return RouteError::NoLeader,
                () = closing.cancelled() => return stopping(false),
            }
        }
    }

    async fn send_once(&self, role: Role, proposed: &Arc<Proposed>) -> Result<Fate, ProposeError> {
        let term = term(role);
        let is_first = proposed.batch.origin.is_some_and(|origin| origin.term == term);
        let bytes = || {
            if is_first {
                return Bytes::from(proposed.batch.encode());
            }
            let origin = proposed.batch.origin.map(|origin| BatchOrigin { term, ..origin });
            Bytes::from(Batch { origin, ..proposed.batch.clone() }.encode())
        };
        match role {
            Role::Leader { .. } => {
                let number = proposed.batch.origin.filter(|_| is_first).map(|origin| origin.number);
                match self.group.propose(Payload { bytes: bytes(), number }).await {
                    Ok(_) => Ok(Fate::Applied),
                    Err(ProposeError::NotLeader { .. }) => Ok(Fate::NotAppended),
                    Err(ProposeError::Superseded) => Ok(Fate::Open),
                    Err(error) => Err(error),
                }
            }
            Role::Follower { leader: Some(leader), .. } => Ok(self.others.enter(leader, bytes()).await),
            Role::Follower { leader: None, .. } | Role::Unavailable => Ok(Fate::NotAppended),
        }
    }

    /// Resolves when everything that was acknowledged before this call is applied here.
    pub async fn catch_up(&self) -> Result<(), SubmitError> {
        if planted::has(Bug::StaleRead) {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        let full = |_| {
            SubmitError::ResourceExhausted(format!(
                "Expected to answer the query, but {READ_QUEUE} others are waiting already"
            ))
        };
        self.reads.try_send(reply).map_err(full)?;
        let unavailable = |reason: String| {
            SubmitError::Unavailable(format!(
                "Expected to answer the query on partition {}, but {reason}",
                self.shared.number
            ))
        };
        let deadline = Instant::now() + PATIENCE;
        let index = timeout_at(deadline, answer).await.map_err(|_| {
            let reason = check_leader(&self.group, &*self.others).err();
            unavailable(reason.unwrap_or_else(|| "its leader does not answer".to_owned()))
        })?;
        let index = index.map_err(|_| unavailable("the broker is stopping".to_owned()))?;
        let applied = self.group.wait_applied(index.map_err(unavailable)?);
        let late = |_| unavailable("this broker does not keep up with the leader".to_owned());
        let applied = timeout_at(deadline, applied).await.map_err(late)?;
        applied.map_err(|error| unavailable(error.to_string()))
    }

    /// One round to the leader, tried again until there is one.
    async fn read_index(&self) -> Result<u64, String> {
        let deadline = Instant::now() + PATIENCE;
        let mut role = self.group.role();
        loop {
            let now = *role.borrow_and_update();
            let asked = async {
                match now {
                    Role::Leader { .. } => self.group.read_index().await.map_err(|error| error.to_string()),
                    Role::Follower { leader: Some(leader), .. } => self.others.read_index(leader).await,
                    Role::Follower { leader: None, .. } => Err("it has no leader".to_owned()),
                    Role::Unavailable => Err("its log cannot be written".to_owned()),
                }
            };
            let error = match timeout_at(deadline, asked).await {
                Ok(Ok(index)) => return Ok(index),
                Ok(Err(error)) => error,
                Err(_) => "its leader does not answer".to_owned(),
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            tokio::select! {
                changed = role.changed() => if changed.is_err() { return Err(error) },
                () = sleep(RETRY_PAUSE) => {}
            }
        }
    }
}

/// This broker stops while an entry has no answer. `is_sent`: some leader may have it.
fn stopping(is_sent: bool) -> RouteError {
    let error = ProposeError::ShuttingDown;
    if is_sent { RouteError::Lost(error) } else { RouteError::Refused(error) }
}

/// Rounds to the leader, one after the other: each is for all reads that waited when it began.
async fn read_rounds(
    router: std::sync::Weak<Router>,
    mut waiting: mpsc::Receiver<ReadWaiter>,
    stop: CancellationToken,
) {
    let mut readers = Vec::new();
    loop {
        tokio::select! {
            count = waiting.recv_many(&mut readers, READ_QUEUE) => if count == 0 { return },
            () = stop.cancelled() => return,
        }
        let Some(router) = router.upgrade() else { return };
        let index = tokio::select! {
            index = router.read_index() => index,
            () = stop.cancelled() => return,
        };
        for reader in readers.drain(..) {
            // A sender that has gone away needs no answer.
            let _ = reader.send(index.clone());
        }
    }
}

/// The term of the leader that a role names.
pub fn term(role: Role) -> u64 {
    match role {
        Role::Leader { term } | Role::Follower { term, .. } => term,
        Role::Unavailable => 0,
    }
}

/// Whether the group has a leader that can commit entries.
pub fn check_leader(group: &Group, others: &dyn Others) -> Result<(), String> {
    let role = *group.role().borrow();
    match role {
        Role::Leader { .. } if group.quorum_silence() > SILENCE_MAX => Err(format!(
            "this broker leads partition {}, but a majority of {} brokers does not answer",
            group.id(),
            others.cluster_size()
        )),
        Role::Leader { .. } => Ok(()),
        Role::Follower { leader: Some(_), .. }
            if group.leader_silence().is_some_and(|silence| silence <= LEADER_SILENCE_MAX) =>
        {
            Ok(())
        }
        Role::Follower { .. } => Err(format!(
            "partition {} has no leader: a majority of {} brokers must be reachable",
            group.id(),
            others.cluster_size()
        )),
        Role::Unavailable => Err(format!("the log of partition {} cannot be written", group.id())),
    }
}
