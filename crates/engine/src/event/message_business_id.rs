//! Business IDs of messages: they narrow whom a message comes to, name the instance that it starts, and let it wait
//! while another root instance of the process has the same one.

use std::sync::Arc;

use protocol::{BUSINESS_ID_VERSION, BusinessIdClaim, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{Instance, Message};

impl CommandContext<'_> {
    /// The business ID that a subscription of an instance keeps. One that the instance gets later is not known to it.
    pub(super) fn snapshot_business_id(&self, instance: &Instance) -> Option<Name> {
        instance.business_id.clone().filter(|_| self.version >= BUSINESS_ID_VERSION)
    }

    /// Gives a new instance the business ID of the message that starts it.
    pub(super) fn name_started(
        &mut self,
        key: Key,
        instance: &mut Instance,
        message: &Message,
    ) -> Result<(), Failure> {
        let Some(BusinessIdClaim { business_id, is_unique }) = &message.business_id else { return Ok(()) };
        instance.business_id = Some(business_id.clone());
        if *is_unique { self.claim_business_id(key, instance) } else { Ok(()) }
    }

    /// Whether a message must wait before it starts a process: another root instance of it has its business ID.
    pub(super) fn is_claimed(&self, message: &Message, process_id: &Name) -> Result<bool, StateError> {
        let Some(claim) = message.business_id.as_ref().filter(|claim| claim.is_unique) else {
            return Ok(false);
        };
        let claim = (message.tenant_id.0.clone(), process_id.0.clone(), claim.business_id.0.clone());
        self.tables.business_ids.contains(&claim)
    }

    /// Notes that a buffered message may wait for its business ID.
    pub(super) fn index_business_id(&mut self, key: Key, message: &Message) {
        if let Some(at) = awaited(key, message) {
            self.tables.message_by_business_id.insert(at, ());
        }
    }

    pub(super) fn forget_business_id(&mut self, key: Key, message: &Message) {
        if let Some(at) = awaited(key, message) {
            self.tables.message_by_business_id.delete(&at);
        }
    }

    /// Whether buffered messages have a business ID that is about to be free.
    pub fn is_business_id_awaited(
        &self,
        tenant_id: &Arc<str>,
        business_id: &Arc<str>,
    ) -> Result<bool, StateError> {
        let at = |key| (tenant_id.clone(), business_id.clone(), key);
        Ok(!self.tables.message_by_business_id.keys(at(0)..=at(Key::MAX), 1)?.is_empty())
    }

    /// A business ID has become free: the oldest message that waits for it starts an instance of the process.
    pub(super) fn start_by_business_id(
        &mut self,
        tenant_id: &Name,
        process_id: &Name,
        business_id: &Name,
    ) -> Result<(), Failure> {
        let Some(definition_key) = self.latest_definition(tenant_id, process_id)? else { return Ok(()) };
        let process = self.definitions.process(self.tables, definition_key)?;
        let names = self.start_message_names(&process)?;
        let at = |key| (tenant_id.0.clone(), business_id.0.clone(), key);
        for (_, _, key) in self.tables.message_by_business_id.keys(at(0)..=at(Key::MAX), usize::MAX)? {
            let Some(message) = self.tables.messages.get(&key)? else { continue };
            let correlation = (key, process_id.0.clone());
            if message.deadline_ms <= self.now_ms()
                || !names.contains(&message.name)
                || self.tables.message_correlations.contains(&correlation)?
                || self.is_locked(&message, process_id)?
            {
                continue;
            }
            // Another one may have taken it meanwhile; its end comes here again.
            if self.is_claimed(&message, process_id)? {
                return Ok(());
            }
            let subscriptions = self.start_subscriptions_of(tenant_id, &message.name, process_id)?;
            let Some(subscription) = subscriptions.first() else { continue };
            self.start_by_message(key, &message, process_id, subscription)?;
            self.tables.message_correlations.put(correlation, ());
            return Ok(());
        }
        Ok(())
    }
}

/// Where a message stands among those that may wait for their business ID.
fn awaited(key: Key, message: &Message) -> Option<(Arc<str>, Arc<str>, Key)> {
    let claim = message.business_id.as_ref().filter(|claim| claim.is_unique)?;
    Some((message.tenant_id.0.clone(), claim.business_id.0.clone(), key))
}
