//! Publishes a message.

use bpmn::graph::{PublishedMessage, Text};
use bpmn::timer::Interval;
use protocol::{Intent, Name, PartitionMessage, PublishMessage, Rejection, RejectionType, Response};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{ErrorType, Message};

impl CommandContext<'_> {
    pub(super) fn publish_message(&mut self, publish: &PublishMessage) -> Result<Response, Failure> {
        self.refuse_elsewhere(&publish.correlation_key)?;
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
            business_id: publish.business_id.clone(),
            kept: None,
        };
        self.record_message(message_key, Intent::Published, &message);
        self.correlate(message_key, &message)?;
        if message.time_to_live_ms > 0 {
            self.buffer(message_key, message);
        } else if !self.keep_offered(message_key, &message, None)? {
            self.record_message(message_key, Intent::Expired, &message);
        }
        Ok(Response::MessagePublished { message_key, tenant_id })
    }

    /// Publishes what an element has sent. One that is there already is not sent again, which harms nobody.
    pub(super) fn publish_sent(&mut self, message: &PublishMessage) -> Result<(), Failure> {
        // Other batches may have made many large ones, which are not all moved in one.
        self.meter.note_work(message.variables.json_len());
        if let Some(target) = self.message_partition(&message.correlation_key) {
            return Ok(self.send(target, PartitionMessage::Publish(Box::new(message.clone())))?);
        }
        match self.publish_message(message) {
            Err(Failure::Rejected(rejection)) if rejection.kind == RejectionType::AlreadyExists => Ok(()),
            result => result.map(|_| ()),
        }
    }

    /// Lets an element send its message, with its local variables. It is published in a step of its own: what it
    /// does to others must not harm the element.
    pub fn send_message(&mut self, at: &ActiveElement, published: &PublishedMessage) -> Result<(), Failure> {
        let scope = Scope::of(at.key);
        let name = self.evaluate_text(&published.name, &scope)?;
        let correlation_key = match &published.correlation_key {
            None => Name::default(),
            Some(Text::Static(key)) => Name::from(key),
            Some(Text::Expression(expression)) => self.evaluate_correlation_key(expression, &scope)?,
        };
        let message_id = match &published.message_id {
            None => Name::default(),
            Some(id) => self.evaluate_text(id, &scope)?,
        };
        let time_to_live_ms = match &published.time_to_live {
            None => 0,
            Some(time) => self.evaluate_time_to_live(time, &scope)?,
        };
        let message = Box::new(PublishMessage {
            name,
            correlation_key,
            time_to_live_ms,
            message_id,
            variables: self.tables.local_variables(at.key)?.into_iter().collect(),
            tenant_id: at.instance.tenant_id.clone(),
            business_id: None,
        });
        self.steps.push_back(Step::PublishMessage { message });
        Ok(())
    }

    /// A duration, or milliseconds.
    fn evaluate_time_to_live(&self, text: &Text, scope: &Scope) -> Result<i64, Failure> {
        let kind = ErrorType::ExtractValueError;
        let written = match text {
            Text::Static(text) => Name::from(text),
            Text::Expression(expression) => {
                let value = self.evaluate(expression, scope, kind)?;
                match value.as_i64() {
                    Some(number) => Name::from(number.to_string()),
                    None => self.evaluate_timer_text(text, scope)?,
                }
            }
        };
        let invalid = |reason: &dyn std::fmt::Display| {
            Failure::incident(kind, format!("Invalid time to live '{written}': {reason}"))
        };
        let milliseconds = if let Ok(number) = written.trim().parse::<i64>() {
            number
        } else {
            let now = self.now_ms();
            Interval::parse(&written).map_err(|error| invalid(&error))?.after(now).saturating_sub(now)
        };
        if milliseconds < 0 {
            return Err(invalid(&"it must not be negative"));
        }
        Ok(milliseconds)
    }
}
