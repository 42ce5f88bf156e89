//! Removing rows: a connection of its own, each slice a transaction of its own.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::RwLockReadGuard;
use rusqlite::Connection;
use search::model::{ColumnId, Entity, EntityId, Kind};
use search::{Filter, Row, StoreError, Test, Value};

use super::dialect::Sqlite;
use super::error::failed;
use super::packed_search::condition;
use super::packing::{TREES_MAX, ended_trees, pack_entries, pack_trees};
use super::packs::{PackCache, PackId, PackKind, Packs};
use super::rows::rows;
use super::statements::Statements;
use super::{SqliteOptions, transact};
use crate::count::{counted, removed};
use crate::packed::{Condition, Opened};
use crate::sql;
use crate::store::{Cleaner, Packed};

/// Free pages that are kept, because new rows take them soon.
const FREE_PAGES_KEPT: i64 = 64;
/// Pages that are given back at once.
const FREE_PAGES_SLICE: i64 = 512;

/// Packs that are removed at once.
const PACKS_AT_ONCE: usize = 16;

/// Trees of instances that stay in the tables because they cannot be packed; with more, packing stands still.
const SET_ASIDE_MAX: usize = 1000;

/// Removes rows of the file.
pub struct SqliteCleaner {
    options: SqliteOptions,
    connection: Option<Connection>,
    cache: PackCache,
    /// Trees of instances that are packed at once. Small while it looks for one that cannot be.
    trees_at_once: u32,
    /// Roots of those that cannot be.
    set_aside: BTreeSet<i64>,
}

impl SqliteCleaner {
    /// A cleaner that is not open yet.
    pub fn new(options: SqliteOptions) -> Self {
        let cache = PackCache::new(options.cache_bytes);
        Self { options, connection: None, cache, trees_at_once: TREES_MAX, set_aside: BTreeSet::new() }
    }

    /// Nothing takes the place of the content until this is dropped.
    fn content(&self) -> RwLockReadGuard<'_, u64> {
        let content = self.options.content.read();
        self.cache.expect(*content);
        content
    }

    /// Packs some trees of instances that have ended. One that cannot be packed is looked for in ever smaller slices,
    /// and stays in the tables.
    fn pack_trees(&mut self, told: &mut Vec<String>) -> Result<u64, StoreError> {
        loop {
            let mut roots = Vec::new();
            let content = self.content();
            let connection = self.connection()?;
            // One tree that is wrong is no reason to leave all others.
            let packed = catch_unwind(AssertUnwindSafe(|| {
                transact(connection, &self.cache, |packs| {
                    let trees = ended_trees(packs.connection, self.trees_at_once, &self.set_aside)?;
                    roots.extend(trees.iter().map(|tree| tree.root));
                    pack_trees(packs, trees)
                })
            }));
            drop(content);
            let reason = match packed {
                Ok(Ok(rows)) => {
                    self.trees_at_once = (self.trees_at_once * 2).min(TREES_MAX);
                    return Ok(rows);
                }
                Ok(Err(StoreError::Query(reason))) => reason,
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    self.cache.clear();
                    "packing it panicked".to_owned()
                }
            };
            match roots[..] {
                [] => return Err(StoreError::Query(reason)),
                [root] if self.set_aside.len() < SET_ASIDE_MAX => {
                    self.set_aside.insert(root);
                    told.push(format!("process instance {root}: {reason}"));
                }
                [root] => {
                    return Err(StoreError::Query(format!(
                        "{SET_ASIDE_MAX} process instances cannot be packed, and {root} neither: {reason}"
                    )));
                }
                _ => self.trees_at_once = (roots.len() as u32 / 2).max(1),
            }
        }
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| StoreError::Unavailable("the store is not open".to_owned()))
    }
}

impl Cleaner for SqliteCleaner {
    fn open(&mut self) -> Result<(), StoreError> {
        self.connection = None;
        self.cache = PackCache::new(self.options.cache_bytes);
        self.connection = Some(self.options.connect()?);
        Ok(())
    }

    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError> {
        if values.is_empty() {
            return Ok(0);
        }
        let query = sql::remove(&Sqlite, entity, column, values, limit, counted(entity));
        let _content = self.content();
        transact(self.connection()?, &self.cache, |packs| {
            let mut rows = rows(packs.connection, &query)?;
            let mut count = rows.len() as u64;
            if count < u64::from(limit) {
                let taken = packs.take(entity, column, values, limit as usize - count as usize)?;
                count += taken.len() as u64;
                let told =
                    |row: Row| counted(entity).iter().map(|column| row[*column as usize].clone()).collect();
                rows.extend(taken.into_iter().map(told));
            }
            uncount(packs.connection, rows)?;
            Ok(count)
        })
    }

