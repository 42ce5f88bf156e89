//! The other brokers, as a partition of this one reaches them.

use std::sync::Arc;

use broker_api::SubmitError;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use cluster::{Links, RequestHead, RequestKind};
use futures::FutureExt;
use futures::future::BoxFuture;
use partition::{Fate, Others};
use protocol::PartitionId;
use replication::Role;
use tokio_util::sync::CancellationToken;
use transport::{CallError, Lane};

use crate::giving_way::leader_refuses;

/// First bytes of the answer to an entry.
const APPLIED: u8 = 0;
const FULL: u8 = 1;
const OPEN: u8 = 2;
const DISK_FULL: u8 = 3;

/// The fate of an entry as it is told to another broker; an error says that it is not in the log.
pub(crate) fn told(fate: Fate) -> Result<Bytes, String> {
    match fate {
        Fate::Applied => Ok(said(APPLIED, "")),
        Fate::Full(error @ SubmitError::DiskFull(_)) => Ok(said(DISK_FULL, &error.to_string())),
        Fate::Full(error) => Ok(said(FULL, &error.to_string())),
        Fate::Open => Ok(said(OPEN, "")),
        Fate::NotAppended => Err("the entry is not in the log".to_owned()),
    }
}

fn said(kind: u8, text: &str) -> Bytes {
    let mut answer = BytesMut::with_capacity(1 + text.len());
    answer.put_u8(kind);
    answer.put(text.as_bytes());
    answer.freeze()
}

fn read(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The way to the brokers of the cluster, for one partition.
pub(crate) struct LinkedBrokers {
    pub links: Arc<Links>,
    pub partition: PartitionId,
}

impl LinkedBrokers {
    fn head(&self, kind: RequestKind) -> RequestHead {
        kind.of_partition(self.partition)
    }
}

impl Others for LinkedBrokers {
    fn cluster_size(&self) -> u32 {
        self.links.cluster_size()
    }

    fn enter(&self, leader: u64, batch: Bytes) -> BoxFuture<'_, Fate> {
        async move {
            let Some(peer) = self.links.peers.peer(leader) else { return Fate::NotAppended };
            match peer.call(Lane::Requests, self.head(RequestKind::Enter).with(&batch)).await {
                Ok(mut answer) => match (answer.try_get_u8(), answer) {
                    (Ok(APPLIED), _) => Fate::Applied,
                    (Ok(FULL), reason) => Fate::Full(SubmitError::ResourceExhausted(read(&reason))),
                    (Ok(DISK_FULL), reason) => Fate::Full(SubmitError::DiskFull(read(&reason))),
                    _ => Fate::Open,
                },
                Err(CallError::Lost(_)) => Fate::Open,
                Err(CallError::NotSent(_) | CallError::Failed(_) | CallError::TooLarge { .. }) => {
                    Fate::NotAppended
                }
            }
        }
        .boxed()
    }

    fn read_index(&self, leader: u64) -> BoxFuture<'_, Result<u64, String>> {
        async move {
            let peer = self.links.peers.peer(leader).ok_or("the leader has no address")?;
            let answer = peer.call(Lane::Requests, self.head(RequestKind::ReadIndex).alone()).await;
            answer.map_err(|error| error.to_string())?.try_get_u64().map_err(|error| error.to_string())
        }
        .boxed()
    }

    fn closing(&self) -> CancellationToken {
        self.links.closing()
    }

    fn is_about_to_hand_over(&self) -> bool {
        self.links.rooms.is_about_to_hand_over()
    }

    fn leader_refuses(&self, role: Role) -> Option<String> {
        leader_refuses(role, &self.links.rooms)
    }
}
