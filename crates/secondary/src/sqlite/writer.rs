//! Writing: one transaction for each batch.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use export::Flush;
use parking_lot::RwLockReadGuard;
use protocol::{Key, PartitionId};
use rusqlite::{Connection, OptionalExtension as _};
use search::model::{ColumnId, ENTITIES, Entity, EntityId, process_instance as instance};
use search::{Gap, StoreError, Value};

use super::dialect::Sqlite;
use super::error::failed;
use super::packing::{Ended, unpack};
use super::packs::{PackCache, Packs};
use super::rows::rows;
use super::statements::Statements;
use super::{SqliteOptions, packs, progress, schema, set, transact};
use crate::change::{Batch, Change, Operation, RowId, groups};
use crate::sql::{self, exists};
use crate::store::{Left, Numbers, Writer};

/// Rows that one statement inserts: finding its place in each table and index is what costs most, and is half done
/// when the last row went there.
const ROWS_MAX: usize = 32;

/// Memory for packs that are written again, which is seldom.
const CACHE_BYTES: u64 = 1024 * 1024;

/// Writes the rows of one partition.
pub struct SqliteWriter {
    options: SqliteOptions,
    partition: PartitionId,
    connection: Option<Connection>,
    statements: Statements,
    /// When the last sync was, and whether something was written since.
    synced: Option<Instant>,
    is_unsynced: bool,
    cache: PackCache,
    left: Left,
    /// Number of the content that was opened.
    content: u64,
}

impl SqliteWriter {
    /// A writer that is not open yet.
    pub fn new(options: SqliteOptions, partition: PartitionId) -> Self {
        let statements = Statements::default();
        let cache = PackCache::new(CACHE_BYTES);
        Self {
            options,
            partition,
            connection: None,
            statements,
            synced: None,
            is_unsynced: false,
            cache,
            left: Left::default(),
            content: 0,
        }
    }

    /// The connection, and what keeps the content until it is dropped. An error: the content is another one than was
    /// opened, since the writer of another partition had it replaced; this one is to be opened again.
    fn opened(&self) -> Result<(&Connection, RwLockReadGuard<'_, u64>), StoreError> {
        let content = self.options.content.read();
        if let Some(connection) = self.connection.as_ref().filter(|_| *content == self.content) {
            return Ok((connection, content));
        }
        let reason = match &self.connection {
            Some(_) => "the store of another broker took the place of this one's",
            None => "the store is not open",
        };
        Err(StoreError::Unavailable(reason.to_owned()))
    }

    /// Does something in a transaction, on the content that was opened.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(Packs<'_>, &mut Statements) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut statements = std::mem::take(&mut self.statements);
        let done = self.opened().and_then(|(connection, _content)| {
            transact(connection, &self.cache, |packs| work(packs, &mut statements))
        });
        self.statements = statements;
        self.is_unsynced = true;
        done
    }

    /// Makes durable what is in the write-ahead log; what went from there to its place is.
    fn sync_log(&mut self) -> Result<(), StoreError> {
        let path = self.options.log_path();
        // No lock is lost by closing it: those of the database are on its other files.
        match File::options().write(true).open(&path).and_then(|log| log.sync_data()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::Unavailable(format!("'{}': {error}", path.display())));
            }
            _ => {}
        }
        self.synced = Some(Instant::now());
        self.is_unsynced = false;
        Ok(())
    }
}

impl Writer for SqliteWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        self.connection = None;
        let opening = self.options.opening.lock();
        let mut connection = self.options.connect()?;
        // A commit reaches the file, the disk only with the next sync: what is lost with the power comes again.
        set(&connection, &[("synchronous", "NORMAL".to_owned())])?;
        schema::prepare(&mut connection)?;
        drop(opening);
        let content = self.options.content.read();
        self.content = *content;
        self.cache.expect(self.content);
        self.left = progress::read_left(&connection, self.partition)?;
        drop(content);
        self.connection = Some(connection);
        self.sync_log()?;
        Ok(self.left.position)
    }

    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
        self.write_ended(batch, &Left { position, written: position, instances: BTreeSet::new() })
    }

    fn left(&self) -> Option<Left> {
        Some(self.left.clone())
    }

    fn write_ended(&mut self, batch: &Batch, left: &Left) -> Result<(), StoreError> {
        let (partition, before) = (self.partition, std::mem::take(&mut self.left));
        let written = self.transact(|packs, statements| {
            write_batch(packs, statements, batch)?;
            progress::write(packs.connection, partition, left.position)?;
            progress::write_left(packs.connection, partition, &before, left)
        });
        self.left = if written.is_ok() { left.clone() } else { before };
        written
    }

    fn clear(&mut self, position: u64) -> Result<(), StoreError> {
        let left = Left { position, written: position, instances: BTreeSet::new() };
        let (partition, before) = (self.partition, self.left.clone());
        self.transact(|packs, _| {
            for entity in ENTITIES {
                let sql = format!("DELETE FROM \"{}\"", entity.name);
                packs.connection.execute_batch(&sql).map_err(failed)?;
            }
            packs.connection.execute_batch(packs::CLEAR).map_err(failed)?;
            progress::write(packs.connection, partition, position)?;
            progress::forget_gaps(packs.connection, partition)?;
            progress::write_left(packs.connection, partition, &before, &left)
        })?;
        self.cache.clear();
        self.left = left;
        Ok(())
    }

    fn replace(&mut self, copy: &Path) -> Result<(), StoreError> {
        self.connection = None;
        self.options.replace(copy)?;
        self.cache.clear();
        Ok(())
    }

    fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        let (connection, _content) = self.opened()?;
        progress::read_gaps(connection, self.partition)
    }

    fn note_gaps(&mut self, gaps: &[Gap]) -> Result<(), StoreError> {
        let partition = self.partition;
        self.transact(|packs, _| progress::write_gaps(packs.connection, partition, gaps))?;
        self.sync_log()
    }

    fn sync(&mut self, flush: Flush) -> Result<bool, StoreError> {
        let is_due = self.synced.is_none_or(|synced| synced.elapsed() >= self.options.sync_interval);
        if self.is_unsynced && (is_due || flush.is_durable()) {
            self.sync_log()?;
        }
        Ok(!self.is_unsynced)
    }

    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError> {
        let (connection, _content) = self.opened()?;
        let packs = Packs { connection, cache: &self.cache };
        Ok(!rows(connection, &exists(&Sqlite, entity, id.value()))?.is_empty()
            || packs.has(entity, &id.value())?)
    }

    /// Of rows in tables alone: what is in packs changes no more.
    fn numbers(
        &mut self,
        entity: &'static Entity,
        columns: &[ColumnId],
        keys: &[Key],
    ) -> Result<Numbers, StoreError> {
        let (connection, _content) = self.opened()?;
        let text = sql::numbers(&Sqlite, entity, columns, "=?1");
        let mut statement = connection.prepare_cached(&text).map_err(failed)?;
        let mut found = Numbers::default();
        for key in keys {
            let numbers = statement.query_row([key.cast_signed()], |row| {
                (1..=columns.len()).map(|at| row.get(at)).collect::<Result<_, _>>()
            });
            found.extend(numbers.optional().map_err(failed)?.map(|numbers| (*key, numbers)));
        }
        Ok(found)
    }

    fn unpack(&mut self, process_instance_key: Key) -> Result<(), StoreError> {
        self.transact(|packs, statements| {
            unpack(packs, statements, &[process_instance_key.into()]).map(|_| ())
        })
    }
}

