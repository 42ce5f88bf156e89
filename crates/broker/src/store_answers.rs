//! This broker's copy of the embedded store answers other brokers, and one that is behind looks at theirs.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use cluster::RequestKind;
use tokio::time::{Instant, sleep};

use crate::node::Node;
use crate::shared_exports::look_elsewhere;
use crate::store_queries::{LOOK, StoreQueries};

/// How long a broker waits for its copy when another one wants to know how far it is.
const SHOWN_PATIENCE: Duration = Duration::from_secs(3);
/// How long it waits with a question: the copy was far enough a moment ago, or another one was.
const QUERY_PATIENCE: Duration = Duration::from_millis(500);
/// Time after which other brokers are asked when the copy of this one lags behind: a usual write takes less.
const OWN_PATIENCE: Duration = Duration::from_millis(250);

/// Finds out how far another broker's copy is if this one's does not show a position soon. Returns at once.
pub(crate) fn look_for(node: &Node, position: u64) {
    let Some((queries, cluster)) = node.options().store.as_ref().zip(node.cluster.as_ref()) else { return };
    if queries.is_here(position) {
        return;
    }
    let (queries, shown) = (Arc::clone(queries), Arc::clone(&queries.shown));
    let number = node.first().number();
    let ask = move |position| {
        let (queries, shown) = (Arc::clone(&queries), Arc::clone(&shown));
        async move {
            if queries.own.is_some() {
                let deadline = Instant::now() + OWN_PATIENCE;
                while Instant::now() < deadline && !queries.is_here(position) {
                    sleep(LOOK).await;
                }
                if queries.is_here(position) {
                    return Ok(position);
                }
            }
            let position = queries.ask_shown(position).await?;
            shown(number, position);
            Ok(position)
        }
    };
    look_elsewhere(node, cluster, position, ask);
}

/// Answers another broker.
pub(crate) async fn answer(node: &Node, kind: RequestKind, mut request: Bytes) -> Result<Bytes, String> {
    let position = request.try_get_u64().map_err(|error| error.to_string())?;
    let queries = node.options().store.clone().ok_or("it has no copy of the store")?;
    match kind {
        RequestKind::StoreShown => tell_shown(node, &queries, position).await,
        RequestKind::StoreQuery => answer_question(node, &queries, position, request).await,
        _ => unreachable!("a request of kind {kind:?} is none to the store"),
    }
}

/// Tells up to which position the copy of this broker shows records: the one that is looked for, if that is soon.
async fn tell_shown(node: &Node, queries: &StoreQueries, position: u64) -> Result<Bytes, String> {
    let shown = queries.until_shown(node.first(), position, SHOWN_PATIENCE).await?;
    let lag = match node.exports().and_then(|exports| exports.hasten(queries.exporter)) {
        Some(hastened) if shown < position => hastened.lag,
        _ => Duration::ZERO,
    };
    let mut answer = BytesMut::with_capacity(16);
    answer.put_u64(shown);
    answer.put_u64(u64::try_from(lag.as_millis()).unwrap_or(u64::MAX));
    Ok(answer.freeze())
}

/// Answers a question from the copy of this broker, if that shows everything up to a position.
async fn answer_question(
    node: &Node,
    queries: &StoreQueries,
    position: u64,
    question: Bytes,
) -> Result<Bytes, String> {
    let shown = queries.until_shown(node.first(), position, QUERY_PATIENCE).await?;
    if shown < position {
        return Err(format!("its copy of the store goes up to {shown}, not {position}"));
    }
    let own = queries.own.as_ref().ok_or("it has no copy of the store")?;
    (own.answer)(question).await.map(Bytes::from)
}
