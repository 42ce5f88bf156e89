//! Packs in the file: what has ended, in columns, a few hundred or thousand things in each.
//!
//! Rows of a process instance, its elements, flows, variables and jobs move into a pack together, once the outermost
//! instance has ended; entries of the audit log at once. So the tables have what still changes, and what has an
//! order of its own (incidents, user tasks, decisions, messages).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rusqlite::{Connection, OptionalExtension as _, params};
use search::model::{ColumnId, Entity, EntityId, audit_log as audit, process_instance as instance};
use search::{Operand, Row, StoreError, Test, Value};

use super::error::failed;
use crate::instance_rows::PARTS;
use crate::packed::{
    Condition, Encoded, Group, Opened, PackError, PackedRows, TextSource, Unpacked, Zones, encode, select,
};

/// Things of a pack at the most.
const THINGS_MAX: usize = 4096;
/// Bytes of a pack up to which it is merged with others.
const MERGED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A pack of so many things stays as it is.
const LARGE: usize = 500;
/// Packs of about the same size that become one.
const MERGED: usize = 4;
/// Packs whose zones are remembered.
const ZONES_MAX: usize = 16 * 1024;

/// Statements that make the tables of packs.
pub(super) const TABLES: &str = "\
CREATE TABLE IF NOT EXISTS pack (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, things INTEGER NOT NULL, \
bytes INTEGER NOT NULL); \
CREATE TABLE IF NOT EXISTS pack_rows (id INTEGER PRIMARY KEY, zones BLOB NOT NULL, head BLOB NOT NULL); \
CREATE TABLE IF NOT EXISTS pack_texts (id INTEGER PRIMARY KEY, filter BLOB NOT NULL, blocks BLOB NOT NULL)";
/// Statements that remove all packs. Their numbers are not given again.
pub(super) const CLEAR: &str = "DELETE FROM pack; DELETE FROM pack_rows; DELETE FROM pack_texts";

/// Things that are packed together.
#[derive(Debug)]
pub(super) struct PackKind {
    number: i64,
    /// The things first, then what belongs to them, with the column that names the thing.
    pub parts: &'static [(&'static Entity, ColumnId)],
    /// The columns of a thing that name the one that it is within, and the outermost of these. A pack has all of a
    /// tree or nothing.
    pub within: Option<ColumnId>,
    root: Option<ColumnId>,
}

/// Process instances and what belongs to them.
pub(super) static INSTANCES: PackKind = PackKind {
    number: 0,
    parts: PARTS,
    within: Some(instance::PARENT_INSTANCE_KEY),
    root: Some(instance::ROOT_INSTANCE_KEY),
};

/// Entries of the audit log, which never change.
pub(super) static AUDIT_LOG: PackKind =
    PackKind { number: 1, parts: &[(&audit::ENTITY, audit::KEY)], within: None, root: None };

impl PackKind {
    /// The kind of an entity whose rows are packed.
    pub fn of(entity: &Entity) -> Option<&'static Self> {
        [&INSTANCES, &AUDIT_LOG].into_iter().find(|kind| kind.owner(entity.id).is_some())
    }

    /// The column that names the thing that a row belongs to.
    pub fn owner(&self, entity: EntityId) -> Option<ColumnId> {
        self.parts.iter().find(|(part, _)| part.id == entity).map(|(_, column)| *column)
    }
}

/// A pack of a kind.
pub(super) type PackId = i64;

/// Packs that were read lately.
pub(super) struct PackCache {
    rows: Cache<i64, Arc<PackedRows>, Size>,
    zones: Cache<i64, Option<Arc<Zones>>>,
    /// Those whose damage was told.
    damaged: Mutex<HashSet<i64>>,
    /// Number of the content that they are of.
    content: Mutex<u64>,
}

#[derive(Clone)]
struct Size;

impl Weighter<i64, Arc<PackedRows>> for Size {
    fn weight(&self, _: &i64, rows: &Arc<PackedRows>) -> u64 {
        rows.size() as u64
    }
}

