//! The commands and steps of events, each to the code that carries it out.

use protocol::{Command, PartitionId, PartitionMessage, Response};

use super::compensation::CompensationScan;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;

impl CommandContext<'_> {
    pub fn perform_event_command(&mut self, command: &Command) -> Result<Response, Failure> {
        match command {
            Command::PublishMessage(publish) => self.publish_message(publish),
            Command::CorrelateMessage(correlate) => self.correlate_message(correlate),
            Command::BroadcastSignal(broadcast) => self.broadcast_signal(broadcast),
            Command::EvaluateConditionals(evaluate) => self.evaluate_conditionals(evaluate),
            _ => unreachable!("{command:?} is no command of events"),
        }
    }

    /// Has a message of another partition take its effect.
    pub fn receive_event(&mut self, source: PartitionId, message: &PartitionMessage) -> Result<(), Failure> {
        match message {
            PartitionMessage::OpenSubscription(opened) => self.open_remote(opened),
            PartitionMessage::CloseSubscription { subscription_key } => self.close_remote(*subscription_key),
            PartitionMessage::Correlate(correlate) => self.take_offer(source, correlate),
            PartitionMessage::CorrelationAnswer(answer) => self.end_offer(answer),
            PartitionMessage::Publish(message) => self.publish_sent(message),
            PartitionMessage::Signal(signal) => {
                self.broadcast_here(signal);
                Ok(())
            }
            message => unreachable!("{message:?} is no message of events"),
        }
    }

    pub fn run_event_step(&mut self, step: Step) -> Result<(), Failure> {
        match step {
            Step::Compensate { thrower_key, scope_key, entered_by, after, activity, variables } => self
                .walk_compensations(CompensationScan {
                    thrower_key,
                    scope_key,
                    entered_by,
                    after,
                    activity,
                    variables,
                }),
            Step::RunHandler { host_key, scope_key, key, variables } => {
                self.run_handler(host_key, (scope_key, key), &variables)
            }
            Step::DropCompensations { scope_key } => self.drop_compensations(scope_key),
            Step::CompensateCancelled { key } => self.compensate_cancelled(key),
            Step::StartFromBuffer { tenant_id, process_id, correlation_key } => {
                self.start_from_buffer(&tenant_id, &process_id, &correlation_key)
            }
            Step::StartByBusinessId { tenant_id, process_id, business_id } => {
                self.start_by_business_id(&tenant_id, &process_id, &business_id)
            }
            Step::MatchBuffered { subscription_key } => self.match_buffered(subscription_key),
            Step::EvaluateConditions { process_instance_key, touches, after } => {
                self.evaluate_conditions(process_instance_key, touches, after)
            }
            Step::TriggerCondition { subscription_key } => self.trigger_condition(subscription_key),
            Step::BroadcastSignal { signal_key, name, tenant_id, variables, after } => {
                self.broadcast_slice(signal_key, name, tenant_id, variables, after)
            }
            Step::PublishMessage { message } => self.publish_sent(&message),
            Step::StartBySignal { definition_key, element, variables } => {
                self.start_by_signal(definition_key, element, variables)
            }
            Step::TriggerSignal { subscription_key, variables } => {
                self.trigger_signal(subscription_key, &variables)
            }
            step => unreachable!("{step:?} is no step of events"),
        }
    }
}
