//! Rows that a query finds.

use rusqlite::{Connection, params_from_iter};
use search::{Row, StoreError};

use super::dialect::{Parameter, value};
use super::error::failed;
use crate::sql::Query;
use crate::store::PageBytes;

/// The small result of a query.
pub(super) fn rows(connection: &Connection, query: &Query<'_>) -> Result<Vec<Row>, StoreError> {
    read(connection, query, |_| Ok(()))
}

/// The rows of a page; fails if they are larger than a page may be.
pub(super) fn page(connection: &Connection, query: &Query<'_>) -> Result<Vec<Row>, StoreError> {
    let mut bytes = PageBytes::new();
    read(connection, query, |row| bytes.add(row))
}

fn read(
    connection: &Connection,
    query: &Query<'_>,
    mut count: impl FnMut(&Row) -> Result<(), StoreError>,
) -> Result<Vec<Row>, StoreError> {
    let mut statement = connection.prepare_cached(&query.text).map_err(failed)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(query.values.iter().map(Parameter))).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let row = (0..columns)
            .map(|at| row.get_ref(at).map(value).map_err(failed))
            .collect::<Result<Row, StoreError>>()?;
        count(&row)?;
        found.push(row);
    }
    Ok(found)
}
