//! Numbers by group. Sums and maxima are exact up to 2⁵³, which is what the store computes with.

use std::collections::HashMap;

use search::model::ColumnId;
use search::{Aggregate, Filter, Row, Statistics, StoreError, Value};
use serde_json::{Map, Value as Json, json};

use super::reader::Asker;
use super::row::from_json;

impl Asker<'_> {
    pub(super) async fn statistics(&self, asked: &Statistics) -> Result<Vec<Row>, StoreError> {
        let entity = asked.entity.0;
        let query = self.filter(entity, &asked.filter).await?;
        let mut aggregations = Map::new();
        // How many different values there are is counted by asking for them: the store itself would only estimate.
        let mut distinct = HashMap::new();
        for (at, aggregate) in asked.aggregates.iter().enumerate() {
            let field = |column: &ColumnId| json!({ "field": entity.columns[*column as usize].name });
            let aggregation = match aggregate {
                Aggregate::Count(filter) => json!({ "filter": self.filter(entity, filter).await? }),
                Aggregate::Sum(column) => json!({ "sum": field(column) }),
                Aggregate::Max(column) => json!({ "max": field(column) }),
                Aggregate::Distinct(column, filter) => {
                    distinct.insert(at, self.distinct(asked, *column, filter).await?);
                    continue;
                }
            };
            aggregations.insert(at.to_string(), aggregation);
        }
        let aggregations = Json::from(aggregations);
        let row = |key: Vec<Value>, bucket: &Json| {
            let group = group_of(&key);
            let numbers = asked.aggregates.iter().enumerate().map(|(at, aggregate)| {
                let number = &bucket[at.to_string()];
                match aggregate {
                    Aggregate::Count(_) => from_json(number.get("doc_count")),
                    Aggregate::Sum(_) | Aggregate::Max(_) => from_json(number.get("value")),
                    Aggregate::Distinct(..) => {
                        let counts = distinct.get(&at);
                        Value::Integer(counts.and_then(|counts| counts.get(&group)).copied().unwrap_or(0))
                    }
                }
            });
            key.iter().cloned().chain(numbers).collect::<Row>()
        };
        if asked.group_by.is_empty() {
            let body = json!({ "size": 0, "track_total_hits": false, "query": query, "aggs": aggregations });
            let found = self.ask(entity, body).await?;
            return Ok(vec![row(Vec::new(), &found["aggregations"])]);
        }
        let limit = asked.limit as usize;
        let columns: Vec<_> = asked.group_by.iter().map(|column| (*column, true)).collect();
        let mut pages = self.buckets(entity, &query, &columns, &aggregations, None);
        let mut rows = Vec::new();
        while rows.len() < limit
            && let Some(buckets) = pages.next().await?
        {
            rows.extend(buckets.iter().map(|bucket| row(key_of(bucket, columns.len()), bucket)));
        }
        rows.truncate(limit);
        Ok(rows)
    }

    /// How many different values a column has, by group.
    async fn distinct(
        &self,
        asked: &Statistics,
        column: ColumnId,
        filter: &Filter,
    ) -> Result<HashMap<String, i64>, StoreError> {
        let entity = asked.entity.0;
        let both = [self.filter(entity, &asked.filter).await?, self.filter(entity, filter).await?];
        let query = json!({ "bool": { "filter": both } });
        let groups = asked.group_by.iter().map(|column| (*column, true));
        let columns: Vec<_> = groups.chain([(column, false)]).collect();
        let mut pages = self.buckets(entity, &query, &columns, &json!({}), None);
        let mut counts = HashMap::new();
        while let Some(buckets) = pages.next().await? {
            for bucket in &buckets {
                *counts.entry(group_of(&key_of(bucket, asked.group_by.len()))).or_default() += 1;
            }
        }
        Ok(counts)
    }
}

/// The first values of a group.
fn key_of(bucket: &Json, columns: usize) -> Vec<Value> {
    (0..columns).map(|at| from_json(bucket["key"].get(at.to_string()))).collect()
}

/// A group as a key of a map.
fn group_of(key: &[Value]) -> String {
    format!("{key:?}")
}
