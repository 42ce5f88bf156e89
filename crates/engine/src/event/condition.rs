//! Conditional events: who waits for a condition, and when it is looked at.
//!
//! A condition is evaluated once when its subscription opens, then whenever a variable that it names is created or
//! updated where its scope sees it. All variables of one change are looked at together, in a step of their own. The
//! subscriptions of an instance are walked by key: a scope opens its own before anything inside it can, so the walk
//! goes from the top down. A process without conditional events pays a look at its model, nothing else.

use bpmn::Process;
use bpmn::graph::{ConditionDefinition, ElementIndex, ElementKind, Trigger};
use protocol::{ConditionalSubscriptionRecord, Document, Intent, Key, Name, compose_key};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::rows_of_model;
use crate::core::step::{Step, VariableUpdate};
use crate::definition::expression::Scope;
use crate::entity::tables::Tables;
use crate::entity::{ConditionSubscription, Definition, ErrorType, Phase, StartSubscription};
use crate::event::awaited::{Awaited, Rows};
use crate::event::record::awaited_type;

/// Scopes above each other, at most; a guard, models nest far less.
const MAX_SCOPES: usize = 10_000;

impl Awaited for ConditionSubscription {
    fn tables(tables: &Tables) -> Rows<'_, Self> {
        (&tables.condition_subscriptions, &tables.condition_by_owner)
    }

    fn element(&self) -> ElementIndex {
        self.element
    }

    fn close(&self, work: &mut CommandContext, key: Key) -> Result<(), StateError> {
        work.tables.condition_by_owner.delete(&(self.element_instance_key, key));
        work.tables.condition_by_instance.delete(&(self.process_instance_key, key));
        work.tables.condition_subscriptions.delete(&key);
        work.record_condition(key, Intent::Deleted, self)
    }

    fn migrate(
        &self,
        work: &mut CommandContext,
        key: Key,
        element: ElementIndex,
        at: &ActiveElement,
    ) -> Result<(), StateError> {
        let subscription = Self {
            element,
            definition_key: at.instance.definition_key,
            process_id: at.instance.process_id.clone(),
            ..self.clone()
        };
        work.record_condition(key, Intent::Migrated, &subscription)?;
        work.tables.condition_subscriptions.put(key, subscription);
        Ok(())
    }
}

