//! Random modifications of instances of random models. Many are refused; each applies completely or not at all.

use bpmn::Limits;
use engine::entity::Phase;
use protocol::{
    ActivationInstruction, AncestorScope, Command, ElementSource, Key, ModifyInstance, MoveElement, Name,
    ScopeVariables,
};

use crate::random_process::Run;
use crate::support::document;
use crate::support::model::bpmn;

/// IDs of all elements of a model.
pub fn element_ids(model: &str) -> Vec<Name> {
    let processes = bpmn::parse(bpmn(model).as_bytes(), &Limits::default()).unwrap_or_default();
    processes.iter().flat_map(|process| &process.elements).map(|element| Name::from(&element.id)).collect()
}

impl Run {
    /// Sometimes one or two elements to start before.
    pub fn start_instructions(&mut self) -> Vec<Name> {
        let count = self.random.below(3);
        (0..count).map(|_| self.any_element()).collect()
    }

    pub fn modify(&mut self) {
        let Some(process_instance_key) = self.any_instance() else { return };
        let mut modify = ModifyInstance::of(process_instance_key);
        for _ in 0..=self.random.below(2) {
            match self.random.below(4) {
                0 | 1 => modify.activate.push(ActivationInstruction {
                    element_id: self.any_element(),
                    ancestor_key: if self.random.percent(70) { None } else { self.any_element_instance() },
                    variables: self.any_variables(),
                }),
                2 => modify.moves.push(MoveElement {
                    source: self.any_source(),
                    target_id: self.any_element(),
                    ancestor: match self.random.below(4) {
                        0 => AncestorScope::Only,
                        1 => AncestorScope::SourceParent,
                        2 => self.any_element_instance().map_or(AncestorScope::Only, AncestorScope::Direct),
                        _ => AncestorScope::Inferred,
                    },
                    variables: self.any_variables(),
                }),
                _ => modify.terminate.push(self.any_source()),
            }
        }
        self.run(Command::ModifyInstance(modify));
    }

    fn any_element(&mut self) -> Name {
        let at = self.random.below(self.element_ids.len() as u64) as usize;
        self.element_ids[at].clone()
    }

    fn any_source(&mut self) -> ElementSource {
        match self.any_element_instance() {
            Some(key) if self.random.percent(80) => ElementSource::Key(key),
            _ => ElementSource::Id(self.any_element()),
        }
    }

    fn any_variables(&mut self) -> Vec<ScopeVariables> {
        if self.random.percent(70) {
            return vec![];
        }
        let scope_id = if self.random.percent(50) { Name::default() } else { self.any_element() };
        vec![ScopeVariables { scope_id, variables: document(r#"{"r":5,"key":"k1"}"#) }]
    }

    pub fn any_instance(&mut self) -> Option<Key> {
        let keys = self.harness.engine().tables().instances.keys(.., usize::MAX).unwrap();
        if keys.is_empty() { None } else { Some(keys[self.random.below(keys.len() as u64) as usize]) }
    }

    /// Cancels the instances that cannot end.
    pub fn cancel_stuck(&mut self) {
        for root_key in self.roots() {
            self.cancel(root_key);
        }
    }

    /// Whether an instance cannot end: a join waits for a token that a modification removed, an expression fails on a
    /// variable that it skipped, or an ad-hoc sub-process without running elements has a false condition.
    pub fn is_stuck(&self, root_key: Key) -> bool {
        let tables = self.harness.engine().tables();
        let rows = tables.element_instances.scan(.., usize::MAX).unwrap();
        rows.iter().any(|(key, row)| {
            let instance = tables.instances.get(&row.process_instance_key).unwrap();
            let is_idle = row.active_children == 0 && row.job_key.is_none() && row.phase == Phase::Activated;
            let waits = row.waiting_tokens > 0
                || tables.incident_by_owner.contains(key).unwrap()
                || (is_idle && tables.loops.contains(key).unwrap());
            waits && instance.is_some_and(|instance| instance.root_key == root_key)
        })
    }
}