impl PackCache {
    pub fn new(bytes: u64) -> Self {
        Self {
            rows: Cache::with_weighter((bytes / 32_768).max(64) as usize, bytes, Size),
            zones: Cache::new(ZONES_MAX),
            damaged: Mutex::default(),
            content: Mutex::default(),
        }
    }

    /// Forgets packs of another content.
    pub fn expect(&self, content: u64) {
        let mut known = self.content.lock();
        if *known != content {
            self.clear();
            self.damaged.lock().clear();
            *known = content;
        }
    }

    pub fn clear(&self) {
        self.rows.clear();
        self.zones.clear();
    }
}

/// The packs as a connection sees them.
#[derive(Clone, Copy)]
pub(super) struct Packs<'c> {
    pub connection: &'c Connection,
    pub cache: &'c PackCache,
}

/// One pack, to be read.
#[derive(Clone, Copy)]
pub(super) struct Pack<'c> {
    packs: Packs<'c>,
    id: PackId,
}

/// The long texts of the rows of an entity.
pub(super) struct Texts<'c> {
    connection: &'c Connection,
    rows: i64,
}

/// The ID of the rows of an entity in a pack.
const fn rows_id(pack: PackId, entity: EntityId) -> i64 {
    pack << 6 | entity as i64
}

const fn texts_id(rows: i64, column: ColumnId) -> i64 {
    rows << 6 | column as i64
}

impl TextSource for Texts<'_> {
    fn read(&self, column: ColumnId, range: Range<usize>) -> Result<Vec<u8>, PackError> {
        let id = texts_id(self.rows, column);
        let blob = self.connection.blob_open("main", "pack_texts", "blocks", id, true);
        let blob = blob.map_err(|_| PackError::Damaged("texts are missing"))?;
        let mut bytes = vec![0; range.len()];
        blob.read_at_exact(&mut bytes, range.start).map_err(|_| PackError::Damaged("texts are too short"))?;
        Ok(bytes)
    }

    fn filter(&self, column: ColumnId) -> Result<Vec<u8>, PackError> {
        let mut statement = prepare(self.connection, "SELECT filter FROM pack_texts WHERE id=?1")?;
        let filter = statement.query_row([texts_id(self.rows, column)], |row| row.get(0)).optional();
        Ok(filter.map_err(failed)?.unwrap_or_default())
    }
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<rusqlite::CachedStatement<'c>, StoreError> {
    connection.prepare_cached(sql).map_err(failed)
}

impl<'c> Pack<'c> {
    pub const fn id(&self) -> PackId {
        self.id
    }

