//! Searches, page by page.

use search::model::{ColumnId, Entity, Kind};
use search::{Found, Position, Row, Search, Sort, StoreError, Value};
use serde_json::{Map, Value as Json, json};

use super::reader::Asker;
use super::row::{self, is_too_long};
use crate::store::PageBytes;

/// Rows of one answer, skipped ones included; more are refused by default.
const WINDOW: u64 = 10_000;

impl Asker<'_> {
    pub(super) async fn search(&self, search: &Search) -> Result<Found, StoreError> {
        let entity = search.entity.0;
        let is_reversed = matches!(search.position, Position::Before(_));
        let mut order = search.order();
        for sort in &mut order {
            sort.descending ^= is_reversed;
        }
        let (mut skip, mut after) = match &search.position {
            Position::Offset(offset) => (*offset, None),
            Position::After(row) | Position::Before(row) => (0, Some(key_of(entity, &order, row))),
        };
        let query = self.filter(entity, &search.filter).await?;
        let (mut found, mut bytes) = (Found::default(), PageBytes::new());
        let mut counts = search.count_up_to > 0;
        loop {
            let missing = u64::from(search.limit) - found.rows.len() as u64;
            // Rows skipped beyond the window take pages of their own, of which only the ends matter.
            let is_skipping = skip > 0 && (after.is_some() || skip.saturating_add(missing) > WINDOW);
            let (from, size) = if is_skipping { (0, skip.min(WINDOW)) } else { (skip, missing.min(WINDOW)) };
            let mut body = json!({
                "query": query,
                "sort": order.iter().map(|sort| sort_of(entity, *sort)).collect::<Vec<_>>(),
                "from": from,
                "size": size,
                "track_total_hits": if counts { Json::from(search.count_up_to.saturating_add(1)) } else { false.into() },
                "_source": if is_skipping { false.into() } else { wanted(entity, search, &order) },
            });
            if let Some(after) = after.take() {
                body["search_after"] = after;
            }
            let mut answer = self.ask(entity, body).await?;
            if std::mem::take(&mut counts) {
                let total = answer["hits"]["total"]["value"].as_u64().unwrap_or(0);
                found.total = total.min(search.count_up_to);
                found.has_more = total > search.count_up_to;
            }
            let Json::Array(hits) = answer["hits"]["hits"].take() else { break };
            let count = hits.len() as u64;
            after = hits.last().map(|hit| hit["sort"].clone());
            if is_skipping {
                skip -= count;
            } else {
                skip = 0;
                let rows = hits.iter().filter_map(|hit| hit["_source"].as_object());
                for source in rows {
                    let row = row_of(entity, search, source);
                    bytes.add(&row)?;
                    found.rows.push(row);
                }
            }
            if count < size || found.rows.len() as u64 >= u64::from(search.limit) {
                break;
            }
        }
        if is_reversed {
            found.rows.reverse();
        }
        Ok(found)
    }
}

/// Nothing comes after everything else.
fn sort_of(entity: &Entity, Sort { column, descending }: Sort) -> Json {
    let (order, missing) = if descending { ("desc", "_first") } else { ("asc", "_last") };
    json!({ entity.columns[column as usize].name: { "order": order, "missing": missing } })
}

/// The place of a row in an order. A number that is not there counts as the largest one.
fn key_of(entity: &Entity, order: &[Sort], row: &[Value]) -> Json {
    let values = order.iter().zip(row).map(|(sort, value)| match value {
        Value::Null if entity.columns[sort.column as usize].kind.is_integer() => Json::from(i64::MAX),
        Value::Null => Json::Null,
        Value::Integer(number) => Json::from(*number),
        // Such a text has no place of its own.
        Value::Text(text) if is_too_long(text) => Json::Null,
        Value::Text(text) => Json::from(text.as_str()),
    });
    values.collect()
}

/// The columns that are needed.
fn wanted(entity: &Entity, search: &Search, order: &[Sort]) -> Json {
    let columns = entity.columns.iter().enumerate();
    let names = columns.filter(|(at, _)| {
        let column = *at as ColumnId;
        search.columns >> at & 1 == 1 || order.iter().any(|sort| sort.column == column)
    });
    Json::from(names.map(|(_, column)| column.name).collect::<Vec<_>>())
}

fn row_of(entity: &Entity, search: &Search, source: &Map<String, Json>) -> Row {
    let mut row = row::read(entity, source);
    if let Some((column, length)) = search.cut {
        let value = &mut row[column as usize];
        if let Value::Text(text) = value
            && entity.columns[column as usize].kind != Kind::List
            && let Some((end, _)) = text.char_indices().nth(length as usize)
        {
            *value = Value::from(&text[..end]);
        }
    }
    row
}
