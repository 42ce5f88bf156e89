//! Records of definitions.

use protocol::{
    DecisionRecord, DecisionRequirementsRecord, FormRecord, Key, Name, ProcessRecord, ResourceRecord,
};

use crate::entity::{Decision, DecisionRequirements, Definition, StoredFile};

/// A definition as records show it.
pub(crate) fn process_record(definition: &Definition, key: Key) -> ProcessRecord {
    ProcessRecord {
        bpmn_process_id: definition.process_id.clone(),
        version: definition.version,
        version_tag: definition.version_tag.clone().unwrap_or_default(),
        process_definition_key: key,
        resource_name: definition.resource_name.clone(),
        checksum: checksum_text(definition.checksum),
        resource: content_text(&definition.resource),
        duplicate: false,
        tenant_id: definition.tenant_id.clone(),
        deployment_key: definition.deployment_key,
    }
}

/// A checksum as records show it.
pub(crate) fn checksum_text(checksum: [u8; 16]) -> Name {
    Name::from(format!("{:032x}", u128::from_be_bytes(checksum)))
}

/// A file as records show it.
pub(crate) fn content_text(content: &[u8]) -> Name {
    Name::from(&*String::from_utf8_lossy(content))
}

/// A graph as records show it.
pub(crate) fn requirements_record(graph: &DecisionRequirements, key: Key) -> DecisionRequirementsRecord {
    DecisionRequirementsRecord {
        decision_requirements_id: graph.id.clone(),
        decision_requirements_name: graph.name.clone(),
        decision_requirements_version: graph.version,
        decision_requirements_key: key,
        namespace: graph.namespace.clone(),
        resource_name: graph.resource_name.clone(),
        checksum: checksum_text(graph.checksum),
        resource: content_text(&graph.resource),
        duplicate: false,
        tenant_id: graph.tenant_id.clone(),
        deployment_key: graph.deployment_key,
    }
}

/// A decision as records show it.
pub(crate) fn decision_record(decision: &Decision, key: Key, graph: &DecisionRequirements) -> DecisionRecord {
    DecisionRecord {
        decision_id: decision.id.clone(),
        decision_name: decision.name.clone(),
        version: decision.version,
        version_tag: decision.version_tag.clone().unwrap_or_default(),
        decision_key: key,
        decision_requirements_id: graph.id.clone(),
        decision_requirements_key: decision.requirements_key,
        duplicate: false,
        tenant_id: decision.tenant_id.clone(),
        deployment_key: decision.deployment_key,
        decision_requirements_name: Some(graph.name.clone()),
        decision_requirements_version: Some(graph.version),
    }
}

/// A form as records show it.
pub(crate) fn form_record(form: &StoredFile, key: Key) -> FormRecord {
    FormRecord {
        form_id: form.id.clone(),
        version: form.version,
        version_tag: form.version_tag.clone().unwrap_or_default(),
        form_key: key,
        resource_name: form.resource_name.clone(),
        checksum: checksum_text(form.checksum),
        resource: content_text(&form.content),
        duplicate: false,
        tenant_id: form.tenant_id.clone(),
        deployment_key: form.deployment_key,
    }
}

/// A resource as records show it.
pub(crate) fn resource_record(file: &StoredFile, key: Key) -> ResourceRecord {
    ResourceRecord {
        resource_id: file.id.clone(),
        version: file.version,
        version_tag: file.version_tag.clone().unwrap_or_default(),
        resource_key: key,
        resource_name: file.resource_name.clone(),
        checksum: checksum_text(file.checksum),
        resource: content_text(&file.content),
        duplicate: false,
        tenant_id: file.tenant_id.clone(),
        deployment_key: file.deployment_key,
    }
}
