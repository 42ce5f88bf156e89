//! Requests of other brokers to this one.

use std::sync::{Arc, Weak};

use bytes::{Buf, Bytes};
use cluster::{Handler, ReplicaNumber, RequestKind, WITHOUT_ROOM};
use partition::{Class, Fate, Partition, is_of};
use protocol::{Batch, PartitionId};
use replication::{ProposeError, Role};

use crate::admission::admit;
use crate::cluster_pause::obey;
use crate::cluster_status::status;
use crate::node::Node;
use crate::others::told;
use crate::shared_exports::tell_shown;
use crate::shared_parking::replay_for;
use crate::store_copies::give;
use crate::{cluster_exporting, comparison, presenting, shared_exports, store_answers};

/// A handler that works at the broker, as long as that is there.
fn at_node<F>(
    node: &Arc<Node>,
    work: impl Fn(Arc<Node>, u32, PartitionId, Bytes) -> F + Send + Sync + 'static,
) -> Handler
where
    F: Future<Output = Result<Bytes, String>> + Send + 'static,
{
    let node: Weak<Node> = Arc::downgrade(node);
    Box::new(move |from, number, rest| match node.upgrade() {
        Some(node) => Box::pin(work(node, from, number, rest)),
        None => Box::pin(std::future::ready(Err("the broker stops".to_owned()))),
    })
}

/// The partition that a request is about.
fn asked_of(node: &Node, number: PartitionId) -> Result<Arc<Partition>, String> {
    let found = node.all().iter().find(|partition| partition.number() == number);
    found.cloned().ok_or_else(|| format!("this broker has no replica of partition {number}"))
}

/// Registers the handlers of requests that other brokers send.
pub(crate) fn attend(node: &Arc<Node>) {
    use RequestKind as Kind;
    let Some(cluster) = &node.cluster else { return };
    let handlers = cluster.links.handlers();
    macro_rules! of_brokers {
        ($($kind:ident: |$node:ident, $from:pat_param, $rest:pat_param| $work:expr;)*) => {
            $(handlers.register(
                Kind::$kind,
                at_node(node, move |$node, $from, _, $rest| async move { $work }),
            );)*
        };
    }
    macro_rules! of_partitions {
        ($($kind:ident: |$node:ident, $partition:ident, $from:pat_param, $rest:pat_param| $work:expr;)*) => {
            $(handlers.register(
                Kind::$kind,
                at_node(node, move |$node, $from, number, $rest| async move {
                    let $partition = &asked_of(&$node, number)?;
                    $work
                }),
            );)*
        };
    }
    of_brokers! {
        Status: |node, _, _| status(&node);
        ExportOrder: |node, _, rest| cluster_exporting::obey(&node, &rest).await;
        Pause: |node, _, rest| obey(&node, &rest).await;
        Present: |node, from, rest| presenting::answer(&node, from, rest).await;
        StoreCopy: |node, from, rest| give(&node, from, rest).await;
    }
    handlers.register(
        Kind::StoreQuery,
        at_node(node, move |node, _, given, rest| async move {
            store_answers::answer_question(&node, given, rest).await
        }),
    );
    of_partitions! {
        Enter: |node, partition, from, batch| enter(partition, from, &batch).await;
        ReadIndex: |node, partition, _, _| read_index(partition).await;
        StandForElection: |node, partition, from, rest| stand_for_election(&node, partition, from, &rest).await;
        HandOver: |node, partition, _, rest| hand_over(&node, partition, rest).await;
        Admit: |node, partition, from, rest| admit(&node, partition, from, rest).await;
        Records: |node, partition, _, rest| shared_exports::give(partition, rest).await;
        Shown: |node, partition, _, rest| tell_shown(partition, rest).await;
        ReplayParked: |node, partition, _, rest| replay_for(partition, rest).await;
        StoreShown: |node, partition, _, rest| store_answers::tell_shown(&node, partition, rest).await;
        Compare: |node, partition, _, _| comparison::compare(&node, partition).await;
        HashWanted: |node, partition, _, rest| comparison::want_hash(partition, rest);
        Hash: |node, partition, _, rest| comparison::tell_hash(partition, rest).await;
        HashDiffers: |node, partition, _, rest| comparison::hear_doubt(&node, partition, rest);
        Digest: |node, partition, _, rest| comparison::tell_digest(partition, rest).await;
    }
}

/// Appends an entry of another broker. An error says that it is not in the log.
async fn enter(partition: &Partition, from: u32, batch: &[u8]) -> Result<Bytes, String> {
    let batch = Batch::decode(batch).map_err(|error| error.to_string())?;
    // Its answers go to the broker that the number names.
    if batch.origin.is_none_or(|origin| !is_of(origin.number, from)) {
        return Err(format!("the entry is none of broker {from}"));
    }
    if !partition.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let classes = batch.commands.iter().map(Class::of);
    let is_new = classes.into_iter().any(|class| class == Class::New);
    if let Err(error) = partition.check(if is_new { Class::New } else { Class::Begun }) {
        return told(Fate::Full(error));
    }
    match partition.append(batch).await {
        Ok(()) => told(Fate::Applied),
        Err(error @ (ProposeError::NotLeader { .. } | ProposeError::TooLarge { .. })) => {
            Err(error.to_string())
        }
        Err(_) => told(Fate::Open),
    }
}

async fn read_index(partition: &Partition) -> Result<Bytes, String> {
    let index = partition.group().read_index().await.map_err(|error| error.to_string())?;
    Ok(Bytes::copy_from_slice(&index.to_be_bytes()))
}

/// Asks for the votes of all, as the leader wants it, unless this broker's clock is ahead, or its disk has no room.
async fn stand_for_election(
    node: &Node,
    partition: &Partition,
    from: u32,
    request: &[u8],
) -> Result<Bytes, String> {
    if let Role::Follower { leader: Some(leader), .. } = *partition.group().role().borrow()
        && ReplicaNumber::of(leader).broker != from
    {
        return Err(format!("broker {from} does not lead"));
    }
    if node.is_leaving() {
        return Err("this broker is stopping".to_owned());
    }
    if let Some(reason) = node.no_room().filter(|_| request != [WITHOUT_ROOM]) {
        return Err(reason);
    }
    let clock = node.cluster.as_ref().map(|cluster| &cluster.links.clock);
    if let Some(clock) = clock.filter(|clock| clock.is_ahead()) {
        return Err(format!("the clock of this broker is {} ms ahead of the others'", clock.ahead_ms()));
    }
    let stood = partition.group().stand_for_election().await;
    stood.map(|()| Bytes::new()).map_err(|error| error.to_string())
}

/// Hands the leadership over if this broker leads: it does not ask another, which might ask it again.
async fn hand_over(node: &Node, partition: &Partition, mut request: Bytes) -> Result<Bytes, String> {
    let to = match request.len() {
        0 => None,
        _ => Some(request.try_get_u32().map_err(|error| error.to_string())?),
    };
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    let leader = node.hand_over_here(cluster, partition, to.into()).await?;
    Ok(Bytes::copy_from_slice(&leader.to_be_bytes()))
}
