//! Publishes a message.

use protocol::{Intent, PublishMessage, Rejection, RejectionType, Response};

use crate::entity::Message;
use crate::failure::Failure;
use crate::work::Work;

impl Work<'_> {
    pub(super) fn publish_message(&mut self, publish: &PublishMessage) -> Result<Response, Failure> {
        let tenant_id = publish.tenant_id.clone();
        if !publish.message_id.is_empty() {
            let id = (
                tenant_id.0.clone(),
                publish.name.0.clone(),
                publish.correlation_key.0.clone(),
                publish.message_id.0.clone(),
            );
            if let Some(key) = self.tables.message_by_id.get(&id)? {
                let reason = format!(
                    "Expected to publish a new message with id '{}', but a message with that id was already published: key '{key}'",
                    publish.message_id
                );
                return Err(Rejection::new(RejectionType::AlreadyExists, reason).into());
            }
        }
        let message_key = self.next_key();
        let message = Message {
            name: publish.name.clone(),
            correlation_key: publish.correlation_key.clone(),
            message_id: publish.message_id.clone(),
            time_to_live_ms: publish.time_to_live_ms,
            deadline_ms: self.now_ms().saturating_add(publish.time_to_live_ms),
            variables: publish.variables.clone(),
            tenant_id: tenant_id.clone(),
        };
        self.record_message(message_key, Intent::Published, &message);
        self.correlate(message_key, &message)?;
        if message.time_to_live_ms > 0 {
            self.buffer(message_key, message);
        } else {
            self.record_message(message_key, Intent::Expired, &message);
        }
        Ok(Response::MessagePublished { message_key, tenant_id })
    }
}