    pub fn texts(&self, entity: &Entity) -> Texts<'c> {
        Texts { connection: self.packs.connection, rows: rows_id(self.id, entity.id) }
    }

    /// The bounds of the rows of an entity; `None` if there are none.
    pub fn zones(&self, entity: &Entity) -> Result<Option<Arc<Zones>>, PackError> {
        let id = rows_id(self.id, entity.id);
        if let Some(zones) = self.packs.cache.zones.get(&id) {
            return Ok(zones);
        }
        let mut statement = prepare(self.packs.connection, "SELECT zones FROM pack_rows WHERE id=?1")?;
        let bytes: Option<Vec<u8>> =
            statement.query_row([id], |row| row.get(0)).optional().map_err(failed)?;
        let zones = bytes.map(|bytes| Zones::read(&bytes).map(Arc::new)).transpose()?;
        self.packs.cache.zones.insert(id, zones.clone());
        Ok(zones)
    }

    /// The rows of an entity; `None` if there are none.
    pub fn rows(&self, entity: &'static Entity) -> Result<Option<Arc<PackedRows>>, PackError> {
        let id = rows_id(self.id, entity.id);
        if let Some(rows) = self.packs.cache.rows.get(&id) {
            return Ok(Some(rows));
        }
        let mut statement = prepare(self.packs.connection, "SELECT head FROM pack_rows WHERE id=?1")?;
        let bytes: Option<Vec<u8>> =
            statement.query_row([id], |row| row.get(0)).optional().map_err(failed)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let rows = Arc::new(PackedRows::read(entity, bytes)?);
        self.packs.cache.rows.insert(id, Arc::clone(&rows));
        Ok(Some(rows))
    }

    /// Whether it may have rows of an entity that meet a condition, by its bounds and those of the rows that these need
    /// beside them. No row is read for it.
    fn may_have(&self, entity: &'static Entity, condition: &Condition) -> Result<bool, PackError> {
        let Some(zones) = self.zones(entity)? else { return Ok(false) };
        if !zones.may_meet(condition) || !zones.may_have(condition, &self.texts(entity))? {
            return Ok(false);
        }
        for (other, condition) in condition.beside() {
            if !self.may_have(other, condition)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the rows of an entity that meet a condition, where there are any.
    pub fn matching<T>(
        &self,
        entity: &'static Entity,
        condition: &Condition,
        read: impl FnOnce(&Opened<'_>, Vec<u32>) -> Result<T, PackError>,
    ) -> Result<Option<T>, PackError> {
        if !self.may_have(entity, condition)? {
            return Ok(None);
        }
        let Some(rows) = self.rows(entity)? else { return Ok(None) };
        let texts = self.texts(entity);
        let opened = Opened::new(&rows, &texts);
        let these = select(&opened, condition, self)?;
        if these.is_empty() {
            return Ok(None);
        }
        read(&opened, these).map(Some)
    }

    fn all(&self, entity: &'static Entity) -> Result<Vec<Row>, PackError> {
        let Some(rows) = self.rows(entity)? else { return Ok(Vec::new()) };
        let texts = self.texts(entity);
        let opened = Opened::new(&rows, &texts);
        (0..rows.rows).map(|row| opened.row(row, u64::MAX)).collect()
    }
}

impl Group for Pack<'_> {
    fn values(
        &self,
        entity: &'static Entity,
        column: ColumnId,
        condition: &Condition,
    ) -> Result<HashSet<Value>, PackError> {
        let values = self.matching(entity, condition, |opened, rows| {
            rows.into_iter().map(|row| opened.value(column, row as usize)).collect()
        })?;
        Ok(values.unwrap_or_default())
    }
}

impl<'c> Packs<'c> {
    /// The packs of a kind, the latest first.
    pub fn list(&self, kind: &PackKind) -> Result<Vec<Pack<'c>>, StoreError> {
        let mut statement = prepare(self.connection, "SELECT id FROM pack WHERE kind=?1 ORDER BY id DESC")?;
        let ids = statement.query_map([kind.number], |row| row.get(0)).map_err(failed)?;
        ids.map(|id| Ok(Pack { packs: *self, id: id.map_err(failed)? })).collect()
    }

    /// Does something with each pack of a kind until it says that it is enough. One that is damaged is told of and
    /// left out.
    pub fn each(
        &self,
        packs: &[Pack<'c>],
        mut work: impl FnMut(&Pack<'c>) -> Result<bool, PackError>,
    ) -> Result<(), StoreError> {
        for pack in packs {
            match work(pack) {
                Ok(true) => {}
                Ok(false) => break,
                Err(PackError::Store(error)) => return Err(error),
                Err(error @ PackError::Damaged(_)) => self.tell(pack, &error),
            }
        }
        Ok(())
    }

    fn tell(&self, pack: &Pack<'_>, error: &PackError) {
        if self.cache.damaged.lock().insert(pack.id) {
            metrics::counter!("baton_secondary_storage_damaged_packs_total").increment(1);
            tracing::error!(pack = pack.id, %error, "a part of the history cannot be read; the rest can");
        }
    }

    /// Packs things with what belongs to them: rows by entity, in the order of [`PackKind::parts`], each in the order
    /// of their keys. Then merges packs, if many are small.
    pub fn append(&self, kind: &PackKind, parts: &[Vec<Unpacked<'_>>]) -> Result<(), StoreError> {
        debug_assert_eq!(kind.parts.len(), parts.len());
        if parts[0].is_empty() {
            return Ok(());
        }
        let things = parts[0].len();
        if things > THINGS_MAX {
            self.insert_in_pieces(kind, parts)?;
        } else {
            self.insert(kind, parts)?;
        }
        while self.merge(kind)? {}
        Ok(())
    }

    fn insert_in_pieces(&self, kind: &PackKind, parts: &[Vec<Unpacked<'_>>]) -> Result<(), StoreError> {
        let root = |thing: &Unpacked<'_>| match (kind.within, kind.root) {
            (Some(within), Some(root)) if thing.value(within) != Value::Null => thing.value(root),
            _ => thing.value(0),
        };
        let mut things: Vec<(Value, Value)> =
            parts[0].iter().map(|thing| (root(thing), thing.value(0))).collect();
        things.sort_by_key(|(root, thing)| (root.integer(), thing.integer()));
        let mut pieces: Vec<HashSet<Value>> = vec![HashSet::new()];
        for tree in things.chunk_by(|(one, _), (other, _)| one == other) {
            if pieces.last().is_some_and(|piece| !piece.is_empty() && piece.len() + tree.len() > THINGS_MAX) {
                pieces.push(HashSet::new());
            }
            let piece = pieces.last_mut().expect("there is always one");
            piece.extend(tree.iter().map(|(_, thing)| thing.clone()));
        }
        for owners in pieces {
            let of_these = parts.iter().zip(kind.parts).map(|(rows, (_, owner))| {
                rows.iter().filter(|row| owners.contains(&row.value(*owner))).copied().collect()
            });
            self.insert(kind, &of_these.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn insert(&self, kind: &PackKind, parts: &[Vec<Unpacked<'_>>]) -> Result<(), StoreError> {
        let encoded: Vec<_> = kind
            .parts
            .iter()
            .zip(parts)
            .filter(|(_, rows)| !rows.is_empty())
            .map(|((entity, _), rows)| (entity.id, encode(entity, rows)))
            .collect();
        let bytes: usize = encoded.iter().map(|(_, encoded)| encoded.size()).sum();
        prepare(self.connection, "INSERT INTO pack (kind, things, bytes) VALUES (?1,?2,?3)")?
            .execute(params![kind.number, parts[0].len() as i64, bytes as i64])
            .map_err(failed)?;
        let pack = self.connection.last_insert_rowid();
        encoded.iter().try_for_each(|(entity, encoded)| self.put(rows_id(pack, *entity), encoded))
    }

    fn put(&self, id: i64, encoded: &Encoded) -> Result<(), StoreError> {
        prepare(self.connection, "INSERT INTO pack_rows (id, zones, head) VALUES (?1,?2,?3)")?
            .execute(params![id, encoded.zones, encoded.head])
            .map_err(failed)?;
        for texts in &encoded.texts {
            prepare(self.connection, "INSERT INTO pack_texts (id, filter, blocks) VALUES (?1,?2,?3)")?
                .execute(params![texts_id(id, texts.column), texts.filter, texts.blocks])
                .map_err(failed)?;
        }
        Ok(())
    }

    /// Makes one pack of the last few, if they are of about the same size. Returns whether it did.
    fn merge(&self, kind: &PackKind) -> Result<bool, StoreError> {
        let mut statement = prepare(
            self.connection,
            "SELECT id, things, bytes FROM pack WHERE kind=?1 ORDER BY id DESC LIMIT 16",
        )?;
        let last = statement.query_map([kind.number], |row| Ok((row.get(0)?, size(row, 1)?, size(row, 2)?)));
        let last: Vec<(PackId, usize, usize)> = last.and_then(Iterator::collect).map_err(failed)?;
        let level = |things: usize| things.max(1).ilog(MERGED);
        let newest = last.first().map_or(0, |(_, things, _)| level(*things));
        let (mut things, mut bytes) = (0, 0);
        let small = last.iter().take_while(|(_, more, more_bytes)| {
            things += more;
            bytes += more_bytes;
            *more < LARGE && level(*more) <= newest && things <= THINGS_MAX && bytes <= MERGED_BYTES_MAX
        });
        let small: Vec<PackId> = small.map(|(id, ..)| *id).collect();
        if small.len() < MERGED {
            return Ok(false);
        }
        let mut parts: Vec<Vec<Row>> = Vec::new();
        for (entity, _) in kind.parts {
            let mut rows = Vec::new();
            for id in small.iter().rev() {
                match (Pack { packs: *self, id: *id }).all(entity) {
                    Ok(these) => rows.extend(these),
                    Err(PackError::Store(error)) => return Err(error),
                    // It stays as it is, for whoever may repair it.
                    Err(error) => {
                        self.tell(&Pack { packs: *self, id: *id }, &error);
                        return Ok(false);
                    }
                }
            }
            rows.sort_by(|one, other| one[0].integer().cmp(&other[0].integer()));
            parts.push(rows);
        }
        let sources: Vec<Vec<Unpacked<'_>>> =
            parts.iter().map(|rows| rows.iter().map(|row| Unpacked::Row(row)).collect()).collect();
        small.iter().try_for_each(|id| self.delete(*id).map(|_| ()))?;
        self.insert(kind, &sources)?;
        Ok(true)
    }

    /// Removes a pack. Returns whether it was there.
    pub fn delete(&self, pack: PackId) -> Result<bool, StoreError> {
        let gone =
            prepare(self.connection, "DELETE FROM pack WHERE id=?1")?.execute([pack]).map_err(failed)?;
        self.delete_rows(pack << 6..(pack + 1) << 6)?;
        Ok(gone > 0)
    }

    fn delete_rows(&self, ids: Range<i64>) -> Result<(), StoreError> {
        prepare(self.connection, "DELETE FROM pack_rows WHERE id>=?1 AND id<?2")?
            .execute([ids.start, ids.end])
            .map_err(failed)?;
        prepare(self.connection, "DELETE FROM pack_texts WHERE id>=?1 AND id<?2")?
            .execute([texts_id(ids.start, 0), texts_id(ids.end, 0)])
            .map_err(failed)?;
        Ok(())
    }

    /// Writes the rows of an entity in a pack anew, under another ID of the pack: an ID means the same for ever.
    fn rewrite(
        &self,
        kind: &PackKind,
        pack: &Pack<'_>,
        entity: &'static Entity,
        rows: &[Row],
    ) -> Result<PackId, StoreError> {
        let (things, mut bytes): (usize, usize) =
            prepare(self.connection, "SELECT things, bytes FROM pack WHERE id=?1")?
                .query_row([pack.id], |row| Ok((size(row, 0)?, size(row, 1)?)))
                .map_err(failed)?;
        let is_thing = kind.parts[0].0.id == entity.id;
        let things = if is_thing { rows.len() } else { things };
        let sources: Vec<_> = rows.iter().map(|row| Unpacked::Row(row)).collect();
        let encoded = (!rows.is_empty()).then(|| encode(entity, &sources));
        bytes = bytes.max(encoded.as_ref().map_or(0, Encoded::size));
        prepare(self.connection, "DELETE FROM pack WHERE id=?1")?.execute([pack.id]).map_err(failed)?;
        prepare(self.connection, "INSERT INTO pack (kind, things, bytes) VALUES (?1,?2,?3)")?
            .execute(params![kind.number, things as i64, bytes as i64])
            .map_err(failed)?;
        let id = self.connection.last_insert_rowid();
        let mut is_empty = true;
        for (part, _) in kind.parts {
            let (old, new) = (rows_id(pack.id, part.id), rows_id(id, part.id));
            if part.id == entity.id {
                self.delete_rows(old..old + 1)?;
                if let Some(encoded) = &encoded {
                    is_empty = false;
                    self.put(new, encoded)?;
                }
                continue;
            }
            let moved =
                prepare(self.connection, "UPDATE pack_rows SET id=?1 WHERE id=?2")?.execute([new, old]);
            is_empty &= moved.map_err(failed)? == 0;
            prepare(self.connection, "UPDATE pack_texts SET id=id+?1 WHERE id>=?2 AND id<?3")?
                .execute([texts_id(new - old, 0), texts_id(old, 0), texts_id(old + 1, 0)])
                .map_err(failed)?;
        }
        if is_empty {
            prepare(self.connection, "DELETE FROM pack WHERE id=?1")?.execute([id]).map_err(failed)?;
        }
        Ok(id)
    }

    /// Takes rows of an entity out that have one of some values in a column, so many at the most.
    pub fn take(
        &self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let Some(kind) = PackKind::of(entity) else { return Ok(Vec::new()) };
        let condition = one_of(entity, column, values);
        let mut taken = Vec::new();
        let packs = self.list(kind)?;
        self.each(&packs, |pack| {
            let Some(rows) = pack.matching(entity, &condition, |_, rows| Ok(rows))? else { return Ok(true) };
            let mut kept = Vec::new();
            for (number, row) in pack.all(entity)?.into_iter().enumerate() {
                if taken.len() < limit && rows.binary_search(&(number as u32)).is_ok() {
                    taken.push(row);
                } else {
                    kept.push(row);
                }
            }
            self.rewrite(kind, pack, entity, &kept)?;
            Ok(taken.len() < limit)
        })?;
        Ok(taken)
    }

    /// Whether a row is in a pack.
    pub fn has(&self, entity: &'static Entity, id: &Value) -> Result<bool, StoreError> {
        Ok(!self.find(entity, std::slice::from_ref(id))?.is_empty())
    }

    /// Which of these identities are of rows in packs.
    pub fn find(&self, entity: &'static Entity, ids: &[Value]) -> Result<HashSet<Value>, StoreError> {
        let Some(kind) = PackKind::of(entity) else { return Ok(HashSet::new()) };
        let condition = one_of(entity, 0, ids);
        let mut found = HashSet::new();
        let packs = self.list(kind)?;
        self.each(&packs, |pack| {
            found.extend(pack.values(entity, 0, &condition)?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// Changes a row in its pack. Returns whether it is in one.
    pub fn update(
        &self,
        entity: &'static Entity,
        id: &Value,
        change: impl Fn(&mut Row),
    ) -> Result<bool, StoreError> {
        let Some(kind) = PackKind::of(entity) else { return Ok(false) };
        let condition = one_of(entity, 0, std::slice::from_ref(id));
        let mut is_there = false;
        let packs = self.list(kind)?;
        self.each(&packs, |pack| {
            let Some(rows) = pack.matching(entity, &condition, |_, rows| Ok(rows))? else { return Ok(true) };
            let mut all = pack.all(entity)?;
            for row in rows {
                change(&mut all[row as usize]);
            }
            self.rewrite(kind, pack, entity, &all)?;
            is_there = true;
            Ok(false)
        })?;
        Ok(is_there)
    }
}

fn size(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<usize> {
    row.get::<_, i64>(column).map(|size| usize::try_from(size).unwrap_or(0))
}

/// The condition that a column has one of some values.
pub(super) fn one_of(entity: &'static Entity, column: ColumnId, values: &[Value]) -> Condition {
    let operands = values.iter().filter_map(|value| match value {
        Value::Integer(number) => Some(Operand::Integer(*number)),
        Value::Text(text) => Some(Operand::Text(text.clone())),
        Value::Null => None,
    });
    let mut operands: Vec<_> = operands.collect();
    operands.sort_unstable();
    let test = if let [operand] = &operands[..] { Test::Equal(operand.clone()) } else { Test::In(operands) };
    Condition::Column { column, kind: entity.columns[column as usize].kind, test }
}
