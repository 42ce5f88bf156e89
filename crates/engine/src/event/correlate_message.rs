//! Correlates a message now, or not at all.

use protocol::{CorrelateMessage, Intent, Name, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Message;

impl CommandContext<'_> {
    pub(super) fn correlate_message(&mut self, correlate: &CorrelateMessage) -> Result<Response, Failure> {
        let message_key = self.next_key();
        let message = Message {
            name: correlate.name.clone(),
            correlation_key: correlate.correlation_key.clone(),
            message_id: Name::default(),
            time_to_live_ms: 0,
            deadline_ms: self.now_ms(),
            variables: correlate.variables.clone(),
            tenant_id: correlate.tenant_id.clone(),
        };
        self.record_message(message_key, Intent::Published, &message);
        let Some(process_instance_key) = self.correlate(message_key, &message)? else {
            return Err(Rejection::not_found(format!(
                "Expected to find subscription for message with name '{}' and correlation key '{}', but none was found.",
                correlate.name, correlate.correlation_key
            ))
            .into());
        };
        self.record_message(message_key, Intent::Expired, &message);
        Ok(Response::MessageCorrelated {
            message_key,
            process_instance_key,
            tenant_id: correlate.tenant_id.clone(),
        })
    }
}
