//! Writing: documents in bulk, then a refresh, then the position they go up to.
//!
//! Unacknowledged records come again, in batches with other borders, so each change is made
//! such that repeating does not matter: see `apply.painless`. A session of the writer has a number, its epoch,
//! which grows with each opening: what an earlier one sent, and arrives after its time, changes nothing any more,
//! and its position is refused.

use std::collections::BTreeSet;

use ::opensearch::{Blocking, Bulk, Method, Outcome, StatusCode};
use protocol::{Key, PartitionId};
use search::model::{ColumnId, Entity, EntityId, Kind, history_deletion as deletion};
use search::{Gap, StoreError};
use serde_json::{Map, Value as Json, json};

use super::answer::{expect, found, unanswered};
use super::options::OpensearchOptions;
use super::row::{document_id, escaped, holds_too_long, to_json};
use super::schema;
use crate::change::{Batch, Change, Operation, RowId};
use crate::store::{Numbers, Writer};

/// How often a change is tried when another partition changes the same row.
const CONFLICTS_MAX: u32 = 10;

/// Documents that are asked for at once.
const GET_MAX: usize = 1000;

/// Writes the rows of one partition.
pub struct OpensearchWriter {
    options: OpensearchOptions,
    partition: PartitionId,
    client: Option<Blocking>,
    session: Option<Session>,
}

/// From opening to the first failure.
#[derive(Debug)]
struct Session {
    epoch: u64,
    /// The position that is stored.
    position: u64,
    /// The version of the document that says so.
    version: Version,
    gaps: Vec<Gap>,
}

#[derive(Debug)]
struct Version {
    seq_no: u64,
    primary_term: u64,
}

impl OpensearchWriter {
    /// A writer that is not open yet.
    pub fn new(options: OpensearchOptions, partition: PartitionId) -> Self {
        Self { options, partition, client: None, session: None }
    }

    fn progress_path(&self) -> String {
        format!("/{}/_doc/{}", self.options.progress(), self.partition)
    }

    /// Stores a position, if nobody else has stored one since.
    fn store(
        &self,
        client: &Blocking,
        (position, epoch): (u64, u64),
        gaps: &[Gap],
        version: Option<&Version>,
    ) -> Result<Version, StoreError> {
        let condition = match version {
            Some(Version { seq_no, primary_term }) => {
                format!("if_seq_no={seq_no}&if_primary_term={primary_term}")
            }
            None => "op_type=create".to_owned(),
        };
        let path = format!("{}?{condition}", self.progress_path());
        let number = |of: fn(&Gap) -> u64| gaps.iter().map(of).collect::<Vec<_>>();
        let body = json!({
            "position": position,
            "epoch": epoch,
            "gapLower": number(|gap| gap.after),
            "gapUpper": number(|gap| gap.upto),
            "gapAccepted": number(|gap| u64::from(gap.is_accepted)),
        });
        let answer = client.json(Method::PUT, &path, Some(&body)).map_err(unanswered)?;
        if answer.status == StatusCode::CONFLICT {
            let reason = format!("somebody else writes for partition {}", self.partition);
            return Err(StoreError::Unavailable(reason));
        }
        version_of(&expect(&answer)?)
    }

    fn write_session(
        &self,
        client: &Blocking,
        session: &Session,
        batch: &Batch,
        position: u64,
    ) -> Result<Version, StoreError> {
        let mut bulk = Bulk::new(self.options.bulk);
        let mut sent = Vec::new();
        let mut touched = BTreeSet::new();
        for requests in [false, true] {
            let is_request = |change: &&Change| (change.entity == deletion::ENTITY.id) == requests;
            let is_nothing = |change: &Change| change.is_void() || change.entity == EntityId::ElementCount;
            let changes = batch.changes().iter().filter(|change| !is_nothing(change));
            for change in changes.filter(is_request) {
                self.push(&mut bulk, session, change, position)?;
                sent.push(change);
                touched.insert(change.entity);
                if bulk.is_full() {
                    check(client, &mut bulk, &mut sent)?;
                }
            }
            // A search for removals finds all rows of an instance.
            check(client, &mut bulk, &mut sent)?;
        }
        self.refresh(client, &touched)?;
        self.store(client, (position, session.epoch), &session.gaps, Some(&session.version))
    }

