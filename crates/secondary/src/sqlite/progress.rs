//! The position up to which the file has everything, and which instances it lacks behind that.

use protocol::PartitionId;
use rusqlite::{Connection, OptionalExtension as _, params};
use search::{Gap, StoreError};

use super::error::failed;
use crate::store::Left;

/// Statements that make the tables.
pub(super) const TABLES: &str = "\
CREATE TABLE IF NOT EXISTS progress (partition INTEGER PRIMARY KEY, position INTEGER NOT NULL); \
CREATE TABLE IF NOT EXISTS progress_left (partition INTEGER PRIMARY KEY, written INTEGER NOT NULL, \
instances TEXT NOT NULL); \
CREATE TABLE IF NOT EXISTS progress_gap (partition INTEGER NOT NULL, lower INTEGER NOT NULL, upper INTEGER NOT NULL, \
accepted INTEGER NOT NULL, PRIMARY KEY (partition, lower))";

pub(super) fn read(connection: &Connection, partition: PartitionId) -> rusqlite::Result<u64> {
    let position: Option<i64> = connection
        .query_row("SELECT position FROM progress WHERE partition=?1", [partition], |row| row.get(0))
        .optional()?;
    Ok(position.unwrap_or(0).cast_unsigned())
}

/// Notes the position up to which everything is there.
pub(super) fn write(
    connection: &Connection,
    partition: PartitionId,
    position: u64,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO progress VALUES (?1,?2) ON CONFLICT (partition) DO UPDATE SET position=excluded.position",
        )
        .and_then(|mut statement| statement.execute((partition, position.cast_signed())))
        .map(|_| ())
        .map_err(failed)
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

pub(super) fn read_gaps(connection: &Connection, partition: PartitionId) -> Result<Vec<Gap>, StoreError> {
    let sql = "SELECT lower, upper, accepted FROM progress_gap WHERE partition=?1 ORDER BY lower";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let gaps = statement.query_map([partition], |row| {
        let (after, upto): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(Gap { after: after.cast_unsigned(), upto: upto.cast_unsigned(), is_accepted: row.get(2)? })
    });
    gaps.and_then(Iterator::collect).map_err(failed)
}

/// Forgets gaps: nothing is lacking where nothing is kept.
pub(super) fn forget_gaps(connection: &Connection, partition: PartitionId) -> Result<(), StoreError> {
    let forgotten = connection.execute("DELETE FROM progress_gap WHERE partition=?1", [partition]);
    forgotten.map(|_| ()).map_err(failed)
}

pub(super) fn write_gaps(
    connection: &Connection,
    partition: PartitionId,
    gaps: &[Gap],
) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO progress_gap VALUES (?1,?2,?3,?4)";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    gaps.iter().try_for_each(|gap| {
        let gap = params![partition, gap.after.cast_signed(), gap.upto.cast_signed(), gap.is_accepted];
        statement.execute(gap).map(|_| ()).map_err(failed)
    })
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
