//! Modifies a process instance: activations first, then terminations, all or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bpmn::Process;
use bpmn::graph::{ElementIndex, PROCESS};
use protocol::{
    ActivateInstructionRecord, AncestorScope, ElementSource, Intent, Key, ModifyInstance, MoveElement,
    MoveInstructionRecord, Name, ProcessInstanceModificationRecord, Rejection, Response, ScopeVariables,
    TerminateInstructionRecord, VariableInstructionRecord,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{Instance, Phase};
use crate::process::activation::{Place, Target, activatable, explain, scopes};
use crate::process::children::is_body;

/// Scopes above each other, at most; a guard, models nest far less.
const MAX_SCOPES: usize = 10_000;
/// Instances of an element that one instruction may name by the ID of the element.
const SOURCES_MAX: usize = 1_000_000;

impl CommandContext<'_> {
    pub(super) fn modify_instance(&mut self, modify: &ModifyInstance) -> Result<Response, Failure> {
        let key = modify.process_instance_key;
        let Some((instance, process)) = self.instance(key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to modify process instance with key '{key}', but no such process instance was found"
            ))
            .into());
        };
        self.refuse_halted(key, &format!("modify process instance with key '{key}'"))?;
        self.blame(key);
        self.change_instance(modify, &instance, &process)
            .map_err(|failure| explain(failure, &format!("modify process instance with key '{key}'")))?;
        let modification_key = self.next_key();
        self.emit(modification_key, Intent::Modified, |_| record(modify, &instance));
        Ok(Response::Done)
    }

    fn change_instance(
        &mut self,
        modify: &ModifyInstance,
        instance: &Instance,
        process: &Arc<Process>,
    ) -> Result<(), Failure> {
        let key = modify.process_instance_key;
        let row = self.tables.element_instances.get(&key)?;
        if row.is_none_or(|row| row.phase != Phase::Activated || row.interrupted) {
            return Err(refused("it is not active"));
        }
        let mut targets = Vec::new();
        let mut sources = Vec::new();
        for activate in &modify.activate {
            let element = activatable(process, &activate.element_id).map_err(refused)?;
            let place = activate.ancestor_key.map_or(Place::New, Place::Below);
            targets.push(Target { element, place, variables: &activate.variables });
        }
        for step in &modify.moves {
            let element = activatable(process, &step.target_id).map_err(refused)?;
            for source in self.find_sources(key, process, &step.source)? {
                if source == key {
                    return Err(refused("the process instance itself cannot be moved"));
                }
                let place = self.place_of_move(key, process, step, source, element)?;
                targets.push(Target { element, place, variables: &step.variables });
                sources.push(source);
            }
        }
        for source in &modify.terminate {
            sources.extend(self.find_sources(key, process, source)?);
        }
        for target in &targets {
            self.activate_inside(key, target)?;
        }
        if instance.parent.is_some() && self.would_end(key, &sources)? {
            return Err(refused(
                "it would end, and it was created by a call activity: terminate the call activity in the parent \
                 process instance instead",
            ));
        }
        for source in sources {
            self.steps.push_back(Step::Withdraw { key: source });
        }
        Ok(())
    }

    /// The element instances that are to be terminated, in the order of their keys.
    fn find_sources(
        &mut self,
        instance_key: Key,
        process: &Process,
        source: &ElementSource,
    ) -> Result<Vec<Key>, Failure> {
        let id = match source {
            ElementSource::Key(key) => {
                let row = self.tables.element_instances.get(key)?;
                let row = row.filter(|row| row.process_instance_key == instance_key);
                if row.is_none_or(|row| row.phase == Phase::Terminating) {
                    return Err(refused(format!("it has no active element instance with key '{key}'")));
                }
                return Ok(vec![*key]);
            }
            ElementSource::Id(id) => id,
        };
        let Some(&element) = process.by_id.get(&id.0) else {
            return Err(refused(format!("there is no element '{id}' in process '{}'", process.id)));
        };
        let mut found = vec![instance_key];
        for scope in scopes(process, element).into_iter().chain((element != PROCESS).then_some(element)) {
            let mut inside = Vec::new();
            for scope_key in found {
                inside.extend(self.active_children(scope_key, scope, SOURCES_MAX)?);
            }
            if inside.len() >= SOURCES_MAX {
                let reason = format!("it has {SOURCES_MAX} active instances of element '{id}', or more");
                return Err(refused(reason));
            }
            found = inside;
        }
        if found.is_empty() {
            return Err(refused(format!("it has no active instance of element '{id}'")));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Where the target of a move goes.
    fn place_of_move(
        &self,
        instance_key: Key,
        process: &Process,
        step: &MoveElement,
        source: Key,
        target: ElementIndex,
    ) -> Result<Place, Failure> {
        let around = scopes(process, target);
        let mut key = source;
        match step.ancestor {
            AncestorScope::Only => return Ok(Place::Only),
            AncestorScope::Direct(key) => return Ok(Place::Below(key)),
            AncestorScope::SourceParent => {
                let scope_of = |key| self.tables.element_instances.get(&key);
                let mut parent = scope_of(source)?.map_or(0, |row| row.scope_key);
                if let Some(row) = scope_of(parent)?.filter(|row| is_body(process, row.element)) {
                    // Nothing else can be in a body: its scope is meant.
                    parent = row.scope_key;
                }
                return Ok(Place::Below(parent));
            }
            AncestorScope::Inferred => {}
        }
        for _ in 0..MAX_SCOPES {
            let Some(row) = self.tables.element_instances.get(&key)? else { break };
            if key != source && around.contains(&row.element) {
                return Ok(Place::Below(key));
            }
            if row.scope_key == 0 {
                break;
            }
            key = row.scope_key;
        }
        Ok(Place::Below(instance_key))
    }

    /// Whether nothing would be left in a process instance without these element instances.
    fn would_end(&mut self, instance_key: Key, sources: &[Key]) -> Result<bool, Failure> {
        let mut gone: BTreeSet<Key> = BTreeSet::new();
        let mut fewer: BTreeMap<Key, u32> = BTreeMap::new();
        let mut left: Vec<Key> = sources.to_vec();
        while let Some(key) = left.pop() {
            if !gone.insert(key) {
                continue;
            }
            let Some(row) = self.tables.element_instances.get(&key)? else { continue };
            let Some(scope) = self.tables.element_instances.get(&row.scope_key)? else { continue };
            let fewer = fewer.entry(row.scope_key).or_default();
            *fewer += 1;
            let is_empty = *fewer >= scope.active_children && scope.waiting_tokens == 0;
            if is_empty && !self.waits_for_decision(row.scope_key, &scope)? {
                left.push(row.scope_key);
            }
        }
        Ok(gone.contains(&instance_key))
    }
}

fn refused(reason: impl Into<String>) -> Failure {
    Rejection::invalid_argument(reason).into()
}

fn record(modify: &ModifyInstance, instance: &Instance) -> ProcessInstanceModificationRecord {
    let parts = |source: &ElementSource| match source {
        ElementSource::Key(key) => (Name::default(), Some(*key)),
        ElementSource::Id(id) => (id.clone(), None),
    };
    let activate = modify.activate.iter().map(|activate| ActivateInstructionRecord {
        element_id: activate.element_id.clone(),
        ancestor_scope_key: activate.ancestor_key,
        variable_instructions: variables(&activate.variables),
    });
    let moves = modify.moves.iter().map(|step| {
        let (source_element_id, source_element_instance_key) = parts(&step.source);
        MoveInstructionRecord {
            source_element_id,
            source_element_instance_key,
            target_element_id: step.target_id.clone(),
            variable_instructions: variables(&step.variables),
            ancestor_scope_key: match step.ancestor {
                AncestorScope::Direct(key) => Some(key),
                _ => None,
            },
            infer_ancestor_scope_from_source_hierarchy: step.ancestor == AncestorScope::Inferred,
            use_source_parent_key_as_ancestor_scope_key: step.ancestor == AncestorScope::SourceParent,
        }
    });
    let terminate = modify.terminate.iter().map(|source| {
        let (element_id, element_instance_key) = parts(source);
        TerminateInstructionRecord { element_id, element_instance_key }
    });
    ProcessInstanceModificationRecord {
        process_instance_key: modify.process_instance_key,
        activate_instructions: activate.collect(),
        move_instructions: moves.collect(),
        terminate_instructions: terminate.collect(),
        tenant_id: instance.tenant_id.clone(),
        root_process_instance_key: instance.root_key,
    }
}

fn variables(sets: &[ScopeVariables]) -> Vec<VariableInstructionRecord> {
    let record = |set: &ScopeVariables| VariableInstructionRecord {
        element_id: set.scope_id.clone(),
        variables: set.variables.clone(),
    };
    sets.iter().map(record).collect()
}
