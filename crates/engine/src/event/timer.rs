//! Timers.

use bpmn::graph::{ElementIndex, Text, TimerDefinition, TimerKind};
use bpmn::timer::{Cycle, Interval, parse_date};
use protocol::{Document, Intent, Key, Name};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::due;
use crate::core::failure::Failure;
use crate::definition::expression::{Scope, mismatch, to_json};
use crate::entity::tables::Tables;
use crate::entity::{ErrorType, Instance, Timer};
use crate::event::awaited::{Awaited, Rows};

/// The end of the year 9999: no calendar of ours goes further.
const DUE_MAX_MS: i64 = 253_402_300_799_999;
/// Repetitions of a cycle without end.
const WITHOUT_END: i64 = -1;

/// Due time of a timer, and its repetitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub due_ms: i64,
    pub cycle: Option<Name>,
    pub repetitions: i64,
}

/// Owner of a timer: an element instance or, for start events, a definition.
fn owner_of(timer: &Timer) -> Key {
    timer.element_instance_key.unwrap_or(timer.definition_key)
}

impl Awaited for Timer {
    fn tables(tables: &Tables) -> Rows<'_, Self> {
        (&tables.timers, &tables.timer_by_owner)
    }

    fn element(&self) -> ElementIndex {
        self.element
    }

    fn close(&self, work: &mut CommandContext, key: Key) -> Result<(), StateError> {
        work.remove_timer(key, self)?;
        work.record_timer(key, Intent::Canceled, self)
    }

    fn migrate(
        &self,
        work: &mut CommandContext,
        key: Key,
        element: ElementIndex,
        at: &ActiveElement,
    ) -> Result<(), StateError> {
        let definition_key = at.instance.definition_key;
        let timer = Self { definition_key, element, ..self.clone() };
        work.record_timer(key, Intent::Migrated, &timer)?;
        work.tables.timers.put(key, timer);
        Ok(())
    }
}

