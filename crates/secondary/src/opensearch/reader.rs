//! Reading.

use std::sync::Arc;

use ::opensearch::{Answer, Client, ClientError, Method, OptionsError, StatusCode};
use futures::future::BoxFuture;
use protocol::PartitionId;
use search::model::{ColumnId, Entity};
use search::{Found, Reader, Row, Search, Statistics, StoreError};
use serde_json::{Map, Value as Json, json};
use tokio::sync::Semaphore;

use super::answer::{expect, unanswered};
use super::options::OpensearchOptions;
use super::schema::DELETED;

/// Queries at once; more wait.
const QUERIES_MAX: usize = 64;
/// Groups in one answer.
const BUCKETS_PAGE: usize = 10_000;
/// Error types of queries that would take too long.
const TOO_SLOW: [&str; 5] = [
    "search_timeout_exception",
    "Time exceeded",
    "task_cancelled_exception",
    "too_complex_to_determinize_exception",
    "too_many_buckets_exception",
];

/// Error types of queries with too many conditions, whatever the status is.
const TOO_COMPLEX: [&str; 3] = ["too_many_clauses", "too_many_nested_clauses", "maxClauseCount"];
/// The error for indices that are missing or changed.
const MISSING: [&str; 3] = ["No mapping found", "index_not_found_exception", "Fielddata is disabled"];

/// Answers queries.
pub struct OpensearchReader(Arc<ReaderState>);

struct ReaderState {
    options: OpensearchOptions,
    client: Client,
    permits: Semaphore,
}

impl OpensearchReader {
    /// A reader; nothing is connected yet.
    pub fn new(options: OpensearchOptions) -> Result<Self, OptionsError> {
        let client =
            ::opensearch::Options { request_timeout: options.query_timeout, ..options.client.clone() };
        let client = Client::new(&client)?;
        Ok(Self(Arc::new(ReaderState { options, client, permits: Semaphore::new(QUERIES_MAX) })))
    }

    /// Ends a query when its time is over.
    async fn in_time<T>(
        &self,
        query: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let with_permit = async {
            let permit = self.0.permits.acquire().await;
            let _permit = permit.map_err(|error| StoreError::Unavailable(error.to_string()))?;
            query.await
        };
        tokio::time::timeout(self.0.options.query_timeout, with_permit)
            .await
            .unwrap_or_else(|_| Err(StoreError::too_slow()))
    }

    fn asker(&self) -> Asker<'_> {
        Asker { client: &self.0.client, options: &self.0.options }
    }
}

impl Reader for OpensearchReader {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        Box::pin(self.in_time(async move { self.asker().search(&search).await }))
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(self.in_time(async move { self.asker().statistics(&statistics).await }))
    }

    /// It counts quickly, and adding twice what a repeated request adds could not be told.
    fn has_counts(&self) -> bool {
        false
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.in_time(async move {
            let path = format!("/{}/_doc/{partition}", self.0.options.progress());
            let answer = self.0.client.json(Method::GET, &path, None).await.map_err(unanswered)?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(0);
            }
            Ok(expect(&answer)?["_source"]["position"].as_u64().unwrap_or(0))
        }))
    }
}

/// Asks what it takes to answer one query.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    client: &'a Client,
    options: &'a OpensearchOptions,
}

impl<'a> Asker<'a> {
    /// Sends a query to the index of an entity.
    pub async fn ask(&self, entity: &Entity, mut body: Json) -> Result<Json, StoreError> {
        let there = json!({ "bool": { "must_not": [{ "exists": { "field": DELETED } }] } });
        body["query"] = json!({ "bool": { "filter": [body["query"].take(), there] } });
        body["timeout"] = format!("{}ms", self.options.query_timeout.as_millis().max(1)).into();
        let path = format!("/{}/_search?allow_partial_search_results=false", self.options.alias(entity));
        let answer = self.client.json(Method::POST, &path, Some(&body)).await;
        let answer = answer.map_err(|error| match error {
            ClientError::Timeout(_) => StoreError::too_slow(),
            error @ ClientError::TooLarge(_) => StoreError::Query(error.to_string()),
            error => unanswered(error),
        })?;
        if !answer.status.is_success() {
            return Err(refused(&answer));
        }
        let body = answer.json().map_err(unanswered)?;
        if body.pointer("/timed_out") == Some(&Json::Bool(true)) {
            Err(StoreError::too_slow())
        } else {
            Ok(body)
        }
    }