    fn remove_packed(&mut self, entity: &'static Entity, filter: &Filter) -> Result<(u64, u64), StoreError> {
        let _content = self.content();
        let connection = self.connection()?;
        let packs = Packs { connection, cache: &self.cache };
        let Some((kind, condition)) = PackKind::of(entity).zip(condition(packs, entity, filter)?) else {
            return Ok((0, 0));
        };
        let expired = expired(packs, kind, &condition)?;
        // The packs stay as they are until the transaction begins, or are gone then.
        transact(connection, &self.cache, |packs| {
            let (mut things, mut rows) = (0, 0);
            let mut gone = Vec::new();
            for pack in expired {
                if packs.delete(pack.id)? {
                    (things, rows) = (things + pack.things, rows + pack.rows);
                    gone.extend(pack.counted);
                }
            }
            uncount(packs.connection, gone)?;
            Ok((things, rows))
        })
    }

    fn pack(&mut self) -> Result<Packed, StoreError> {
        let mut set_aside = Vec::new();
        let trees = self.pack_trees(&mut set_aside)?;
        let _content = self.content();
        let entries = transact(self.connection()?, &self.cache, pack_entries)?;
        Ok(Packed { rows: trees + entries, set_aside })
    }

    fn reclaim(&mut self) -> Result<bool, StoreError> {
        let _content = self.content();
        let connection = self.connection()?;
        let pragma = |name: &str| -> Result<i64, StoreError> {
            connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed)
        };
        // Files of older releases cannot shrink; their free pages are used again.
        let spare = pragma("freelist_count")? - FREE_PAGES_KEPT;
        if spare <= 0 || pragma("auto_vacuum")? != 2 {
            return Ok(false);
        }
        let mut statement = connection
            .prepare(&format!("PRAGMA incremental_vacuum({})", spare.min(FREE_PAGES_SLICE)))
            .map_err(failed)?;
        // Each row is a page that goes.
        let mut rows = statement.query([]).map_err(failed)?;
        while rows.next().map_err(failed)?.is_some() {}
        Ok(spare > FREE_PAGES_SLICE)
    }
}

/// Takes rows that are gone out of the counts that have them.
fn uncount(connection: &Connection, gone: Vec<Row>) -> Result<(), StoreError> {
    let mut statements = Statements::default();
    removed(gone).changes().iter().try_for_each(|change| statements.write(connection, &[change]).map(|_| ()))
}

/// A pack whose things have all expired.
struct Expired {
    id: PackId,
    things: u64,
    rows: u64,
    /// Columns of its rows that the counts need.
    counted: Vec<Row>,
}

/// Some packs of which every thing that nothing else owns meets a condition.
fn expired(packs: Packs<'_>, kind: &PackKind, condition: &Condition) -> Result<Vec<Expired>, StoreError> {
    let (things, owner) = (kind.parts[0].0, kind.within);
    let mut expired = Vec::new();
    let mut list = packs.list(kind)?;
    list.reverse();
    packs.each(&list, |pack| {
        let Some(all) = pack.rows(things)? else { return Ok(true) };
        let met = pack.matching(things, condition, |_, rows| Ok(rows.len()))?.unwrap_or(0);
        let within = match owner {
            Some(column) if met > 0 && met < all.rows => {
                let test = Test::Exists(true);
                let owned = Condition::Column { column, kind: Kind::Key, test };
                pack.matching(things, &owned, |_, rows| Ok(rows.len()))?.unwrap_or(0)
            }
            _ => 0,
        };
        if met == 0 || met + within < all.rows {
            return Ok(true);
        }
        let mut found = Expired { id: pack.id(), things: all.rows as u64, rows: 0, counted: Vec::new() };
        for (entity, _) in kind.parts {
            let Some(rows) = pack.rows(entity)? else { continue };
            found.rows += rows.rows as u64;
            if entity.id == EntityId::ElementInstance {
                let texts = pack.texts(entity);
                let opened = Opened::new(&rows, &texts);
                for row in 0..rows.rows {
                    let values = counted(entity).iter().map(|column| opened.value(*column, row));
                    found.counted.push(values.collect::<Result<Row, _>>()?);
                }
            }
        }
        expired.push(found);
        Ok(expired.len() < PACKS_AT_ONCE)
    })?;
    Ok(expired)
}
