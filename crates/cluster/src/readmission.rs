//! The way back of a broker whose data are lost: it asks the leader for the number of another replica.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use protocol::{FIRST_PARTITION, PartitionId};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use transport::{BrokerIdentity, Lane, Parts, Peer, PeerService, Reply, serve};

use crate::bootstrap::{ASK_INTERVAL, ASK_TIMEOUT, BootstrapError, SAY_INTERVAL, begin_anew, is_given_up};
use crate::identity::Identity;
use crate::known_replicas::KnownReplicas;
use crate::links::{Replica, as_told};
use crate::options::Configured;
use crate::peer_request::RequestKind;
use crate::peers;
use crate::replica_number::ReplicaNumber;

/// Has a broker whose data were given up become another replica, once the leader has a number for it.
pub async fn readmit(own: &Configured<'_>, replica: &mut Replica) -> Result<(), BootstrapError> {
    if !is_given_up(own.data_dir)? {
        return Ok(());
    }
    let identity = Identity::next(own.data_dir, own.cluster_id, own.broker)?;
    let peers = replica.peers(&identity, own.peers);
    let stop = CancellationToken::new();
    let _ends_with_this = stop.clone().drop_guard();
    let service =
        Arc::new(WithoutReplica { known: KnownReplicas::open(own.data_dir).map_err(failed(own.data_dir))? });
    let (listener, transport) = (replica.attachment.share_listener(), replica.transport(own.peers));
    tokio::spawn(serve(listener, as_told(&identity), service, transport, Arc::default(), stop));
    let mut said: Option<Instant> = None;
    loop {
        match ask(&peers, own.partitions).await {
            Ok(number) => return begin_anew(own.data_dir, number),
            Err(reasons) if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) => {
                said = Some(Instant::now());
                tracing::warn!(
                    reasons,
                    "the data of this replica are not used any more, and the leader gives it no new number yet"
                );
            }
            Err(_) => {}
        }
        sleep(ASK_INTERVAL).await;
    }
}

/// A broker that waits for a new replica. It still remembers the others: one of them may need its word to lead.
struct WithoutReplica {
    known: KnownReplicas,
}

impl PeerService for WithoutReplica {
    fn call(&self, from: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        let answer = match RequestKind::of(&request) {
            Some(RequestKind::Present) => self.known.answer(from.broker, &request[1..], &BTreeMap::new()),
            _ => Err("this broker waits for a new replica".to_owned()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn upload(&self, _: &BrokerIdentity, _: Bytes, _: Parts) -> Reply {
        Box::pin(std::future::ready(Err("this broker waits for a new replica".to_owned())))
    }
}

/// Asks the others for a new number, the leader of the first partition among them, and has the leaders of all
/// partitions take it. An error has the reasons of all.
pub(crate) async fn ask(
    others: &BTreeMap<u64, Peer>,
    partitions: PartitionId,
) -> Result<ReplicaNumber, String> {
    let mut number = None;
    for partition in FIRST_PARTITION..=partitions {
        let wanted = number.map(u64::to_be_bytes);
        let head = RequestKind::Admit.of_partition(partition);
        let request = head.with(wanted.as_ref().map_or(&[], |wanted| &wanted[..]));
        let others = others.iter().map(|(other, peer)| (*other, peer)).collect();
        let read =
            |mut answer: Bytes| answer.try_get_u64().map_err(|_| "an answer of another form".to_owned());
        let asked = peers::ask_in_turn(others, Lane::Requests, request, ASK_TIMEOUT, read).await;
        let (_, given) = asked.map_err(|reasons| format!("partition {partition}: {reasons}"))?;
        assert!(number.is_none_or(|number| number == given), "all partitions take one number");
        number = Some(given);
    }
    Ok(ReplicaNumber::of(number.expect("there is one partition at least")))
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> BootstrapError {
    |source| BootstrapError::Io { path: path.to_owned(), source }
}
