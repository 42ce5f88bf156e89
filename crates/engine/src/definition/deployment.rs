//! Results of a deployment, as its answer and as its record.

use protocol::{
    DecisionRecord, DecisionRequirementsRecord, DeployedDecision, DeployedFile, DeployedProcess,
    DeployedRequirements, DeploymentCreated, DeploymentRecord, FormRecord, Key, Name, ProcessRecord,
    ResourceRecord,
};

use super::record::{decision_record, form_record, process_record, requirements_record, resource_record};
use crate::entity::{Decision, DecisionRequirements, Definition, DefinitionKind, StoredFile};

/// A deployment that is put together.
pub(crate) struct Deployment {
    pub created: DeploymentCreated,
    /// Stays empty unless records are wanted.
    pub record: DeploymentRecord,
    wants_records: bool,
    /// Deployments that brought the definitions in it.
    origins: Vec<Key>,
}

impl Deployment {
    pub fn new(deployment_key: Key, tenant_id: &Name, wants_records: bool) -> Self {
        Self {
            created: DeploymentCreated {
                deployment_key,
                tenant_id: tenant_id.clone(),
                ..DeploymentCreated::default()
            },
            record: DeploymentRecord {
                deployment_key,
                tenant_id: tenant_id.clone(),
                processes_metadata: Vec::new(),
                decisions_metadata: Vec::new(),
                decision_requirements_metadata: Vec::new(),
                form_metadata: Vec::new(),
                resource_metadata: Vec::new(),
            },
            wants_records,
            origins: Vec::new(),
        }
    }

    /// Whether all that is in it came with one and the same deployment.
    pub fn is_of_one_deployment(&self) -> bool {
        self.origins.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Adds a process, new or known already.
    pub fn add_process(&mut self, definition: &Definition, key: Key, duplicate: bool) {
        self.origins.push(definition.deployment_key);
        self.created.processes.push(DeployedProcess {
            process_id: definition.process_id.clone(),
            version: definition.version,
            process_definition_key: key,
            resource_name: definition.resource_name.clone(),
            tenant_id: definition.tenant_id.clone(),
        });
        if self.wants_records {
            let record = process_record(definition, key);
            let resource = Name::default();
            self.record.processes_metadata.push(ProcessRecord { resource, duplicate, ..record });
        }
    }

    /// Adds a graph of decisions, new or known already.
    pub fn add_requirements(&mut self, graph: &DecisionRequirements, key: Key, duplicate: bool) {
        self.origins.push(graph.deployment_key);
        self.created.decision_requirements.push(DeployedRequirements {
            id: graph.id.clone(),
            name: graph.name.clone(),
            version: graph.version,
            key,
            resource_name: graph.resource_name.clone(),
            tenant_id: graph.tenant_id.clone(),
        });
        if self.wants_records {
            let record = requirements_record(graph, key);
            let resource = Name::default();
            let record = DecisionRequirementsRecord { resource, duplicate, ..record };
            self.record.decision_requirements_metadata.push(record);
        }
    }

    /// Adds a decision, new or known already.
    pub fn add_decision(
        &mut self,
        decision: &Decision,
        key: Key,
        graph: &DecisionRequirements,
        duplicate: bool,
    ) {
        self.created.decisions.push(DeployedDecision {
            id: decision.id.clone(),
            name: decision.name.clone(),
            version: decision.version,
            key,
            requirements_id: graph.id.clone(),
            requirements_key: decision.requirements_key,
            tenant_id: decision.tenant_id.clone(),
        });
        if self.wants_records {
            let record = decision_record(decision, key, graph);
            self.record.decisions_metadata.push(DecisionRecord { duplicate, ..record });
        }
    }

    /// Adds a form or another resource, new or known already.
    pub fn add_stored(&mut self, kind: DefinitionKind, file: &StoredFile, key: Key, duplicate: bool) {
        self.origins.push(file.deployment_key);
        let deployed = DeployedFile {
            id: file.id.clone(),
            version: file.version,
            key,
            resource_name: file.resource_name.clone(),
            tenant_id: file.tenant_id.clone(),
        };
        let resource = Name::default();
        if kind == DefinitionKind::Form {
            self.created.forms.push(deployed);
            if self.wants_records {
                let record = form_record(file, key);
                self.record.form_metadata.push(FormRecord { resource, duplicate, ..record });
            }
        } else {
            self.created.resources.push(deployed);
            if self.wants_records {
                let record = resource_record(file, key);
                self.record.resource_metadata.push(ResourceRecord { resource, duplicate, ..record });
            }
        }
    }
}
