//! Rows on their way between tables and packs.

use std::collections::{BTreeSet, HashSet};

use protocol::Key;
use rusqlite::Connection;
use search::model::{Entity, EntityId};
use search::{Row, StoreError, Value};

use super::dialect::Sqlite;
use super::error::failed;
use super::packs::{AUDIT_LOG, INSTANCES, PackKind, Packs};
use super::rows::rows;
use super::statements::Statements;
use crate::change::{Batch, Change, KeySet, Operation, RowId};
use crate::instance_rows::{BegunInstance, PARTS, owner, part};
use crate::packed::Unpacked;
use crate::sql;

/// Outermost instances whose rows leave the tables at once.
pub(super) const TREES_MAX: u32 = 256;
/// Instances at once, called ones included, unless a single tree has more.
const INSTANCES_MAX: usize = 4096;
/// Entries of the audit log at once.
const ENTRIES_MAX: i64 = 1024;
/// Things whose rows one statement moves.
const MOVED_AT_ONCE: usize = 256;

/// The changes of a batch that go into packs: rows that change no more.
pub(super) struct Ended<'b> {
    instances: Vec<Vec<&'b Change>>,
    audit: Vec<&'b Change>,
    /// The others.
    pub rest: Vec<&'b Change>,
}

impl<'b> Ended<'b> {
    /// Those of instances that begin and end within a batch, with the outermost one. Instances that are there
    /// already are not among them: their rows change.
    pub fn of(batch: &'b Batch, are_there: &HashSet<Key>) -> Self {
        let begun = || batch.changes().iter().filter_map(BegunInstance::of);
        let is_new = |begun: &BegunInstance| begun.has_ended && !are_there.contains(&begun.key);
        let mut keys: KeySet =
            begun().filter(|begun| begun.root.is_none() && is_new(begun)).map(|begun| begun.key).collect();
        let called: Vec<Key> = begun()
            .filter(|begun| begun.root.is_some_and(|root| keys.contains(&root)) && is_new(begun))
            .map(|begun| begun.key)
            .collect();
        keys.extend(called);
        let mut these =
            Self { instances: vec![Vec::new(); PARTS.len()], audit: Vec::new(), rest: Vec::new() };
        for change in batch.changes() {
            let owner = owner(change).filter(|owner| keys.contains(owner) && change.increments.is_empty());
            match owner.and_then(|_| part(change.entity)) {
                Some(part) => these.instances[part].push(change),
                None if is_entry(change) => these.audit.push(change),
                None => these.rest.push(change),
            }
        }
        let packed = these.instances.iter_mut().chain([&mut these.audit]);
        packed.for_each(|rows| rows.sort_by(|one, other| one.id.cmp(&other.id)));
        these
    }

    pub fn write(&self, packs: Packs<'_>) -> Result<(), StoreError> {
        let sources =
            |rows: &Vec<&'b Change>| rows.iter().map(|change| Unpacked::Change(change)).collect::<Vec<_>>();
        packs.append(&INSTANCES, &self.instances.iter().map(sources).collect::<Vec<_>>())?;
        packs.append(&AUDIT_LOG, &[sources(&self.audit)])
    }
}

/// Whether a change is an entry of the audit log.
fn is_entry(change: &Change) -> bool {
    change.entity == EntityId::AuditLog
        && change.operation == Operation::Insert
        && change.increments.is_empty()
}

/// Puts instances from packs back into tables, because something of them changes. Returns how many rows that were.
pub(super) fn unpack(
    packs: Packs<'_>,
    statements: &mut Statements,
    instances: &[Value],
) -> Result<usize, StoreError> {
    let mut count = 0;
    for (entity, owner) in INSTANCES.parts {
        let rows = packs.take(entity, *owner, instances, usize::MAX)?;
        count += rows.len();
        for row in &rows {
            statements.write(packs.connection, &[&as_change(entity, row)])?;
        }
    }
    Ok(count)
}

/// A row as the change that makes it.
fn as_change(entity: &'static Entity, row: &Row) -> Change {
    let id = match &row[0] {
        Value::Integer(key) => RowId::Key(key.cast_unsigned()),
        Value::Text(text) => RowId::Text(text.clone()),
        Value::Null => unreachable!("a row has an identity"),
    };
    let mut batch = Batch::default();
    let change = batch.insert(entity, id);
    for (at, value) in row.iter().enumerate().skip(1) {
        change.set(at as u8, value.clone());
    }
    change.clone()
}