impl CommandContext<'_> {
    /// Whether a condition is met now. Null counts as not met: its variables may not be there yet.
    pub(super) fn is_met(&self, condition: &ConditionDefinition, scope: &Scope) -> Result<bool, Failure> {
        let value = self.evaluate(&condition.expression, scope, ErrorType::ConditionError)?;
        match value.as_bool() {
            Some(met) => Ok(met),
            None if value.type_name() == "NULL" => Ok(false),
            None => Err(Failure::incident(
                ErrorType::ConditionError,
                format!(
                    "Expected result of the expression '{}' to be 'BOOLEAN', but was '{}'.",
                    condition.expression.text(),
                    value.type_name()
                ),
            )),
        }
    }

    /// Opens a subscription; `is_met` is what its condition gave.
    pub(super) fn open_condition(
        &mut self,
        at: &ActiveElement,
        element: ElementIndex,
        is_met: bool,
    ) -> Result<(), StateError> {
        let subscription = ConditionSubscription {
            element_instance_key: at.key,
            process_instance_key: at.process_instance_key,
            definition_key: at.instance.definition_key,
            process_id: at.instance.process_id.clone(),
            element,
            tenant_id: at.instance.tenant_id.clone(),
        };
        let key = self.next_key();
        self.record_condition(key, Intent::Created, &subscription)?;
        self.tables.condition_by_owner.insert((at.key, key), ());
        self.tables.condition_by_instance.insert((at.process_instance_key, key), ());
        self.tables.condition_subscriptions.insert(key, subscription);
        if is_met {
            self.steps.push_back(Step::TriggerCondition { subscription_key: key });
        }
        Ok(())
    }

    /// Notes that a variable was set: conditions on it are evaluated once for all variables of a change.
    pub fn touch(
        &mut self,
        instance_key: Key,
        scope_key: Key,
        name: &Name,
        created: bool,
    ) -> Result<(), StateError> {
        let waits = self.instance(instance_key)?.is_some_and(|(_, process)| process.has_conditions);
        if !waits
            || self.tables.condition_by_instance.keys((instance_key, 0)..(instance_key + 1, 0), 1)?.is_empty()
        {
            return Ok(());
        }
        let stamp = compose_key(self.options.partition_id, self.meta.key_counter);
        let touch = VariableUpdate { scope_key, name: name.clone(), created, stamp };
        for step in &mut self.steps {
            if let Step::EvaluateConditions { process_instance_key, touches, after: 0 } = step
                && *process_instance_key == instance_key
            {
                touches.push(touch);
                return Ok(());
            }
        }
        let touches = vec![touch];
        self.steps.push_back(Step::EvaluateConditions {
            process_instance_key: instance_key,
            touches,
            after: 0,
        });
        Ok(())
    }

    /// Looks at the next slice of conditions.
    pub(super) fn evaluate_conditions(
        &mut self,
        process_instance_key: Key,
        touches: Vec<VariableUpdate>,
        after: Key,
    ) -> Result<(), Failure> {
        let limit = self.options.max_children_per_step;
        let range = (process_instance_key, after + 1)..(process_instance_key + 1, 0);
        let slice = self.tables.condition_by_instance.keys(range, limit)?;
        let last = slice.last().map(|(_, key)| *key);
        let more = slice.len() == limit;
        for (_, key) in slice {
            if self.is_touched(key, &touches)? {
                self.trigger_condition(key)?;
            }
            // Each condition may take as much as any step; the others are looked at in one of their own.
            if self.meter.is_heavy(&self.options.work) && last != Some(key) {
                self.steps.push_back(Step::EvaluateConditions { process_instance_key, touches, after: key });
                return Ok(());
            }
        }
        if let Some(after) = last.filter(|_| more) {
            self.steps.push_back(Step::EvaluateConditions { process_instance_key, touches, after });
        }
        Ok(())
    }

    /// Whether one of the changes concerns a subscription: its condition names the variable, and sees this one.
    fn is_touched(&mut self, key: Key, touches: &[VariableUpdate]) -> Result<bool, Failure> {
        let Some(row) = self.tables.condition_subscriptions.get(&key)? else { return Ok(false) };
        let process = self.definitions.process(self.tables, row.definition_key)?;
        let Some(condition) = condition_of(&process, row.element) else { return Ok(false) };
        for touch in touches {
            let wanted = if touch.created { condition.on_create } else { condition.on_update };
            if wanted
                && key <= touch.stamp
                && condition.expression.variables().iter().any(|name| **name == *touch.name)
                && self.tables.owning_scope(row.element_instance_key, &touch.name)? == touch.scope_key
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Evaluates a condition and triggers its event if it is met. A condition that fails to evaluate is not met.
    pub(super) fn trigger_condition(&mut self, key: Key) -> Result<(), Failure> {
        let Some(row) = self.tables.condition_subscriptions.get(&key)? else { return Ok(()) };
        let host = row.element_instance_key;
        let Some((at, instance)) = self.at(host)? else { return Ok(()) };
        let Some(condition) = condition_of(&at.process, row.element) else { return Ok(()) };
        if instance.phase != Phase::Activated || !self.accepts(host, row.element)? || self.is_doomed(host)? {
            return Ok(());
        }
        match self.is_met(condition, &Scope::of(host)) {
            Ok(true) => {
                self.record_condition(key, Intent::Triggered, &row)?;
                self.trigger(host, row.element, &Document::empty())
            }
            Ok(false) | Err(Failure::Incident { .. }) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Whether something around an element instance is about to end it.
    fn is_doomed(&self, key: Key) -> Result<bool, StateError> {
        let mut key = key;
        for _ in 0..MAX_SCOPES {
            let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(true) };
            if row.scope_key == 0 {
                return Ok(false);
            }
            key = row.scope_key;
            let Some(scope) = self.tables.element_instances.get(&key)? else { return Ok(true) };
            if scope.phase == Phase::Terminating || scope.interrupted || scope.pending_event.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records a step in the life of a subscription.
    pub(super) fn record_condition(
        &mut self,
        key: Key,
        intent: Intent,
        row: &ConditionSubscription,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let process = work.definitions.find_process(work.tables, row.definition_key)?;
            let record = record(
                process.as_deref(),
                row.definition_key,
                &row.process_id,
                &row.tenant_id,
                row.element,
                Some(row.element_instance_key),
                Some(row.process_instance_key),
            );
            let root_process_instance_key = work.root_of(row.process_instance_key)?;
            Ok(ConditionalSubscriptionRecord { root_process_instance_key, ..record })
        })
    }

    /// Lets a start event wait for its condition.
    pub(super) fn arm_condition(
        &mut self,
        definition_key: Key,
        definition: &Definition,
        model: &Process,
        element: ElementIndex,
    ) {
        let key = self.next_key();
        self.record_condition_start(key, Intent::Created, definition_key, definition, model, element);
        let subscription = StartSubscription { key, definition_key, element };
        self.tables.condition_starts.put((definition_key, element), subscription);
    }

    /// Stops the start events of a definition from waiting for conditions.
    pub(super) fn disarm_conditions(
        &mut self,
        definition_key: Key,
        definition: &Definition,
        model: &Process,
    ) -> Result<(), Failure> {
        let range = (definition_key, 0)..=(definition_key, u32::MAX);
        for (at, row) in rows_of_model(&self.tables.condition_starts, range)? {
            self.tables.condition_starts.delete(&at);
            self.record_condition_start(row.key, Intent::Deleted, definition_key, definition, model, at.1);
        }
        Ok(())
    }

    fn record_condition_start(
        &mut self,
        key: Key,
        intent: Intent,
        definition_key: Key,
        definition: &Definition,
        model: &Process,
        element: ElementIndex,
    ) {
        let (process_id, tenant_id) = (&definition.process_id, &definition.tenant_id);
        self.emit(key, intent, |_| {
            record(Some(model), definition_key, process_id, tenant_id, element, None, None)
        });
    }
}

/// The condition that a catch event waits for.
pub(crate) fn condition_of(process: &Process, event: ElementIndex) -> Option<&ConditionDefinition> {
    let trigger = match &process.element(event).kind {
        ElementKind::IntermediateCatch(trigger) => trigger,
        ElementKind::Boundary(boundary) => &boundary.trigger,
        ElementKind::StartEvent(start) => &start.trigger,
        _ => return None,
    };
    if let Trigger::Condition(condition) = trigger { Some(condition) } else { None }
}

fn record(
    process: Option<&Process>,
    process_definition_key: Key,
    process_id: &Name,
    tenant_id: &Name,
    element: ElementIndex,
    host: Option<Key>,
    process_instance_key: Option<Key>,
) -> ConditionalSubscriptionRecord {
    let condition = process.and_then(|process| condition_of(process, element));
    let mut events = Vec::new();
    if let Some(condition) = condition.filter(|condition| !condition.on_create || !condition.on_update) {
        events.push(Name::from(if condition.on_create { "create" } else { "update" }));
    }
    ConditionalSubscriptionRecord {
        scope_key: host,
        element_instance_key: host,
        process_instance_key,
        process_definition_key,
        bpmn_process_id: process_id.clone(),
        catch_event_id: process.map(|process| Name::from(&process.element(element).id)).unwrap_or_default(),
        interrupting: process.is_some_and(|process| process.interrupts(element)),
        condition: condition.map(|condition| Name::from(condition.expression.text())).unwrap_or_default(),
        variable_names: condition
            .map(|condition| condition.expression.variables().iter().map(Name::from).collect())
            .unwrap_or_default(),
        variable_events: events,
        tenant_id: tenant_id.clone(),
        element_type: process.map(|process| awaited_type(process, element)),
        root_process_instance_key: None,
    }
}
