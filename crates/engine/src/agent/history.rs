//! The history of an agent: items are taken once, and hold once the job completes in which they were told.

use protocol::{
    AgentHistoryItem, AgentJob, AgentMetrics, AgentRole, CreatedHistoryItem, Intent, Key, Name, Rejection,
};

use super::Teller;
use super::record::{ItemPlace, id_of};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{AgentInstance, LeasedHistoryItem, PendingHistoryItem};

impl CommandContext<'_> {
    /// Adds the items that are not known yet. Items of configuration hold at once if the agent is new.
    pub(super) fn take_history(
        &mut self,
        agent_key: Key,
        agent: &mut AgentInstance,
        teller: Option<&Teller>,
        job: Option<&AgentJob>,
        items: &[AgentHistoryItem],
        is_new: bool,
    ) -> Result<Vec<CreatedHistoryItem>, Failure> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let (Some(teller), Some(job)) = (teller, job) else {
            let reason = "Expected to take a history, but the key of the job is missing in which it was told";
            return Err(Rejection::invalid_argument(reason.to_owned()).into());
        };
        let lease = job.lease.clone().unwrap_or_default();
        self.tables.jobs.update(&teller.key, |job| job.tells_history = Some(true))?;
        let mut taken = Vec::with_capacity(items.len());
        for item in items {
            if let Some(key) = self.known_item(agent_key, item.id.as_ref(), &lease)? {
                let id = item.id.clone().unwrap_or_default();
                taken.push(CreatedHistoryItem { id, key, is_duplicate: true });
                continue;
            }
            let key = self.next_key();
            let id = id_of(item.id.as_ref(), key);
            let place = ItemPlace { key, agent_key, job_key: teller.key, lease: &lease };
            self.record_item(&place, agent, item);
            agent.metrics = agent.metrics.plus(metrics_of(item));
            let holds = is_new && item.role == AgentRole::Configuration;
            if holds {
                self.record_item_end(&place, Some(agent), item.id.as_ref(), Intent::Committed);
            } else {
                let configuration =
                    (item.role == AgentRole::Configuration).then(|| item.configuration.clone());
                let pending = PendingHistoryItem {
                    agent_instance_key: agent_key,
                    id: item.id.clone(),
                    lease: lease.clone(),
                    configuration,
                };
                self.tables.pending_history.put((teller.key, key), pending);
            }
            if let Some(id) = &item.id {
                let at = (agent_key, id.0.clone());
                let mut known =
                    self.tables.known_history.get(&at)?.map(|known| (*known).clone()).unwrap_or_default();
                debug_assert!(known.committed.is_none(), "an item that holds is not taken again");
                if holds {
                    known.committed = Some(key);
                } else {
                    known.pending.push(LeasedHistoryItem { key, lease: lease.clone() });
                }
                self.tables.known_history.put(at, known);
            }
            taken.push(CreatedHistoryItem { id, key, is_duplicate: false });
        }
        Ok(taken)
    }

    /// The item of an ID that is committed, or that the same activation has added.
    fn known_item(&self, agent_key: Key, id: Option<&Name>, lease: &Name) -> Result<Option<Key>, Failure> {
        let Some(id) = id else { return Ok(None) };
        let Some(known) = self.tables.known_history.get(&(agent_key, id.0.clone()))? else { return Ok(None) };
        let pending = known.pending.iter().find(|item| item.lease == *lease).map(|item| item.key);
        Ok(known.committed.or(pending))
    }

    /// Commits or discards the items of a job that has ended, a slice at a time. Discards those of other activations
    /// than the last; without leases, nothing tells these apart.
    pub(super) fn settle_items(
        &mut self,
        job_key: Key,
        lease: Option<Name>,
        is_completed: bool,
    ) -> Result<(), Failure> {
        let limit = self.options.max_children_per_step;
        let items = self.tables.pending_history.scan((job_key, 0)..(job_key + 1, 0), limit)?;
        let is_last = items.len() < limit;
        for (at, item) in items {
            self.tables.pending_history.delete(&at);
            let holds = is_completed && lease.as_ref().is_none_or(|lease| *lease == item.lease);
            self.settle_item(at, &item, holds)?;
        }
        if !is_last {
            self.steps.push_back(Step::SettleHistory { job_key, lease, is_completed });
        }
        Ok(())
    }

    fn settle_item(&mut self, at: (Key, Key), item: &PendingHistoryItem, holds: bool) -> Result<(), Failure> {
        let (job_key, key) = at;
        let agent_key = item.agent_instance_key;
        let agent = self.tables.agent_instances.get(&agent_key)?;
        let place = ItemPlace { key, agent_key, job_key, lease: &item.lease };
        let intent = if holds { Intent::Committed } else { Intent::Discarded };
        self.record_item_end(&place, agent.as_deref(), item.id.as_ref(), intent);
        // The agent may have ended before: then nothing of its history is kept.
        let Some(agent) = agent else { return Ok(()) };
        if let Some(id) = &item.id {
            let at = (agent_key, id.0.clone());
            let mut known =
                self.tables.known_history.get(&at)?.map(|known| (*known).clone()).unwrap_or_default();
            known.pending.retain(|item| item.key != key);
            if holds {
                known.committed = Some(key);
            }
            if known.committed.is_none() && known.pending.is_empty() {
                self.tables.known_history.delete(&at);
            } else {
                self.tables.known_history.put(at, known);
            }
        }
        if let Some(configuration) = item.configuration.as_ref().filter(|_| holds) {
            let mut agent = (*agent).clone();
            agent.configure(configuration);
            self.record_agent(agent_key, Intent::Updated, &agent);
            self.tables.agent_instances.put(agent_key, agent);
        }
        Ok(())
    }
}

/// Growth of the agent's metrics by an item: a message of a model counts as one call of it. The metrics of an item that
/// comes alone, without an ID, are told apart from it.
fn metrics_of(item: &AgentHistoryItem) -> AgentMetrics {
    if item.id.is_none() || item.role != AgentRole::Assistant {
        return AgentMetrics::default();
    }
    let told = item.metrics.unwrap_or_default();
    AgentMetrics {
        input_tokens: told.input_tokens.unwrap_or(0),
        output_tokens: told.output_tokens.unwrap_or(0),
        model_calls: 1,
        tool_calls: item.tool_call_count,
        reasoning_token_count: told.reasoning_token_count.unwrap_or(0),
        cache_creation_token_count: told.cache_creation_token_count.unwrap_or(0),
        cache_read_token_count: told.cache_read_token_count.unwrap_or(0),
    }
}
