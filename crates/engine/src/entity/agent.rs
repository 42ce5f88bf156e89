//! Rows of agents and of their history.

#![expect(missing_docs, reason = "fields are named by what they hold")]

use minicbor::{Decode, Encode};
use protocol::{AgentConfiguration, AgentLimits, AgentMetrics, AgentStatus, Json, Key, Name};
use state::minicbor_value;

/// An agent at work for a process instance.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct AgentInstance {
    /// The definition of the agent.
    #[n(0)]
    pub definition_key: Key,
    #[n(1)]
    pub element: u32,
    /// The element instances that it has worked for, the last one last.
    #[n(2)]
    pub element_instance_keys: Vec<Key>,
    #[n(3)]
    pub status: AgentStatus,
    #[n(4)]
    pub model: Name,
    #[n(5)]
    pub provider: Name,
    #[n(6)]
    pub system_prompt: Json,
    #[n(7)]
    pub tools: Json,
    #[n(8)]
    pub limits: AgentLimits,
    #[n(9)]
    pub metrics: AgentMetrics,
    #[n(10)]
    pub process_instance_key: Key,
    #[n(11)]
    pub root_key: Key,
    #[n(12)]
    pub process_definition_key: Key,
    #[n(13)]
    pub process_id: Name,
    #[n(14)]
    pub version: u32,
    #[n(15)]
    pub version_tag: Option<Name>,
    #[n(16)]
    pub tenant_id: Name,
    #[n(17)]
    pub element_id: Name,
    /// The job whose worker wrote last.
    #[n(18)]
    pub writer_job: Option<Key>,
}
minicbor_value!(
    AgentInstance,
    weight = |row| {
        size_of::<AgentInstance>()
            + 8 * row.element_instance_keys.len()
            + row.system_prompt.as_bytes().len()
            + row.tools.as_bytes().len()
    }
);

impl AgentInstance {
    /// Takes the settings that are given.
    pub(crate) fn configure(&mut self, configuration: &AgentConfiguration) {
        let AgentConfiguration { model, provider, system_prompt, tools, limits } = configuration.clone();
        self.model = model.unwrap_or_else(|| self.model.clone());
        self.provider = provider.unwrap_or_else(|| self.provider.clone());
        self.system_prompt = system_prompt.unwrap_or_else(|| self.system_prompt.clone());
        self.tools = tools.unwrap_or_else(|| self.tools.clone());
        self.limits = limits.unwrap_or(self.limits);
    }

    /// The element instance that it works for now.
    pub(crate) fn element_instance_key(&self) -> Key {
        *self.element_instance_keys.last().expect("an agent works for an element instance from the first")
    }
}

/// An item of a history whose job has not ended.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct PendingHistoryItem {
    #[n(0)]
    pub agent_instance_key: Key,
    /// The worker's ID of it.
    #[n(1)]
    pub id: Option<Name>,
    /// The lease of the activation that it is from; empty for none.
    #[n(2)]
    pub lease: Name,
    /// The settings that it changes once its job completes.
    #[n(3)]
    pub configuration: Option<AgentConfiguration>,
}
minicbor_value!(PendingHistoryItem);

/// Items of a history that have one ID.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub struct KnownHistoryItem {
    /// The one whose job has completed.
    #[n(0)]
    pub committed: Option<Key>,
    /// Items whose jobs have not ended.
    #[n(1)]
    pub pending: Vec<LeasedHistoryItem>,
}
minicbor_value!(KnownHistoryItem, weight = |row| 32 + 40 * row.pending.len());

/// An item of a history by the lease of its activation.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct LeasedHistoryItem {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub lease: Name,
}
