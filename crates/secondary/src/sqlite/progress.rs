//! The position up to which the file has everything, and which instances it lacks behind that.

use protocol::PartitionId;
use rusqlite::{Connection, OptionalExtension as _, params};
use search::StoreError;

use super::failed;
use crate::store::Left;

/// Statements that make the tables.
pub(super) const TABLES: &str = "\
CREATE TABLE IF NOT EXISTS progress (partition INTEGER PRIMARY KEY, position INTEGER NOT NULL); \
CREATE TABLE IF NOT EXISTS progress_left (partition INTEGER PRIMARY KEY, written INTEGER NOT NULL, \
instances TEXT NOT NULL)";

pub(super) fn read(connection: &Connection, partition: PartitionId) -> rusqlite::Result<u64> {
    let position: Option<i64> = connection
        .query_row("SELECT position FROM progress WHERE partition=?1", [partition], |row| row.get(0))
        .optional()?;
    Ok(position.unwrap_or(0).cast_unsigned())
}

pub(super) fn read_left(connection: &Connection, partition: PartitionId) -> Result<Left, StoreError> {
    let position = read(connection, partition).map_err(failed)?;
    let left = connection
        .query_row("SELECT written, instances FROM progress_left WHERE partition=?1", [partition], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })
        .optional()
        .map_err(failed)?;
    let Some((written, instances)) = left else {
        return Ok(Left { position, written: position, ..Left::default() });
    };
    let instances = serde_json::from_str(&instances)
        .map_err(|error| StoreError::Schema(format!("the instances that were left are damaged: {error}")))?;
    Ok(Left { position, written: written.cast_unsigned(), instances })
}

/// Writes what is left, if it was not the same before: nothing.
pub(super) fn write_left(
    connection: &Connection,
    partition: PartitionId,
    before: &Left,
    left: &Left,
) -> Result<(), StoreError> {
    if left.instances.is_empty() && before.instances.is_empty() {
        return Ok(());
    }
    if left.instances.is_empty() {
        let mut statement =
            connection.prepare_cached("DELETE FROM progress_left WHERE partition=?1").map_err(failed)?;
        return statement.execute([partition]).map(|_| ()).map_err(failed);
    }
    let instances = serde_json::to_string(&left.instances).expect("keys are numbers");
    connection
        .prepare_cached("INSERT OR REPLACE INTO progress_left VALUES (?1,?2,?3)")
        .and_then(|mut statement| {
            statement.execute(params![partition, left.written.cast_signed(), instances])
        })
        .map(|_| ())
        .map_err(failed)
}
