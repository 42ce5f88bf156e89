//! Records of agents and of their history.

use protocol::{
    AgentConfiguration, AgentDefinitionValues, AgentHistoryItem, AgentHistoryRecord, AgentInstanceRecord,
    AgentLimits, AgentRole, Intent, Json, Key, Name,
};

use crate::core::context::CommandContext;
use crate::entity::AgentInstance;

/// The agent and the activation of a job that an item belongs to.
pub(super) struct ItemPlace<'a> {
    pub key: Key,
    pub agent_key: Key,
    pub job_key: Key,
    pub lease: &'a Name,
}

impl CommandContext<'_> {
    pub(super) fn record_agent(&mut self, key: Key, intent: Intent, agent: &AgentInstance) {
        self.meter.note_record((agent.system_prompt.as_bytes().len() + agent.tools.as_bytes().len()) as u64);
        self.emit(key, intent, |_| AgentInstanceRecord {
            agent_instance_key: key,
            agent_definition_key: agent.definition_key,
            status: agent.status,
            element_instance_key: agent.element_instance_key(),
            element_instance_keys: agent.element_instance_keys.clone(),
            element_id: agent.element_id.clone(),
            process_instance_key: agent.process_instance_key,
            root_process_instance_key: agent.root_key,
            bpmn_process_id: agent.process_id.clone(),
            process_definition_key: agent.process_definition_key,
            process_definition_version: agent.version,
            version_tag: agent.version_tag.clone().unwrap_or_default(),
            tenant_id: agent.tenant_id.clone(),
            definition: AgentDefinitionValues {
                model: agent.model.clone(),
                provider: agent.provider.clone(),
                system_prompt: agent.system_prompt.clone(),
            },
            limits: agent.limits,
            metrics: agent.metrics,
            tools: agent.tools.clone(),
        });
    }

    /// Records that an item was added.
    pub(super) fn record_item(
        &mut self,
        place: &ItemPlace<'_>,
        agent: &AgentInstance,
        item: &AgentHistoryItem,
    ) {
        let empty = || Json::from_valid("[]");
        let AgentConfiguration { model, provider, system_prompt, tools, limits } = item.configuration.clone();
        let tool_calls = item.tool_calls.clone().unwrap_or_else(empty);
        let (system_prompt, tools) = (system_prompt.unwrap_or_else(empty), tools.unwrap_or_else(empty));
        let bytes =
            [&item.content, &tool_calls, &system_prompt, &tools].map(|json| json.as_bytes().len() as u64);
        self.meter.note_record(bytes.iter().sum());
        let item = AgentHistoryRecord {
            history_item_id: id_of(item.id.as_ref(), place.key),
            loop_iteration: item.loop_iteration.unwrap_or(0),
            role: item.role,
            content: item.content.clone(),
            tool_calls,
            metrics: item.metrics,
            produced_at_ms: item.produced_at_ms,
            model,
            provider,
            system_prompt,
            tools,
            limits: limits.unwrap_or(AgentLimits::NONE),
            ..identity(place, Some(agent), "PENDING")
        };
        self.emit(place.key, Intent::Created, |_| item);
    }

    /// Records that an item was committed or discarded.
    pub(super) fn record_item_end(
        &mut self,
        place: &ItemPlace<'_>,
        agent: Option<&AgentInstance>,
        id: Option<&Name>,
        intent: Intent,
    ) {
        self.emit(place.key, intent, |_| AgentHistoryRecord {
            history_item_id: id_of(id, place.key),
            ..identity(place, agent, intent.as_str())
        });
    }
}

/// The ID of an item: its worker's, or its key as text if it came alone, without one.
pub(super) fn id_of(told: Option<&Name>, key: Key) -> Name {
    told.cloned().unwrap_or_else(|| Name::from(key.to_string()))
}

/// The record of an item without what was said.
fn identity(place: &ItemPlace<'_>, agent: Option<&AgentInstance>, commit_status: &str) -> AgentHistoryRecord {
    AgentHistoryRecord {
        history_item_key: place.key,
        agent_instance_key: place.agent_key,
        element_instance_key: agent.map_or(0, AgentInstance::element_instance_key),
        job_key: place.job_key,
        job_lease: place.lease.clone(),
        history_item_id: Name::default(),
        loop_iteration: 0,
        role: AgentRole::User,
        content: Json::from_valid("[]"),
        tool_calls: Json::from_valid("[]"),
        metrics: None,
        produced_at_ms: 0,
        model: None,
        provider: None,
        system_prompt: Json::from_valid("[]"),
        tools: Json::from_valid("[]"),
        limits: AgentLimits::NONE,
        process_instance_key: agent.map_or(0, |agent| agent.process_instance_key),
        root_process_instance_key: agent.map_or(0, |agent| agent.root_key),
        bpmn_process_id: agent.map(|agent| agent.process_id.clone()).unwrap_or_default(),
        process_definition_key: agent.map_or(0, |agent| agent.process_definition_key),
        tenant_id: agent.map(|agent| agent.tenant_id.clone()).unwrap_or_default(),
        commit_status: Name::from(commit_status),
    }
}
