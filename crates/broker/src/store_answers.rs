//! This broker's copy of the embedded store answers other brokers, and one that is behind looks at theirs.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use partition::Partition;
use protocol::PartitionId;
use tokio::time::{Instant, sleep};

use crate::node::Node;
use crate::shared_exports::look_elsewhere;
use crate::store_queries::LOOK;

/// How long a broker waits for its copy when another one wants to know how far it is.
const SHOWN_PATIENCE: Duration = Duration::from_secs(3);
/// How long it waits with a question: the copy was far enough a moment ago, or another one was.
const QUERY_PATIENCE: Duration = Duration::from_millis(500);
/// Time after which other brokers are asked when the copy of this one lags behind: a usual write takes less.
const OWN_PATIENCE: Duration = Duration::from_millis(250);

/// Finds out how far another broker's copy is if this one's does not show a position soon. Returns at once.
pub(crate) fn look_for(node: &Node, partition: &Partition, position: u64) {
    let Some((queries, cluster)) = node.options().store.as_ref().zip(node.cluster.as_ref()) else { return };
    let number = partition.number();
    if queries.shows(number, position) {
        return;
    }
    let (queries, shown) = (Arc::clone(queries), Arc::clone(&queries.shown));
    let ask = move |position| {
        let (queries, shown) = (Arc::clone(&queries), Arc::clone(&shown));
        async move {
            if queries.own.is_some() {
                let deadline = Instant::now() + OWN_PATIENCE;
                while Instant::now() < deadline && !queries.shows(number, position) {
                    sleep(LOOK).await;
                }
                if queries.shows(number, position) {
                    return Ok(position);
                }
            }
            let position = queries.ask_shown(number, position).await?;
            shown(number, position);
            Ok(position)
        }
    };
    look_elsewhere(node, number, cluster, position, ask);
}

/// Tells another broker up to which position of a partition the copy of this one shows records: the one that is looked
/// for, if that is soon.
pub(crate) async fn tell_shown(
    node: &Node,
    partition: &Partition,
    mut request: Bytes,
) -> Result<Bytes, String> {
    let position = request.try_get_u64().map_err(|error| error.to_string())?;
    let queries = node.options().store.as_ref().ok_or("it has no copy of the store")?;
    let shown = queries.until_shown(partition, position, SHOWN_PATIENCE).await?;
    let lag = match partition.exports().and_then(|exports| exports.hasten(queries.exporter)) {
        Some(hastened) if shown < position => hastened.lag,
        _ => Duration::ZERO,
    };
    let mut answer = BytesMut::with_capacity(16);
    answer.put_u64(shown);
    answer.put_u64(u64::try_from(lag.as_millis()).unwrap_or(u64::MAX));
    Ok(answer.freeze())
}

/// Answers a question of another broker from the copy of this one, if that shows everything up to its positions: those
/// of as many partitions as it gives.
pub(crate) async fn answer_question(
    node: &Node,
    given: PartitionId,
    mut request: Bytes,
) -> Result<Bytes, String> {
    let queries = node.options().store.as_ref().ok_or("it has no copy of the store")?;
    if usize::from(given) > node.all().len() {
        return Err(format!("it has {} partitions, not {given}", node.all().len()));
    }
    for partition in &node.all()[..usize::from(given)] {
        let position = request.try_get_u64().map_err(|error| error.to_string())?;
        let shown = queries.until_shown(partition, position, QUERY_PATIENCE).await?;
        if shown < position {
            let number = partition.number();
            return Err(format!(
                "its copy of the store goes up to {shown} of partition {number}, not {position}"
            ));
        }
    }
    let own = queries.own.as_ref().ok_or("it has no copy of the store")?;
    (own.answer)(request).await.map(Bytes::from)
}
