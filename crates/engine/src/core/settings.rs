//! Settings of the partition, which stand in its state: the same on every replica, at every replay.

use protocol::{BpmnSettings, DmnSettings, Response, Settings, WorkSettings};
use state::StateError;

use crate::Engine;
use crate::core::options::{Options, WorkLimits};
use crate::entity::StoredSettings;

/// The only row of its table.
const ROW: u8 = 0;

impl Options {
    /// The part of the options that must be the same on every replica.
    pub fn settings(&self) -> Settings {
        Settings {
            max_delivery_bytes: self.max_delivery_bytes as u64,
            work: work(&self.work),
            bpmn: bpmn(&self.bpmn),
            dmn: dmn(&self.dmn),
            idempotency: Some(self.idempotency),
            partitions: Some(self.partitions).filter(|partitions| partitions.count > 1),
        }
    }

    /// Takes over settings. A number that this machine cannot address is no limit.
    pub(crate) fn configure(&mut self, settings: &Settings) {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let Settings { max_delivery_bytes, work, bpmn, dmn, idempotency, partitions } = *settings;
        self.idempotency = idempotency.unwrap_or_default();
        self.partitions = partitions.unwrap_or_default();
        self.max_delivery_bytes = size(max_delivery_bytes);
        let defaults = WorkLimits::default();
        self.work = WorkLimits {
            max_fuel_per_command: work.max_fuel_per_command,
            max_fuel_per_step: work.max_fuel_per_step,
            max_bytes_per_step: size(work.max_bytes_per_step),
            max_evaluation_bytes: work.max_evaluation_bytes,
            max_variable_bytes: size(work.max_variable_bytes),
            max_collection_bytes: size(work.max_collection_bytes),
            max_instance_variable_bytes: work.max_instance_variable_bytes,
            max_record_bytes_per_command: work.max_record_bytes_per_command,
            // Noted by a release that knew none: a replica that was upgraded later has the same ones.
            max_entries_per_command: work
                .max_entries_per_command
                .map_or(defaults.max_entries_per_command, size),
            max_scope_variables: work.max_scope_variables.map_or(defaults.max_scope_variables, size),
        };
        self.bpmn = bpmn::Limits {
            max_bytes: size(bpmn.max_bytes),
            max_depth: size(bpmn.max_depth),
            max_xml_elements: size(bpmn.max_xml_elements),
            max_flow_elements: size(bpmn.max_flow_elements),
            max_id_chars: size(bpmn.max_id_chars),
            max_name_chars: size(bpmn.max_name_chars),
            max_problems: size(bpmn.max_problems),
            ..self.bpmn
        };
        self.dmn = dmn::Limits {
            max_bytes: size(dmn.max_bytes),
            max_depth: size(dmn.max_depth),
            max_xml_elements: size(dmn.max_xml_elements),
            max_cells: size(dmn.max_cells),
            max_requirement_depth: size(dmn.max_requirement_depth),
            max_imported_models: size(dmn.max_imported_models),
            max_id_chars: size(dmn.max_id_chars),
            max_problems: size(dmn.max_problems),
            max_evaluated_decisions: size(dmn.max_evaluated_decisions),
        };
    }
}

fn work(limits: &WorkLimits) -> WorkSettings {
    // All fields are named, so that a new one is thought of here.
    let WorkLimits {
        max_fuel_per_command,
        max_fuel_per_step,
        max_bytes_per_step,
        max_evaluation_bytes,
        max_variable_bytes,
        max_collection_bytes,
        max_instance_variable_bytes,
        max_record_bytes_per_command,
        max_entries_per_command,
        max_scope_variables,
    } = *limits;
    WorkSettings {
        max_fuel_per_command,
        max_fuel_per_step,
        max_bytes_per_step: max_bytes_per_step as u64,
        max_evaluation_bytes,
        max_variable_bytes: max_variable_bytes as u64,
        max_collection_bytes: max_collection_bytes as u64,
        max_instance_variable_bytes,
        max_record_bytes_per_command,
        max_entries_per_command: Some(max_entries_per_command as u64),
        max_scope_variables: Some(max_scope_variables as u64),
    }
}

fn bpmn(limits: &bpmn::Limits) -> BpmnSettings {
    // All fields are named, so that a new one is thought of here.
    let bpmn::Limits {
        max_bytes,
        max_depth,
        max_xml_elements,
        max_flow_elements,
        max_id_chars,
        max_name_chars,
        max_problems,
        // No setting says it.
        max_list_entries: _,
    } = *limits;
    BpmnSettings {
        max_bytes: max_bytes as u64,
        max_depth: max_depth as u64,
        max_xml_elements: max_xml_elements as u64,
        max_flow_elements: max_flow_elements as u64,
        max_id_chars: max_id_chars as u64,
        max_name_chars: max_name_chars as u64,
        max_problems: max_problems as u64,
    }
}

fn dmn(limits: &dmn::Limits) -> DmnSettings {
    // All fields are named, so that a new one is thought of here.
    let dmn::Limits {
        max_bytes,
        max_depth,
        max_xml_elements,
        max_cells,
        max_requirement_depth,
        max_imported_models,
        max_id_chars,
        max_problems,
        max_evaluated_decisions,
    } = *limits;
    DmnSettings {
        max_bytes: max_bytes as u64,
        max_depth: max_depth as u64,
        max_xml_elements: max_xml_elements as u64,
        max_cells: max_cells as u64,
        max_requirement_depth: max_requirement_depth as u64,
        max_imported_models: max_imported_models as u64,
        max_id_chars: max_id_chars as u64,
        max_problems: max_problems as u64,
        max_evaluated_decisions: max_evaluated_decisions as u64,
    }
}

impl Engine {
    /// The settings that stand in the state; none before the first command that configures.
    pub fn settings(&self) -> Result<Option<Settings>, StateError> {
        Ok(self.tables.settings.get(&ROW)?.map(|stored| stored.0))
    }

    /// Has the settings of the state take the place of those that the engine was opened with.
    pub(crate) fn load_settings(&mut self) -> Result<(), StateError> {
        if let Some(settings) = self.settings()? {
            self.options.configure(&settings);
        }
        Ok(())
    }

    /// Applies commands under these settings from here on.
    pub(crate) fn configure(&mut self, settings: &Settings) -> Response {
        self.tables.begin();
        self.tables.settings.put(ROW, StoredSettings(*settings));
        self.tables.commit();
        self.options.configure(settings);
        Response::Done
    }
}