/// Outermost instances that have ended since their rows were written, with all that they called: the first to end, and
/// no more at once than are packed together. Those that were set aside are left out.
pub(super) fn ended_trees(
    connection: &Connection,
    limit: u32,
    set_aside: &BTreeSet<i64>,
) -> Result<Vec<Tree>, StoreError> {
    let set_aside: Vec<String> = set_aside.iter().map(i64::to_string).collect();
    let roots = keys(
        connection,
        &format!(
            "SELECT \"processInstanceKey\" FROM process_instance t WHERE \"endDate\" IS NOT NULL AND \
             \"parentProcessInstanceKey\" IS NULL AND NOT EXISTS (SELECT 1 FROM process_instance c WHERE \
             c.\"rootProcessInstanceKey\"=t.\"processInstanceKey\" AND c.\"parentProcessInstanceKey\" IS NOT NULL \
             AND c.\"endDate\" IS NULL) AND \"processInstanceKey\" NOT IN ({}) ORDER BY \"endDate\" LIMIT ?1",
            set_aside.join(",")
        ),
        limit.into(),
    )?;
    let mut trees: Vec<Tree> = Vec::with_capacity(roots.len());
    let mut count = 0;
    for root in roots {
        let key = root.integer().unwrap_or_default();
        let mut instances = vec![root];
        instances.extend(keys(
            connection,
            "SELECT \"processInstanceKey\" FROM process_instance WHERE \"rootProcessInstanceKey\"=?1 AND \
             \"parentProcessInstanceKey\" IS NOT NULL",
            key,
        )?);
        count += instances.len();
        if count > INSTANCES_MAX && !trees.is_empty() {
            break;
        }
        trees.push(Tree { root: key, instances });
    }
    Ok(trees)
}

/// An outermost instance and all that it called.
pub(super) struct Tree {
    pub root: i64,
    instances: Vec<Value>,
}

/// Packs instances. Returns how many rows that were.
pub(super) fn pack_trees(packs: Packs<'_>, trees: Vec<Tree>) -> Result<u64, StoreError> {
    let instances: Vec<Value> = trees.into_iter().flat_map(|tree| tree.instances).collect();
    move_rows(packs, &INSTANCES, &instances)
}

/// Packs some entries of the audit log that an older release wrote. Returns how many these were.
pub(super) fn pack_entries(packs: Packs<'_>) -> Result<u64, StoreError> {
    let sql = "SELECT \"auditLogKey\" FROM audit_log ORDER BY \"auditLogKey\" LIMIT ?1";
    move_rows(packs, &AUDIT_LOG, &keys(packs.connection, sql, ENTRIES_MAX)?)
}

fn keys(connection: &Connection, sql: &str, parameter: i64) -> Result<Vec<Value>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let keys = statement.query_map([parameter], |row| row.get(0).map(Value::Integer)).map_err(failed)?;
    keys.collect::<Result<_, _>>().map_err(failed)
}

/// Moves the rows of some things from their tables to a pack.
fn move_rows(packs: Packs<'_>, kind: &PackKind, things: &[Value]) -> Result<u64, StoreError> {
    if things.is_empty() {
        return Ok(0);
    }
    let mut parts = Vec::with_capacity(kind.parts.len());
    let mut count = 0;
    for (entity, owner) in kind.parts {
        let all: Vec<u8> = (0..entity.columns.len() as u8).collect();
        let mut moved = Vec::new();
        for things in things.chunks(MOVED_AT_ONCE) {
            let query = sql::remove(&Sqlite, entity, *owner, things, u32::MAX >> 1, &all);
            moved.extend(rows(packs.connection, &query)?);
        }
        moved.sort_by(|one, other| one[0].integer().cmp(&other[0].integer()));
        count += moved.len() as u64;
        parts.push(moved);
    }
    let sources: Vec<Vec<Unpacked<'_>>> =
        parts.iter().map(|rows| rows.iter().map(|row| Unpacked::Row(row)).collect()).collect();
    packs.append(kind, &sources)?;
    Ok(count)
}
