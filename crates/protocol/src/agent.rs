//! Agents, as their workers tell of their runs. Texts of messages, tools and arguments are JSON that the engine
//! keeps and does not read.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Json, Key, Name};

/// See [`crate::Command::CreateAgentInstance`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CreateAgentInstance {
    #[n(0)]
    pub element_instance_key: Key,
    /// Its settings at first.
    #[n(1)]
    pub configuration: AgentConfiguration,
    /// The job whose worker asks.
    #[n(2)]
    pub job: Option<AgentJob>,
    #[n(3)]
    pub history: Vec<AgentHistoryItem>,
}

/// See [`crate::Command::UpdateAgentInstance`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct UpdateAgentInstance {
    #[n(0)]
    pub agent_instance_key: Key,
    /// The element instance that it works for now.
    #[n(1)]
    pub element_instance_key: Key,
    #[n(2)]
    pub status: Option<AgentStatus>,
    /// By how much its metrics grow.
    #[n(3)]
    pub metrics: AgentMetrics,
    /// All of its tools, a JSON array.
    #[n(4)]
    pub tools: Option<Json>,
    /// The job whose worker asks.
    #[n(5)]
    pub job: Option<AgentJob>,
    #[n(6)]
    pub history: Vec<AgentHistoryItem>,
}

/// The activation of a job that something is told in.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct AgentJob {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub lease: Option<Name>,
}

/// The settings of an agent; absent ones stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub struct AgentConfiguration {
    #[n(0)]
    pub model: Option<Name>,
    #[n(1)]
    pub provider: Option<Name>,
    /// Blocks of content, a JSON array.
    #[n(2)]
    pub system_prompt: Option<Json>,
    /// A JSON array.
    #[n(3)]
    pub tools: Option<Json>,
    #[n(4)]
    pub limits: Option<AgentLimits>,
}

/// How much an agent may use; -1 is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentLimits {
    #[n(0)]
    pub max_model_calls: i32,
    #[n(1)]
    pub max_tool_calls: i32,
    #[n(2)]
    pub max_tokens: i64,
}

impl AgentLimits {
    /// None at all.
    pub const NONE: Self = Self { max_model_calls: -1, max_tool_calls: -1, max_tokens: -1 };
}

/// How much an agent has used.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentMetrics {
    #[n(0)]
    pub input_tokens: i64,
    #[n(1)]
    pub output_tokens: i64,
    #[n(2)]
    pub model_calls: i32,
    #[n(3)]
    pub tool_calls: i32,
    #[n(4)]
    #[cbor(with = "counted", has_nil)]
    pub reasoning_token_count: i64,
    #[n(5)]
    #[cbor(with = "counted", has_nil)]
    pub cache_creation_token_count: i64,
    #[n(6)]
    #[cbor(with = "counted", has_nil)]
    pub cache_read_token_count: i64,
}

/// Counts that take no place at the end of a row while there is nothing to count.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "the encoding calls these functions with its own types"
)]
mod counted {
    use minicbor::decode::{Decoder, Error as DecodeError};
    use minicbor::encode::{Encoder, Error as EncodeError, Write};

    pub(super) fn encode<Ctx, W: Write>(
        count: &i64,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        encoder.i64(*count)?.ok()
    }

    pub(super) fn decode<Ctx>(decoder: &mut Decoder<'_>, _: &mut Ctx) -> Result<i64, DecodeError> {
        decoder.i64()
    }

    pub(super) const fn is_nil(count: &i64) -> bool {
        *count == 0
    }

    pub(super) const fn nil() -> Option<i64> {
        Some(0)
    }
}

impl AgentMetrics {
    /// Both together, at most the largest number there is.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            reasoning_token_count: self.reasoning_token_count.saturating_add(other.reasoning_token_count),
            cache_creation_token_count: self
                .cache_creation_token_count
                .saturating_add(other.cache_creation_token_count),
            cache_read_token_count: self.cache_read_token_count.saturating_add(other.cache_read_token_count),
        }
    }
}

/// One item of the history of an agent.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct AgentHistoryItem {
    /// The worker's ID of it; one that is known is not taken again.
    #[n(0)]
    pub id: Option<Name>,
    #[n(1)]
    pub loop_iteration: Option<i32>,
    #[n(2)]
    pub role: AgentRole,
    /// Blocks of content, a JSON array.
    #[n(3)]
    pub content: Json,
    /// A JSON array.
    #[n(4)]
    pub tool_calls: Option<Json>,
    /// How many these are.
    #[n(5)]
    pub tool_call_count: i32,
    #[n(6)]
    pub metrics: Option<AgentItemMetrics>,
    /// Unix milliseconds.
    #[n(7)]
    pub produced_at_ms: i64,
    /// The settings that an item of configuration changes.
    #[n(8)]
    pub configuration: AgentConfiguration,
}

/// Usage of one call of a model.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentItemMetrics {
    #[n(0)]
    pub input_tokens: Option<i64>,
    #[n(1)]
    pub output_tokens: Option<i64>,
    #[n(2)]
    pub duration_ms: Option<i64>,
    #[n(3)]
    pub reasoning_token_count: Option<i64>,
    #[n(4)]
    pub cache_creation_token_count: Option<i64>,
    #[n(5)]
    pub cache_read_token_count: Option<i64>,
}

crate::intent::named! {
    /// States of an agent.
    AgentStatus {
        Initializing = 0 "INITIALIZING", ToolDiscovery = 1 "TOOL_DISCOVERY", Thinking = 2 "THINKING",
        ToolCalling = 3 "TOOL_CALLING", Idle = 4 "IDLE", Completed = 5 "COMPLETED",
    }
}

crate::intent::named! {
    /// Speakers of the items of a history.
    AgentRole {
        User = 0 "USER", Assistant = 1 "ASSISTANT", ToolResult = 2 "TOOL_RESULT", Configuration = 3 "CONFIGURATION",
    }
}

/// An item of a history that was taken, or was there already.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CreatedHistoryItem {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub key: Key,
    #[n(2)]
    pub is_duplicate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_cached_tokens_take_no_place_until_there_are_some() {
        let length = |metrics: AgentMetrics| {
            let bytes = minicbor::to_vec(metrics).unwrap();
            assert_eq!(minicbor::decode::<AgentMetrics>(&bytes).unwrap(), metrics);
            bytes.len()
        };
        let metrics = AgentMetrics { input_tokens: 1, ..AgentMetrics::default() };
        assert_eq!(length(metrics), 5, "a list of four small numbers, as rows had it before");
        assert_eq!(length(AgentMetrics { reasoning_token_count: 2, ..metrics }), 6);
        assert_eq!(length(AgentMetrics { cache_read_token_count: 3, ..metrics }), 8);
    }
}
