//! Business IDs of messages: they narrow whom a message comes to, name the instance that it starts, and let it wait
//! while another root instance of the process has the same one.

use std::sync::Arc;

use protocol::{BusinessIdClaim, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::{Instance, Message};

impl CommandContext<'_> {
    /// Gives a new instance the business ID of the message that starts it, which is not claimed.
    pub(super) fn name_started(&mut self, key: Key, instance: &mut Instance, message: &Message) {
        let Some(BusinessIdClaim { business_id, is_unique }) = &message.business_id else { return };
        instance.business_id = Some(business_id.clone());
        if *is_unique {
            let (tenant_id, process_id) = (instance.tenant_id.0.clone(), instance.process_id.0.clone());
            let claim = (tenant_id, process_id, business_id.0.clone());
            debug_assert!(
                !matches!(self.tables.business_ids.contains(&claim), Ok(true)),
                "a message waits until {claim:?} is free"
            );
            self.tables.business_ids.insert(claim, key);
        }
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
}

/// Where a message stands among those that may wait for their business ID.
fn awaited(key: Key, message: &Message) -> Option<(Arc<str>, Arc<str>, Key)> {
    let claim = message.business_id.as_ref().filter(|claim| claim.is_unique)?;
    Some((message.tenant_id.0.clone(), claim.business_id.0.clone(), key))
}
