//! Rows that belong to the elements of a page, by the keys of these.

use std::collections::BTreeMap;

use protocol::Key;
use search::model::{ColumnId, Entity};
use search::{Filter, Row, Test};

use super::super::rows::{key_of, operand, search};
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Rows of one kind that belong to the elements of a page.
const ROWS_MAX: u32 = 10_000;

/// Rows within the read authorization of the caller.
pub(super) async fn visible(
    call: &Call<'_>,
    entity: &'static Entity,
    filter: Filter,
) -> Result<Vec<Row>, Failure> {
    let filter = filter.and(call.visible_rows(entity).await?);
    Ok(call.storage()?.search(search(entity, filter, ROWS_MAX)).await?.rows)
}

pub(super) fn one_of(column: ColumnId, keys: &[Key]) -> Filter {
    let mut keys: Vec<_> = keys.iter().copied().map(operand).collect();
    keys.sort_unstable();
    keys.dedup();
    Filter::Column(column, Test::In(keys))
}

pub(super) fn grouped(rows: Vec<Row>, column: ColumnId) -> BTreeMap<Key, Vec<Row>> {
    let mut groups: BTreeMap<Key, Vec<Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(key_of(&row, column)).or_default().push(row);
    }
    groups
}
