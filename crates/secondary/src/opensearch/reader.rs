//! Reading.

use std::sync::Arc;

use ::opensearch::{Client, ClientError, Method, OptionsError, StatusCode};
use futures::future::BoxFuture;
use protocol::PartitionId;
use serde_json::{Map, Value as Json, json};
use tokio::sync::Semaphore;

use super::schema::DELETED;
use super::{OpensearchOptions, expect, unanswered};
use crate::model::{ColumnId, Entity};
use crate::query::{Found, Row, Search, Statistics};
use crate::store::{Reader, StoreError};

/// Queries at once; more wait.
const QUERIES_MAX: usize = 64;
/// Groups in one answer.
const BUCKETS_PAGE: usize = 10_000;
/// What errors are called of queries that would take too long.
const TOO_SLOW: [&str; 5] = [
    "search_timeout_exception",
    "Time exceeded",
    "task_cancelled_exception",
    "too_complex_to_determinize_exception",
    "too_many_buckets_exception",
];

/// Answers queries.
pub struct OpensearchReader(Arc<Shared>);

struct Shared {
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
        Ok(Self(Arc::new(Shared { options, client, permits: Semaphore::new(QUERIES_MAX) })))
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
            error => unanswered(error),
        })?;
        if !answer.status.is_success() {
            let text = String::from_utf8_lossy(&answer.body);
            let is_slow = TOO_SLOW.iter().any(|name| text.contains(name));
            return Err(if is_slow {
                StoreError::too_slow()
            } else {
                StoreError::Unavailable(answer.reason())
            });
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

/// Groups, page by page.
pub(super) struct Buckets<'a> {
    asker: Asker<'a>,
    entity: &'static Entity,
    /// What to ask next; none at the end.
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