/// Writes the changes of a batch: what has ended to packs, the rest to tables.
fn write_batch(packs: Packs<'_>, statements: &mut Statements, batch: &Batch) -> Result<(), StoreError> {
    let connection = packs.connection;
    let begun = batch
        .changes()
        .iter()
        .filter(|change| change.entity == EntityId::ProcessInstance && change.operation == Operation::Insert);
    let begun: Vec<Value> = begun.map(|change| change.id.value()).collect();
    // Keys grow, so this is seldom more than a look at the bounds of packs.
    let again: Vec<Value> = packs.find(&instance::ENTITY, &begun)?.into_iter().collect();
    if !again.is_empty() {
        unpack(packs, statements, &again)?;
    }
    let are_there = again.iter().filter_map(Value::integer).map(i64::cast_unsigned).collect();
    let ended = Ended::of(batch, &are_there);
    for group in groups(ended.rest.iter().copied()) {
        let first = group[0];
        let rows = match first.operation {
            Operation::Insert => ROWS_MAX,
            Operation::Update | Operation::Delete => 1,
        };
        for chunk in group.chunks(rows) {
            // The remainder goes one by one, so that a shape has at most two statements.
            for rows in chunk.chunks(if chunk.len() == rows { rows } else { 1 }) {
                let changed = statements.write(connection, rows)?;
                if changed == 0 && first.operation != Operation::Insert {
                    change_packed(packs, rows[0])?;
                }
            }
        }
    }
    ended.write(packs)
}

/// Makes a change to a row that has been packed before.
fn change_packed(packs: Packs<'_>, change: &Change) -> Result<(), StoreError> {
    let (entity, id) = (Entity::of(change.entity), change.id.value());
    if change.operation == Operation::Delete {
        packs.take(entity, 0, &[id], 1)?;
        return Ok(());
    }
    packs.update(entity, &id, |row| {
        for (column, value) in &change.values {
            row[*column as usize] = value.clone();
        }
        for (column, by) in &change.increments {
            let value = &mut row[*column as usize];
            let before = value.integer().unwrap_or(0);
            *value = Value::Integer(entity.columns[*column as usize].grown(before, *by));
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use search::Reader;

    use super::*;
    use crate::SqliteReader;

    fn ended(key: u64) -> Batch {
        let mut batch = Batch::default();
        batch.insert(&instance::ENTITY, RowId::Key(key)).set(instance::END, 5_i64);
        batch
    }

    /// IDs of packs are given again after a commit that fails, to others.
    #[test]
    fn a_failed_commit_leaves_nothing_that_a_later_one_takes_for_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(&directory.path().join("a.db"));
        let mut writer = SqliteWriter::new(options.clone(), 1);
        writer.open().unwrap();
        for key in 1..=3 {
            writer.write(&ended(key), key).unwrap();
        }
        let commits = |writer: &mut SqliteWriter, fails: bool| {
            let hook = move || fails;
            writer.connection.as_mut().unwrap().commit_hook(Some(hook)).unwrap();
        };
        // The fourth pack is merged with the others.
        commits(&mut writer, true);
        writer.write(&ended(100), 4).unwrap_err();
        commits(&mut writer, false);
        writer.write(&ended(4), 4).unwrap();
        let reader = SqliteReader::new(options);
        let search = search::Search {
            entity: search::EntityRef(&instance::ENTITY),
            filter: search::Filter::everything(),
            sort: Vec::new(),
            position: search::Position::Offset(0),
            limit: 100,
            count_up_to: 100,
            columns: u64::MAX,
            cut: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let found = runtime.block_on(reader.search(search)).unwrap();
        let mut keys: Vec<_> = found.rows.iter().map(|row| row[0].integer().unwrap()).collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 2, 3, 4]);
    }
}
