//! Records of agents: their definitions, their instances, and what was said.

use minicbor::{Decode, Encode};
use serde::Serialize;

use crate::{AgentItemMetrics, AgentLimits, AgentMetrics, AgentRole, AgentStatus, Json, Key, Name};

records! {
    /// An element of a process that is an agent.
    AgentDefinitionRecord {
        0 agent_definition_key: Key, 1 agent_type: Name, 2 name: Name, 3 element_id: Name, 4 bpmn_process_id: Name,
        5 process_definition_key: Key, 6 process_definition_version: u32, 7 version_tag: Name, 8 tenant_id: Name,
        9 deployment_key: Key,
    }
    /// An agent after it changed.
    AgentInstanceRecord {
        0 agent_instance_key: Key, 1 agent_definition_key: Key, 2 status: AgentStatus, 3 element_instance_key: Key,
        4 element_instance_keys: Vec<Key>, 5 element_id: Name, 6 process_instance_key: Key, 7 root_process_instance_key: Key,
        8 bpmn_process_id: Name, 9 process_definition_key: Key, 10 process_definition_version: u32, 11 version_tag: Name,
        12 tenant_id: Name, 13 definition: AgentDefinitionValues, 14 limits: AgentLimits, 15 metrics: AgentMetrics,
        16 tools: Json,
    }
    /// The settings of an agent.
    AgentDefinitionValues { 0 model: Name, 1 provider: Name, 2 system_prompt: Json }
    /// An item of an agent's history. Only its first record tells what was said.
    AgentHistoryRecord {
        0 history_item_key: Key, 1 agent_instance_key: Key, 2 element_instance_key: Key, 3 job_key: Key, 4 job_lease: Name,
        5 history_item_id: Name, 6 loop_iteration: i32, 7 role: AgentRole, 8 content: Json, 9 tool_calls: Json,
        10 metrics: Option<AgentItemMetrics>, 11 #[serde(rename = "producedAt")] produced_at_ms: i64, 12 model: Option<Name>,
        13 provider: Option<Name>, 14 system_prompt: Json, 15 tools: Json, 16 limits: AgentLimits, 17 process_instance_key: Key,
        18 root_process_instance_key: Key, 19 bpmn_process_id: Name, 20 process_definition_key: Key, 21 tenant_id: Name,
        22 commit_status: Name,
    }
}