    /// Groups of what a query finds, page by page, in ascending order, nothing last. Columns are named by their number;
    /// each says whether rows count that do not have it.
    pub fn buckets(
        &self,
        entity: &'static Entity,
        query: &Json,
        columns: &[(ColumnId, bool)],
        aggregations: &Json,
        page: Option<usize>,
    ) -> Buckets<'a> {
        let sources: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(at, (column, may_miss))| {
                let mut terms = json!({ "field": entity.columns[*column as usize].name });
                if *may_miss {
                    terms["missing_bucket"] = true.into();
                    terms["missing_order"] = "last".into();
                }
                json!({ at.to_string(): { "terms": terms } })
            })
            .collect();
        let page = page.unwrap_or(BUCKETS_PAGE);
        let mut groups = Map::new();
        groups.insert("composite".to_owned(), json!({ "size": page, "sources": sources }));
        groups.insert("aggs".to_owned(), aggregations.clone());
        let body = json!({
            "size": 0,
            "track_total_hits": false,
            "query": query,
            "aggs": { "groups": groups },
        });
        Buckets { asker: *self, entity, body: Some(body) }
    }
}

/// The error of an unusable answer for readers.
fn refused(answer: &Answer) -> StoreError {
    let text = String::from_utf8_lossy(&answer.body);
    let says = |names: &[&str]| names.iter().any(|name| text.contains(name));
    match answer.status.as_u16() {
        _ if says(&TOO_SLOW) => StoreError::too_slow(),
        // Its memory or its queues are full, of this query or of others.
        429 => {
            StoreError::TooSlow("Expected secondary storage to take the search, but it is busy".to_owned())
        }
        _ if says(&TOO_COMPLEX) => StoreError::Query(answer.reason()),
        400 | 413 if !says(&MISSING) => StoreError::Query(answer.reason()),
        _ => StoreError::Unavailable(answer.reason()),
    }
}

/// Groups, page by page.
pub(super) struct Buckets<'a> {
    asker: Asker<'a>,
    entity: &'static Entity,
    /// The next request; none at the end.
    body: Option<Json>,
}

impl Buckets<'_> {
    /// The next page; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Json>>, StoreError> {
        let Some(mut body) = self.body.take() else { return Ok(None) };
        let mut found = self.asker.ask(self.entity, body.clone()).await?;
        let groups = &mut found["aggregations"]["groups"];
        let after = groups["after_key"].take();
        let Json::Array(buckets) = groups["buckets"].take() else { return Ok(None) };
        if !after.is_null() && !buckets.is_empty() {
            body["aggs"]["groups"]["composite"]["after"] = after;
            self.body = Some(body);
        }
        Ok(Some(buckets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, kind: &str) -> StoreError {
        let body = json!({ "error": { "type": kind, "reason": "r" }, "status": status }).to_string();
        refused(&Answer { status: StatusCode::from_u16(status).expect("a status"), body: body.into() })
    }

    #[test]
    fn only_the_store_itself_is_away() {
        for (status, kind) in [
            (400, "parsing_exception"),
            (400, "illegal_argument_exception"),
            (413, "content_too_long"),
            (500, "too_many_nested_clauses"),
        ] {
            assert!(matches!(told(status, kind), StoreError::Query(_)), "{status} {kind}");
        }
        for (status, kind) in [(429, "circuit_breaking_exception"), (500, "search_timeout_exception")] {
            assert!(matches!(told(status, kind), StoreError::TooSlow(_)), "{status} {kind}");
        }
        for (status, kind) in [
            (400, "No mapping found for [x] in order to sort on"),
            (401, "security_exception"),
            (403, "cluster_block_exception"),
            (404, "index_not_found_exception"),
            (503, "search_phase_execution_exception"),
        ] {
            assert!(matches!(told(status, kind), StoreError::Unavailable(_)), "{status} {kind}");
        }
    }
}