    fn push(
        &self,
        bulk: &mut Bulk,
        session: &Session,
        change: &Change,
        position: u64,
    ) -> Result<(), StoreError> {
        let entity = Entity::of(change.entity);
        let place = json!({
            "_index": self.options.alias(entity),
            "_id": document_id(&change.id),
            // An index that somebody has deleted is not made again without its schema.
            "require_alias": true,
        });
        let mut values = Map::new();
        let mut too_long = Vec::new();
        for (column, value) in &change.values {
            let column = &entity.columns[*column as usize];
            let value = to_json(value, column.kind)
                .ok_or_else(|| refused(change, format!("'{}' is no list of texts", column.name)))?;
            if holds_too_long(&value) && column.kind != Kind::Json {
                too_long.push(column.name);
            }
            values.insert(column.name.to_owned(), value);
        }
        let operation = match change.operation {
            Operation::Insert => "insert",
            Operation::Update => "update",
            Operation::Delete => "delete",
        };
        if change.operation == Operation::Insert {
            let id = &entity.columns[0];
            values.insert(id.name.to_owned(), to_json(&change.id.value(), id.kind).unwrap_or_default());
        }
        let (mut increments, mut peaks) = (Map::new(), Map::new());
        for (column, by) in &change.increments {
            let column = &entity.columns[usize::from(*column)];
            let added = if column.is_peak { &mut peaks } else { &mut increments };
            added.insert(column.name.to_owned(), (*by).into());
        }
        let mut source = json!({ "script": { "id": schema::APPLY.id(&self.options), "params": {
            "operation": operation,
            "now": export::now_ms(),
            "partition": self.partition.to_string(),
            "epoch": session.epoch,
            "from": session.position,
            "to": position,
            "values": values,
            "tooLong": too_long,
            "increments": increments,
            "peaks": peaks,
        } } });
        // The mark of a row that is deleted is needed, too, if the row never came or comes late.
        if change.operation != Operation::Update {
            source["scripted_upsert"] = true.into();
            source["upsert"] = json!({});
        }
        let mut action = json!({ "update": place });
        action["update"]["retry_on_conflict"] = CONFLICTS_MAX.into();
        bulk.push(&action, Some(source.to_string().as_bytes()));
        Ok(())
    }

    /// Removes all rows of an entity, marks of deleted ones included.
    fn clear_entity(&self, client: &Blocking, entity: &Entity) -> Result<(), StoreError> {
        let alias = self.options.alias(entity);
        let refresh = format!("/{alias}/_refresh");
        let path = format!("/{alias}/_delete_by_query?conflicts=proceed&refresh=true");
        let body = json!({ "query": { "match_all": {} } });
        for _ in 0..CONFLICTS_MAX {
            // A row that no search finds yet is not removed.
            expect(&client.json(Method::POST, &refresh, None).map_err(unanswered)?)?;
            let answer = expect(&client.json(Method::POST, &path, Some(&body)).map_err(unanswered)?)?;
            if let Some(failure) = answer["failures"].get(0) {
                return Err(StoreError::Unavailable(failure.to_string()));
            }
            if answer["version_conflicts"] == 0 {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable(format!("rows of {} are changed while all are removed", entity.name)))
    }

    /// Makes visible what was written.
    fn refresh(&self, client: &Blocking, touched: &BTreeSet<EntityId>) -> Result<(), StoreError> {
        if touched.is_empty() {
            return Ok(());
        }
        let aliases: Vec<_> = touched.iter().map(|id| self.options.alias(Entity::of(*id))).collect();
        let path = format!("/{}/_refresh", aliases.join(","));
        let body = expect(&client.json(Method::POST, &path, None).map_err(unanswered)?)?;
        // A copy that is not there is brought up to date before it is asked; one that is there must have done it.
        match body["_shards"]["failed"].as_u64() {
            Some(0) => Ok(()),
            _ => Err(StoreError::Unavailable(format!(
                "not all shards could be refreshed: {}",
                body["_shards"]
            ))),
        }
    }
}

impl Writer for OpensearchWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        self.session = None;
        let client = match self.client.take() {
            Some(client) => client,
            None => Blocking::new(&self.options.client).map_err(unanswered)?,
        };
        let client = self.client.insert(client);
        schema::prepare(client, &self.options)?;
        let path = format!("/{}/_doc/{}", self.options.progress(), self.partition);
        let known = found(&client.json(Method::GET, &path, None).map_err(unanswered)?)?;
        let number = |name: &str| {
            known.as_ref().map_or(Some(0), |known| known["_source"][name].as_u64()).ok_or_else(|| {
                StoreError::Schema(format!("the position of partition {} has no '{name}'", self.partition))
            })
        };
        let (position, epoch) = (number("position")?, number("epoch")? + 1);
        let version = known.as_ref().map(version_of).transpose()?;
        let client = self.client.as_ref().expect("it was put there above");
        let gaps = known.as_ref().map(gaps_of).unwrap_or_default();
        let version = self.store(client, (position, epoch), &gaps, version.as_ref())?;
        self.session = Some(Session { epoch, position, version, gaps });
        Ok(position)
    }

    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
        let (Some(client), Some(session)) = (&self.client, &self.session) else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let outcome = self.write_session(client, session, batch, position);
        match (outcome, &mut self.session) {
            (Ok(version), Some(session)) => {
                (session.position, session.version) = (position, version);
                Ok(())
            }
            // Without that row, it can be tried again.
            (Err(error @ StoreError::Refused { .. }), _) => Err(error),
            (outcome, _) => {
                self.session = None;
                outcome.map(|_| ())
            }
        }
    }

    fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        let session = self.session.as_ref();
        let session = session.ok_or_else(|| StoreError::Unavailable("the store is not open".to_owned()))?;
        Ok(session.gaps.clone())
    }

    fn note_gaps(&mut self, gaps: &[Gap]) -> Result<(), StoreError> {
        let (Some(client), Some(session)) = (&self.client, self.session.take()) else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let mut all = session.gaps;
        all.retain(|known| gaps.iter().all(|gap| gap.after != known.after));
        all.extend(gaps);
        all.sort_unstable();
        let place = (session.position, session.epoch);
        let version = self.store(client, place, &all, Some(&session.version))?;
        self.session = Some(Session { version, gaps: all, ..session });
        Ok(())
    }

    fn clear(&mut self, position: u64) -> Result<(), StoreError> {
        let (Some(client), Some(session)) = (&self.client, &self.session) else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let cleared = schema::entities().try_for_each(|entity| self.clear_entity(client, entity));
        let outcome =
            cleared.and_then(|()| self.store(client, (position, session.epoch), &[], Some(&session.version)));
        match (outcome, &mut self.session) {
            (Ok(version), Some(session)) => {
                (session.position, session.version) = (position, version);
                session.gaps.clear();
                Ok(())
            }
            (outcome, _) => {
                self.session = None;
                outcome.map(|_| ())
            }
        }
    }

    /// Documents are read as they are, whether searches find them or not.
    fn numbers(
        &mut self,
        entity: &'static Entity,
        columns: &[ColumnId],
        keys: &[Key],
    ) -> Result<Numbers, StoreError> {
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let names: Vec<_> = columns.iter().map(|column| entity.columns[usize::from(*column)].name).collect();
        let path = format!("/{}/_mget?_source_includes={}", self.options.alias(entity), names.join(","));
        let mut found = Numbers::default();
        for keys in keys.chunks(GET_MAX) {
            let ids: Vec<_> = keys.iter().map(|key| document_id(&RowId::Key(*key))).collect();
            let answer =
                client.json(Method::POST, &path, Some(&json!({ "ids": ids }))).map_err(unanswered)?;
            let rows = expect(&answer)?;
            for (key, row) in keys.iter().zip(rows["docs"].as_array().into_iter().flatten()) {
                if let Some(error) = row.get("error") {
                    return Err(StoreError::Unavailable(error.to_string()));
                }
                if row["found"] == true {
                    found.insert(*key, names.iter().map(|name| row["_source"][*name].as_i64()).collect());
                }
            }
        }
        Ok(found)
    }

    /// A mark of a row that was deleted is none.
    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError> {
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let path = format!("/{}/_doc/{}", self.options.alias(entity), escaped(&document_id(id)));
        let row = found(&client.json(Method::GET, &path, None).map_err(unanswered)?)?;
        Ok(row.is_some_and(|row| row["_source"].get(schema::DELETED).is_none()))
    }
}

