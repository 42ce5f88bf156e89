//! Making records. Each takes a position whether or not anybody wants to see it.

use std::convert::Infallible;

use protocol::{Intent, Key, Record, RecordValue};

use crate::core::context::CommandContext;
use crate::core::options::WorkLimits;

/// About how many bytes a record has beside what users made large.
const RECORD_BYTES: u64 = 512;
/// Records of a command, however small, before it yields: each is some 10 µs of work here and for exporters.
const RECORDS_PER_COMMAND: u64 = 4096;

/// Bytes that a record counts, so that neither its own nor the number of records goes beyond what a command may have.
pub(crate) fn record_weight(work: &WorkLimits) -> u64 {
    RECORD_BYTES.max(work.max_record_bytes_per_command / RECORDS_PER_COMMAND)
}

impl CommandContext<'_> {
    /// Emits a record; its value is made only if somebody wants it.
    pub fn emit<V: Into<RecordValue>>(
        &mut self,
        key: Key,
        intent: Intent,
        value: impl FnOnce(&mut Self) -> V,
    ) {
        let Ok(()) = self.try_emit(key, intent, |work| Ok::<V, Infallible>(value(work)));
    }

    /// Emits a record whose value is made of what is read for it.
    pub fn try_emit<V: Into<RecordValue>, E>(
        &mut self,
        key: Key,
        intent: Intent,
        value: impl FnOnce(&mut Self) -> Result<V, E>,
    ) -> Result<(), E> {
        self.meta.position += 1;
        self.meter.note_record(record_weight(&self.options.work));
        if self.options.unwanted_records.contains(&intent) {
            return Ok(());
        }
        self.effects.last_record = Some(self.meta.position);
        if !self.options.records {
            return Ok(());
        }
        let value: RecordValue = value(self)?.into();
        debug_assert!(value.intents().contains(&intent), "{intent} is no intent of {}", value.value_type());
        let asked =
            self.origin.attribution.as_ref().filter(|asked| asked.subjects.contains(&value.value_type()));
        let actor = asked.map(|asked| asked.actor.clone());
        debug_assert!(
            self.effects.records.last().is_none_or(|last| last.position < self.meta.position),
            "positions of records grow"
        );
        self.effects.records.push(Record {
            position: self.meta.position,
            source_position: self.command_position,
            key,
            timestamp_ms: self.meta.now_ms,
            partition_id: self.options.partition_id,
            intent,
            operation_reference: self.origin.operation_reference,
            batch_operation_reference: self.origin.batch_operation_reference,
            value,
            actor,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use protocol::{
        Batch, Command, CreateInstance, DefinitionRef, Deploy, ENGINE_VERSION, Name, Resource, UpdateJob,
    };

    use crate::core::failure::ApplyError;
    use crate::{Effects, Engine, Options};

    const MODEL: &str = r#"
        <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
          <process id="p" isExecutable="true">
            <startEvent id="s"/>
            <sequenceFlow id="f" sourceRef="s" targetRef="t"/>
            <serviceTask id="t">
              <extensionElements><zeebe:taskDefinition type="t"/></extensionElements>
            </serviceTask>
          </process>
        </definitions>"#;

    fn apply(engine: &mut Engine, command: Command) -> Result<Effects, ApplyError> {
        let commands = vec![command];
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 1,
            commands,
            demand: Vec::new(),
            origin: None,
            digest: None,
        };
        let mut effects = Effects::default();
        engine.apply(&batch, &mut effects).map(|()| effects)
    }

    #[test]
    fn a_record_of_what_cannot_be_read_is_an_error() {
        let store = state::Store::in_memory(state::Options::default()).unwrap();
        let options = Options { records: true, ..Options::default() };
        let mut engine = Engine::open(&store, options.clone()).unwrap();
        let file = Resource { name: "p.bpmn".into(), content: MODEL.into() };
        let deploy = Deploy { resources: vec![file], tenant_id: Name::default_tenant() };
        apply(&mut engine, Command::Deploy(deploy)).unwrap();
        let definition = DefinitionRef::Id { id: "p".into(), version: None };
        apply(&mut engine, Command::CreateInstance(CreateInstance::of(definition))).unwrap();
        let (job_key, _) = engine.tables.jobs.first(..).unwrap().unwrap();
        let update = |retries| {
            let retries = Some(retries);
            Command::UpdateJob(UpdateJob {
                job_key,
                retries,
                timeout_ms: None,
                operation_reference: None,
                priority: None,
                lease: None,
            })
        };
        assert_eq!(apply(&mut engine, update(2)).unwrap().records.len(), 1);

        let (definition_key, _) = engine.tables.definitions.first(..).unwrap().unwrap();
        engine.tables.begin();
        engine.tables.definitions.delete(&definition_key);
        engine.tables.commit();
        engine.definitions.forget(definition_key);
        let error = apply(&mut engine, update(3)).expect_err("the instance has no model");
        assert!(error.to_string().contains("is referenced, but not there"), "{error}");
    }
}
