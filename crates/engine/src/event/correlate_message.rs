//! Correlates a message now, or not at all.

use protocol::{CorrelateMessage, Intent, Name, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Message;

impl CommandContext<'_> {
    pub(super) fn correlate_message(&mut self, correlate: &CorrelateMessage) -> Result<Response, Failure> {
        self.refuse_elsewhere(&correlate.correlation_key)?;
        let message_key = self.next_key();
        let message = Message {
            name: correlate.name.clone(),
            correlation_key: correlate.correlation_key.clone(),
            message_id: Name::default(),
            time_to_live_ms: 0,
            deadline_ms: self.now_ms(),
            variables: correlate.variables.clone(),
            tenant_id: correlate.tenant_id.clone(),
            business_id: correlate.business_id.clone(),
            kept: None,
        };
        self.record_message(message_key, Intent::Published, &message);
        let first = self.correlate(message_key, &message)?;
        let Some(process_instance_key) = first else {
            return if self.keep_offered(message_key, &message, correlate.request_id)? {
                Ok(Response::Pending)
            } else {
                Err(not_correlated(&message).into())
            };
        };
        // The catch events of other partitions have it as well, but the answer is known.
        if !self.keep_offered(message_key, &message, None)? {
            self.record_message(message_key, Intent::Expired, &message);
        }
        Ok(Response::MessageCorrelated {
            message_key,
            process_instance_key,
            tenant_id: correlate.tenant_id.clone(),
        })
    }
}

/// The refusal of a message that no instance has taken.
pub(super) fn not_correlated(message: &Message) -> Rejection {
    let (name, key) = (&message.name, &message.correlation_key);
    let (of, or) = match &message.business_id {
        None => (String::new(), ""),
        Some(claim) => (
            format!(" and business ID '{}'", claim.business_id),
            if claim.is_unique { ", or an instance of its process has this business ID" } else { "" },
        ),
    };
    let reason = format!(
        "Expected to find subscription for message with name '{name}' and correlation key '{key}'{of}, but none was \
         found{or}."
    );
    Rejection::not_found(reason)
}
