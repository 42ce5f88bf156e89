//! Start events of definitions: they wait for their events while a definition is the latest of its process.

use bpmn::Process;
use bpmn::graph::{ElementIndex, MessageDefinition, Trigger};
use protocol::{Intent, Key, Rejection};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::definition::with_heading;
use crate::entity::{Definition, StartSubscription, Timer};

impl CommandContext<'_> {
    /// Lets the start events of a definition wait for their events.
    pub fn arm_start_events(&mut self, key: Key, model: &Process) -> Result<(), Failure> {
        let Some(definition) = self.tables.definitions.get(&key)? else { return Ok(()) };
        for (element, start) in model.triggered_starts() {
            let result = match &start.trigger {
                Trigger::Message(message) => self.arm_message(key, &definition, element, message),
                Trigger::Timer(timer) => match self.schedule(timer, &Scope::of(0)) {
                    Ok(schedule) => {
                        let timer = Timer {
                            element_instance_key: None,
                            process_instance_key: None,
                            definition_key: key,
                            element,
                            due_ms: schedule.due_ms,
                            cycle: schedule.cycle,
                            repetitions: schedule.repetitions,
                            tenant_id: definition.tenant_id.clone(),
                            turn: None,
                        };
                        self.create_timer(key, timer)?;
                        Ok(())
                    }
                    Err(failure) => Err(failure),
                },
                Trigger::Signal(name) => self.arm_signal(key, &definition, model, element, name),
                Trigger::Condition(_) => {
                    self.arm_condition(key, &definition, model, element);
                    Ok(())
                }
                Trigger::None
                | Trigger::Error(_)
                | Trigger::Escalation(_)
                | Trigger::Compensation { .. }
                | Trigger::Cancel => Ok(()),
            };
            result.map_err(|failure| match failure {
                Failure::Incident { message, .. } => {
                    let id = &model.element(element).id;
                    let problem = format!("'{}': Element: {id} - {message}", definition.resource_name);
                    Failure::Rejected(Rejection::invalid_argument(with_heading(&problem)))
                }
                other => other,
            })?;
        }
        Ok(())
    }

    fn arm_message(
        &mut self,
        key: Key,
        definition: &Definition,
        element: ElementIndex,
        message: &MessageDefinition,
    ) -> Result<(), Failure> {
        let name = self.evaluate_text(&message.name, &Scope::of(0))?;
        let subscription = StartSubscription { key: self.next_key(), definition_key: key, element };
        self.record_start_subscription(
            Intent::Created,
            &subscription,
            &definition.tenant_id,
            &definition.process_id,
            &name,
            None,
        )?;
        let at = (definition.tenant_id.0.clone(), name.0.clone(), definition.process_id.0.clone(), element);
        self.tables.start_subscriptions.put(at, subscription);
        Ok(())
    }

    /// Stops the start events of a definition from waiting.
    pub fn disarm_start_events(&mut self, key: Key) -> Result<(), Failure> {
        self.close_rows::<Timer>(key, |_| true)?;
        let Some(definition) = self.tables.definitions.get(&key)? else { return Ok(()) };
        let model = self.definitions.process(self.tables, key)?;
        self.disarm_signals(key, &definition, &model)?;
        self.disarm_conditions(key, &definition, &model)?;
        for name in self.start_message_names(&model)? {
            for (element, _) in model.triggered_starts() {
                let at = (
                    definition.tenant_id.0.clone(),
                    name.0.clone(),
                    definition.process_id.0.clone(),
                    element,
                );
                let Some(subscription) = self.tables.start_subscriptions.get(&at)? else { continue };
                if subscription.definition_key != key {
                    continue;
                }
                self.tables.start_subscriptions.delete(&at);
                self.record_start_subscription(
                    Intent::Deleted,
                    &subscription,
                    &definition.tenant_id,
                    &definition.process_id,
                    &name,
                    None,
                )?;
            }
        }
        Ok(())
    }
}
