//! One command at work: its view of the state, its steps, its effects.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bpmn::Process;
use bpmn::graph::{Element, ElementIndex};
use protocol::{Key, compose_key};
use state::StateError;

use crate::core::counters::Counters;
use crate::core::effects::Effects;
use crate::core::meter::Meter;
use crate::core::options::Options;
use crate::core::origin::CommandOrigin;
use crate::core::recorded::LastRecorded;
use crate::core::step::Step;
use crate::definition::Definitions;
use crate::entity::tables::Tables;
use crate::entity::{ElementInstance, Instance, Meta};
use crate::identity::access::rights::Rights;

/// The context of a command at work: state, steps, effects, and on whose behalf.
pub(crate) struct CommandContext<'a> {
    pub tables: &'a mut Tables,
    pub meta: &'a mut Meta,
    pub definitions: &'a mut Definitions,
    pub counters: &'a mut Counters,
    pub rights: &'a mut Rights,
    pub meter: &'a Meter,
    pub options: &'a Options,
    /// Version of the engine that the batch asks for.
    pub version: u16,
    pub effects: &'a mut Effects,
    pub steps: VecDeque<Step>,
    /// Caller of the command, and references that records repeat.
    pub origin: CommandOrigin,
    /// Steps' worth of other work.
    pub extra_steps: usize,
    pub command_position: u64,
    /// Owner of the left-over step at work (`left_over.rs`); 0 for none.
    pub step_owner: Key,
    /// Instance that a panic is blamed on; 0 for none.
    pub current_instance: Key,
    /// Instance to blame instead if that does not exist, because this command was about to create it.
    pub first_instance: Key,
    /// Whether a message, signal or condition has started an instance.
    pub has_started_others: bool,
    /// Whether the command holds even if the engine fails on a step of it.
    pub steps_stand_alone: bool,
    /// The instance of the last record.
    pub recorded: LastRecorded,
    /// The instance last asked for.
    pub cached: CachedInstance,
}

/// A process instance that is asked for several times in a row.
#[derive(Default)]
pub(crate) struct CachedInstance(Option<(Key, Arc<Instance>, Arc<Process>)>);

/// A process instance with its model.
pub(crate) type Modelled = (Arc<Instance>, Arc<Process>);

/// An element instance at work, with its place in the model.
#[derive(Clone)]
pub(crate) struct ActiveElement {
    pub key: Key,
    pub process_instance_key: Key,
    pub scope_key: Key,
    pub index: ElementIndex,
    pub instance: Arc<Instance>,
    pub process: Arc<Process>,
}

impl ActiveElement {
    pub fn element(&self) -> &Element {
        self.process.element(self.index)
    }
}

impl CommandContext<'_> {
    /// Works as another caller for the time of a closure.
    pub fn on_behalf_of<T>(&mut self, origin: CommandOrigin, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.origin, origin);
        let done = run(self);
        self.origin = outer;
        done
    }

    /// Names the process instance that a panic from now on is blamed on.
    pub fn blame(&mut self, process_instance_key: Key) {
        self.current_instance = process_instance_key;
        self.options.at_work.store(process_instance_key, Ordering::Relaxed);
        if self.first_instance == 0 {
            self.first_instance = process_instance_key;
        }
    }

    /// The engine's clock, Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.meta.now_ms
    }

    /// A key that nobody has had.
    pub fn next_key(&mut self) -> Key {
        self.meta.key_counter += 1;
        compose_key(self.options.partition_id, self.meta.key_counter)
    }

    /// A process instance with its model.
    pub fn instance(&mut self, key: Key) -> Result<Option<Modelled>, StateError> {
        if let Some((cached, instance, process)) = &self.cached.0
            && *cached == key
        {
            return Ok(Some((Arc::clone(instance), Arc::clone(process))));
        }
        let Some(instance) = self.tables.instances.get(&key)? else { return Ok(None) };
        let process = self.definitions.process(self.tables, instance.definition_key)?;
        self.cached.0 = Some((key, Arc::clone(&instance), Arc::clone(&process)));
        Ok(Some((instance, process)))
    }

    /// Forgets the cached instance after a change to its row.
    pub fn forget_cached(&mut self) {
        self.cached.0 = None;
    }

    /// An element instance with its place in the model, if it lives.
    pub fn at(&mut self, key: Key) -> Result<Option<(ActiveElement, Arc<ElementInstance>)>, StateError> {
        let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(None) };
        self.blame(row.process_instance_key);
        let Some((instance, process)) = self.instance(row.process_instance_key)? else { return Ok(None) };
        let at = ActiveElement {
            key,
            process_instance_key: row.process_instance_key,
            scope_key: row.scope_key,
            index: row.element,
            instance,
            process,
        };
        Ok(Some((at, row)))
    }
}