impl CommandContext<'_> {
    /// Evaluates a timer definition.
    pub(super) fn schedule(&self, definition: &TimerDefinition, scope: &Scope) -> Result<Schedule, Failure> {
        let text = self.evaluate_timer_text(&definition.text, scope)?;
        let invalid = |reason: &dyn std::fmt::Display| {
            Failure::incident(ErrorType::ExtractValueError, format!("Invalid timer '{text}': {reason}"))
        };
        let now = self.now_ms();
        let schedule = match definition.kind {
            TimerKind::Date => {
                let due_ms = parse_date(&text).map_err(|e| invalid(&e))?;
                Schedule { due_ms, cycle: None, repetitions: 1 }
            }
            TimerKind::Duration => {
                let due_ms = Interval::parse(&text).map_err(|e| invalid(&e))?.after(now);
                Schedule { due_ms, cycle: None, repetitions: 1 }
            }
            TimerKind::Cycle => {
                let cycle = Cycle::parse(&text).map_err(|e| invalid(&e))?;
                let due_ms = cycle.first(now).ok_or_else(|| invalid(&"it is never due"))?;
                let repetitions = cycle.repetitions.map_or(WITHOUT_END, i64::from);
                Schedule { due_ms, cycle: Some(text.clone()), repetitions }
            }
        };
        if schedule.due_ms > DUE_MAX_MS {
            return Err(invalid(&"it is due after the year 9999"));
        }
        Ok(schedule)
    }

    /// Starts a timer of an element instance.
    pub(super) fn start_timer(
        &mut self,
        at: &ActiveElement,
        element: ElementIndex,
        schedule: Schedule,
    ) -> Result<(), StateError> {
        self.create_timer(
            at.key,
            Timer {
                element_instance_key: Some(at.key),
                process_instance_key: Some(at.process_instance_key),
                definition_key: at.instance.definition_key,
                element,
                due_ms: schedule.due_ms,
                cycle: schedule.cycle,
                repetitions: schedule.repetitions,
                tenant_id: at.instance.tenant_id.clone(),
                turn: None,
            },
        )
    }

    /// Starts a timer; its owner is an element instance or, for start events, a definition.
    pub(super) fn create_timer(&mut self, owner: Key, timer: Timer) -> Result<(), StateError> {
        let key = self.next_key();
        self.record_timer(key, Intent::Created, &timer)?;
        self.tables.timer_due.insert((timer.due_ms, key), ());
        self.tables.timer_by_owner.insert((owner, key), ());
        self.tables.timers.insert(key, timer);
        Ok(())
    }

    fn remove_timer(&mut self, key: Key, timer: &Timer) -> Result<(), StateError> {
        due::forget_timer(self.tables, key, timer)?;
        self.tables.timer_by_owner.delete(&(owner_of(timer), key));
        self.tables.timers.delete(&key);
        Ok(())
    }

    pub fn trigger_timer(&mut self, due_ms: i64, key: Key) -> Result<(), Failure> {
        debug_assert!(due_ms <= self.now_ms(), "timer {key} is due at {due_ms}, now is {}", self.now_ms());
        let Some(timer) = self.tables.timers.get(&key)? else {
            // One before it in the same tick has ended it.
            self.tables.timer_due.delete(&(due_ms, key));
            return Ok(());
        };
        if let Some(instance_key) = timer.process_instance_key {
            self.blame(instance_key);
            if self.tables.is_banned(instance_key)? {
                let later = self.now_ms().saturating_add(self.options.banned_retry_ms);
                return Ok(due::postpone_timer(self.tables, key, later)?);
            }
            if self.tables.is_suspended(instance_key)? {
                return Ok(due::hold_timer(self.tables, key)?);
            }
        }
        let owner = owner_of(&timer);
        self.remove_timer(key, &timer)?;
        self.record_timer(key, Intent::Triggered, &timer)?;
        self.repeat(owner, &timer)?;
        match timer.element_instance_key {
            Some(host) => {
                if self.accepts(host, timer.element)? {
                    self.trigger(host, timer.element, &Document::empty())?;
                }
                Ok(())
            }
            None => self.start_by_timer(&timer),
        }
    }

    fn repeat(&mut self, owner: Key, timer: &Timer) -> Result<(), StateError> {
        let Some(text) = &timer.cycle else { return Ok(()) };
        let repetitions = match timer.repetitions {
            WITHOUT_END => WITHOUT_END,
            left if left > 1 => left - 1,
            _ => return Ok(()),
        };
        let next = Cycle::parse(text).ok().and_then(|cycle| cycle.next(timer.due_ms, self.now_ms()));
        match next {
            Some(due_ms) => {
                self.create_timer(owner, Timer { due_ms, repetitions, turn: None, ..timer.clone() })
            }
            None => Ok(()),
        }
    }

    fn start_by_timer(&mut self, timer: &Timer) -> Result<(), Failure> {
        let Some(definition) = self.tables.definitions.get(&timer.definition_key)? else { return Ok(()) };
        let key = self.next_key();
        let instance = Instance::root(
            key,
            timer.definition_key,
            definition.process_id.clone(),
            definition.version,
            definition.tenant_id.clone(),
            self.now_ms(),
        );
        self.start_instance(key, instance, Document::empty(), Some((timer.element, Document::empty())))
    }

    /// The text of a timer: a string, or a temporal value in its ISO form.
    pub(super) fn evaluate_timer_text(&self, text: &Text, scope: &Scope) -> Result<Name, Failure> {
        let expression = match text {
            Text::Static(text) => return Ok(Name::from(text)),
            Text::Expression(expression) => expression,
        };
        let kind = ErrorType::ExtractValueError;
        let (value, warnings) = self.evaluate_with_warnings(expression, scope, kind)?;
        if let Some(text) = value.as_str() {
            return Ok(Name::from(text));
        }
        if matches!(value.type_name(), "DURATION" | "PERIOD" | "DATE_TIME" | "DATE") {
            let json = to_json(&value);
            return Ok(Name::from(json.as_str().trim_matches('"')));
        }
        Err(mismatch(expression, "one of '[DURATION, PERIOD, DATE_TIME, STRING]'", &value, &warnings, kind))
    }
}
