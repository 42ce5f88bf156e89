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
            business_id: correlate.business_id.clone(),
        };
        self.record_message(message_key, Intent::Published, &message);
        let Some(process_instance_key) = self.correlate(message_key, &message)? else {
            return Err(not_correlated(correlate));
        };
        self.record_message(message_key, Intent::Expired, &message);
        Ok(Response::MessageCorrelated {
            message_key,
            process_instance_key,
            tenant_id: correlate.tenant_id.clone(),
        })
    }
}

fn not_correlated(correlate: &CorrelateMessage) -> Failure {
    let (name, key) = (&correlate.name, &correlate.correlation_key);
    let (of, or) = match &correlate.business_id {
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
    Rejection::not_found(reason).into()
}
