//! Random migrations between copies of random models: one with the same IDs and small differences, one with other
//! IDs. A refused one changes nothing.

use std::collections::BTreeSet;

use bpmn::{Limits, Process};
use protocol::{Command, ElementMapping, MigrateInstance, MigrationPlan, Name};

use crate::random_process::Run;
use crate::support::model::bpmn;

/// Each version of a model, in the order of deployment.
pub fn versions(model: &str) -> [String; 3] {
    let changed = model.replace("timer=PT", "timer=PT1").replace("assignee=ann", "assignee=eve");
    [changed, renamed(model), model.to_owned()]
}

/// A copy of a model with other IDs of elements.
fn renamed(model: &str) -> String {
    // The processes keep their names.
    let processes = bpmn::parse(bpmn(model).as_bytes(), &Limits::default()).unwrap_or_default();
    let elements = processes.iter().flat_map(|process| process.elements.iter().skip(1));
    let ids: BTreeSet<&str> = elements.map(|element| &*element.id).collect();
    let mut text = String::new();
    let mut word = String::new();
    for c in model.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        text.push_str(&word);
        if ids.contains(&*word) {
            text.push('x');
        }
        word.clear();
        text.push(c);
    }
    text
}

/// The processes of the versions of a model.
pub fn parsed(models: &[String]) -> Vec<Vec<Process>> {
    models
        .iter()
        .map(|model| bpmn::parse(bpmn(model).as_bytes(), &Limits::default()).unwrap_or_default())
        .collect()
}

impl Run {
    /// Migrates an instance to another version of its process, or the same.
    pub fn migrate(&mut self) {
        let Some(process_instance_key) = self.any_instance() else { return };
        let tables = self.harness.engine().tables();
        let Some(instance) = tables.instances.get(&process_instance_key).unwrap() else { return };
        let definitions = tables.definitions.scan(.., usize::MAX).unwrap();
        let to = 1 + self.random.below(self.versions.len() as u64) as u32;
        let target = definitions
            .into_iter()
            .find(|(_, definition)| definition.process_id == instance.process_id && definition.version == to);
        let Some((target_definition_key, _)) = target else { return };
        let process = |version: u32| {
            let all = &self.versions[version as usize - 1];
            all.iter().find(|process| *process.id == *instance.process_id).expect("a process of the model")
        };
        let (source, target) = (process(instance.version), process(to));
        let elements = source.elements.iter().zip(&target.elements).skip(1).map(|(a, b)| (&a.id, &b.id));
        let flows = source.flows.iter().zip(&target.flows).map(|(a, b)| (&a.id, &b.id));
        let mut mappings: Vec<ElementMapping> = elements
            .chain(flows)
            .filter(|(id, _)| {
                source.by_id.contains_key(*id) || source.flows.iter().any(|flow| flow.id == **id)
            })
            .map(|(from, to)| ElementMapping {
                source_element_id: Name::from(from),
                target_element_id: Name::from(to),
            })
            .collect();
        // A multi-instance activity and its body have one ID.
        let mut seen = BTreeSet::new();
        mappings.retain(|mapping| seen.insert(mapping.source_element_id.clone()));
        if self.random.percent(20) && !mappings.is_empty() {
            let at = self.random.below(mappings.len() as u64) as usize;
            mappings.remove(at);
        }
        let before = self.harness.content();
        let accepted = self.run_alone(Command::MigrateInstance(MigrateInstance {
            process_instance_key,
            plan: MigrationPlan { target_definition_key, mappings },
            operation_reference: None,
        }));
        if !accepted {
            assert!(self.harness.content() == before, "a refused migration has changed something");
        }
    }
}
