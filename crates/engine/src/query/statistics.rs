//! Counts of what runs: by definition, and by what incidents tell of. Message subscriptions, to be counted.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    ErrorView, FailingDefinitionView, Instances, Key, Name, QueryReply, RunningDefinitionView,
    SubscriptionView, error_hash,
};

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View};
use crate::entity::Incident;

/// Definitions that a scan looks at before others get their turn: the model of each may have to be read.
const DEFINITIONS_PER_SLICE: usize = 32;
/// Errors that are told apart. Their messages may be long.
const ERRORS_MAX: usize = 10_000;

/// Definitions with running instances, in the order of their keys, up to a limit; of one process only, if it is named.
pub(super) fn running(process_id: Option<Name>, limit: usize) -> Read {
    Read::More(Box::new(Running { after: 0, process_id, limit, found: Vec::new() }))
}

struct Running {
    after: Key,
    process_id: Option<Name>,
    limit: usize,
    found: Vec<RunningDefinitionView>,
}

impl Scan for Running {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        let rows = view.tables.running_instances.scan(self.after + 1.., DEFINITIONS_PER_SLICE)?;
        let is_last = rows.len() < DEFINITIONS_PER_SLICE;
        for (key, running) in rows {
            self.after = key;
            let Some(definition) = view.tables.definitions.get(&key)? else { continue };
            if self.process_id.as_ref().is_some_and(|id| *id != definition.process_id) {
                continue;
            }
            let process = view.process(key)?;
            self.found.push(RunningDefinitionView {
                key,
                process_id: definition.process_id.clone(),
                name: process.name.as_ref().map(Name::from),
                version: definition.version,
                tenant_id: definition.tenant_id.clone(),
                running: *running,
                with_incidents: view.tables.instances_with_incidents.get(&key)?.map_or(0, |count| *count),
            });
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::RunningDefinitions { definitions: self.found, has_more }))
    }
}

/// Errors of incidents of some instances, in the order of their messages. Up to `limit` incidents are looked at.
pub(super) fn by_error(limit: usize, of: Instances) -> Read {
    incidents(ByError { of, is_full: false, found: BTreeMap::new() }, limit)
}

/// Definitions whose instances have incidents of one error, in the order of their keys. Up to `limit` incidents are
/// looked at.
pub(super) fn by_definition(hash: i32, limit: usize) -> Read {
    incidents(ByDefinition { hash, found: BTreeMap::new() }, limit)
}

fn incidents(tally: impl Tally + 'static, left: usize) -> Read {
    Read::More(Box::new(Incidents { after: 0, left, tally }))
}

/// All incidents, as far as a limit goes.
struct Incidents<T> {
    after: Key,
    left: usize,
    tally: T,
}

trait Tally: Send {
    fn add(&mut self, incident: &Incident, view: &View<'_>) -> Result<(), ReadError>;

    /// `is_cut` tells that there are incidents that were not looked at.
    fn reply(self, is_cut: bool, view: &mut View<'_>) -> Result<QueryReply, ReadError>;
}

impl<T: Tally + 'static> Scan for Incidents<T> {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        let room = self.left.min(ROWS_PER_SLICE);
        let rows = view.tables.incidents.scan(self.after + 1.., room)?;
        let is_last = rows.len() < room;
        self.left -= rows.len();
        for (key, incident) in rows {
            self.after = key;
            self.tally.add(&incident, view)?;
        }
        if !is_last && self.left > 0 {
            return Ok(Read::More(self));
        }
        let is_cut = view.tables.incidents.first(self.after + 1..)?.is_some();
        Ok(Read::Done(self.tally.reply(is_cut, view)?))
    }
}

struct ByError {
    /// Instances whose errors count.
    of: Instances,
    /// Whether there are more errors than are told apart.
    is_full: bool,
    found: BTreeMap<Name, BTreeSet<Key>>,
}

impl Tally for ByError {
    fn add(&mut self, incident: &Incident, view: &View<'_>) -> Result<(), ReadError> {
        let instance_key = incident.process_instance_key;
        if !self.of.is_all() {
            let instance = view.tables.instances.get(&instance_key)?;
            if !instance.is_some_and(|instance| self.of.has(&instance.process_id, &instance.tenant_id)) {
                return Ok(());
            }
        }
        if let Some(instances) = self.found.get_mut(&incident.error_message) {
            instances.insert(instance_key);
        } else if self.found.len() < ERRORS_MAX {
            self.found.insert(incident.error_message.clone(), BTreeSet::from([instance_key]));
        } else {
            self.is_full = true;
        }
        Ok(())
    }

    fn reply(self, is_cut: bool, _: &mut View<'_>) -> Result<QueryReply, ReadError> {
        let errors = self.found.into_iter();
        let errors =
            errors.map(|(message, instances)| ErrorView { message, instances: instances.len() as u64 });
        Ok(QueryReply::Errors { errors: errors.collect(), has_more: self.is_full || is_cut })
    }
}

struct ByDefinition {
    hash: i32,
    found: BTreeMap<Key, BTreeSet<Key>>,
}

impl Tally for ByDefinition {
    fn add(&mut self, incident: &Incident, view: &View<'_>) -> Result<(), ReadError> {
        let instance_key = incident.process_instance_key;
        if error_hash(&incident.error_message) == self.hash
            && let Some(instance) = view.tables.instances.get(&instance_key)?
        {
            self.found.entry(instance.definition_key).or_default().insert(instance_key);
        }
        Ok(())
    }

    fn reply(self, is_cut: bool, view: &mut View<'_>) -> Result<QueryReply, ReadError> {
        let mut definitions = Vec::with_capacity(self.found.len());
        for (key, instances) in self.found {
            let Some(definition) = view.tables.definitions.get(&key)? else { continue };
            let process = view.process(key)?;
            definitions.push(FailingDefinitionView {
                key,
                process_id: definition.process_id.clone(),
                name: process.name.as_ref().map(Name::from),
                version: definition.version,
                tenant_id: definition.tenant_id.clone(),
                instances: instances.len() as u64,
            });
        }
        Ok(QueryReply::FailingDefinitions { definitions, has_more: is_cut })
    }
}

/// Message subscriptions in the order of the keys, up to a limit.
pub(super) fn subscriptions(limit: usize) -> Read {
    Read::More(Box::new(Subscriptions { after: 0, limit, found: Vec::new() }))
}

struct Subscriptions {
    after: Key,
    limit: usize,
    found: Vec<SubscriptionView>,
}

impl Scan for Subscriptions {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let rows = view.tables.subscriptions.scan(self.after + 1.., room)?;
        let is_last = rows.len() < room;
        for (key, row) in rows {
            self.after = key;
            let process = view.process(row.definition_key)?;
            self.found.push(SubscriptionView {
                key,
                element_id: Name::from(&process.element(row.element).id),
                element_instance_key: row.element_instance_key,
                process_instance_key: row.process_instance_key,
                process_definition_key: row.definition_key,
                process_id: row.process_id.clone(),
                message_name: row.message_name.clone(),
                correlation_key: row.correlation_key.clone(),
                tenant_id: row.tenant_id.clone(),
            });
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::Subscriptions { subscriptions: self.found, has_more }))
    }
}
