//! Records of the definitions that there are, as if they were deployed now.

use protocol::Intent;
use state::StateError;

use super::record::{decision_record, process_record, requirements_record};
use crate::core::context::CommandContext;
use crate::core::slices::Slices;
use crate::entity::DefinitionKind;

impl CommandContext<'_> {
    /// Records the definitions of processes and decisions, and forms.
    pub fn describe_definitions(&mut self) -> Result<(), StateError> {
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.definitions)? {
            for (key, definition) in rows {
                self.emit(key, Intent::Created, |_| process_record(&definition, key));
            }
        }
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.decision_requirements)? {
            for (key, graph) in rows {
                self.emit(key, Intent::Created, |_| requirements_record(&graph, key));
                for decision_key in &graph.decisions {
                    let Some(decision) = self.tables.decisions.get(decision_key)? else { continue };
                    self.emit(*decision_key, Intent::Created, |_| {
                        decision_record(&decision, *decision_key, &graph)
                    });
                }
            }
        }
        let mut slices = Slices::of(..);
        while let Some(rows) = slices.rows(&self.tables.forms)? {
            for (key, form) in rows {
                self.record_stored(DefinitionKind::Form, key, Intent::Created, &form);
            }
        }
        Ok(())
    }
}