/// Sends what waits, and looks at what became of each row.
fn check(client: &Blocking, bulk: &mut Bulk, sent: &mut Vec<&Change>) -> Result<(), StoreError> {
    if bulk.is_empty() {
        return Ok(());
    }
    let outcomes = client.bulk(bulk).map_err(unanswered)?;
    let mut refusal = None;
    for (outcome, change) in outcomes.into_iter().zip(sent.drain(..)) {
        match outcome {
            // A missing row needs no update.
            Outcome::Done | Outcome::Missing => {}
            Outcome::Busy(reason) => return Err(StoreError::Unavailable(reason)),
            Outcome::Refused(reason) => _ = refusal.get_or_insert_with(|| refused(change, reason)),
        }
    }
    refusal.map_or(Ok(()), Err)
}

fn refused(change: &Change, reason: String) -> StoreError {
    StoreError::Refused { entity: Entity::of(change.entity).name, row: format!("{:?}", change.id), reason }
}

/// The gaps that the document of a position tells.
fn gaps_of(body: &Json) -> Vec<Gap> {
    let numbers = |name: &str| {
        let list = body["_source"][name].as_array().cloned().unwrap_or_default();
        list.iter().map(|number| number.as_u64().unwrap_or_default()).collect::<Vec<_>>()
    };
    let bounds = numbers("gapLower").into_iter().zip(numbers("gapUpper")).zip(numbers("gapAccepted"));
    bounds.map(|((after, upto), accepted)| Gap { after, upto, is_accepted: accepted > 0 }).collect()
}

fn version_of(body: &Json) -> Result<Version, StoreError> {
    let number = |name: &str| body[name].as_u64();
    match (number("_seq_no"), number("_primary_term")) {
        (Some(seq_no), Some(primary_term)) => Ok(Version { seq_no, primary_term }),
        _ => Err(StoreError::Unavailable("the position was answered without a version".to_owned())),
    }
}
