//! A model that was accepted once, and that this release cannot read: only its own instances suffer.

use protocol::{
    Batch, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document, ENGINE_VERSION,
    Key, Name, RejectionType, Resource, Response,
};

use crate::entity::Definition;
use crate::{Effects, Engine, Options};

/// An engine with a process `p` and another `q`, and what its last batch did.
struct Fixture(Engine, Effects);

fn model(id: &str) -> Resource {
    let content = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
          <process id="{id}" isExecutable="true">
            <startEvent id="s"/>
            <sequenceFlow id="f" sourceRef="s" targetRef="t"/>
            <serviceTask id="t">
              <extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements>
            </serviceTask>
          </process>
        </definitions>"#
    );
    Resource { name: Name::from(format!("{id}.bpmn")), content: content.into_bytes() }
}

fn create(id: &str) -> Command {
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id { id: id.into(), version: None }))
}

impl Fixture {
    fn new(records: bool) -> Self {
        let store = state::Store::in_memory(state::Options::default()).unwrap();
        let engine = Engine::open(&store, Options { records, ..Options::default() }).unwrap();
        let mut run = Self(engine, Effects::default());
        let resources = vec![model("p"), model("q")];
        run.command(Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() })).unwrap();
        run
    }

    fn apply(&mut self, commands: Vec<Command>, demand: Vec<Demand>) {
        self.1 = Effects::default();
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 1,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        self.0.apply(&batch, &mut self.1).unwrap();
    }

    fn command(&mut self, command: Command) -> crate::Outcome {
        self.apply(vec![command], vec![]);
        self.1.responses[0].clone().expect("an answer")
    }

    fn instance(&mut self, id: &str) -> Key {
        let Ok(Response::InstanceCreated(created)) = self.command(create(id)) else { panic!("{:?}", self.1) };
        created.process_instance_key
    }

    fn jobs(&mut self, id: &str) -> Vec<Key> {
        let demand = Demand {
            subscriber_id: 1,
            job_type: id.into(),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("w"),
            timeout_ms: 1000,
            max_jobs: 10,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        };
        self.apply(vec![], vec![demand]);
        self.1.deliveries.iter().flat_map(|delivery| &delivery.jobs).map(|job| job.key).collect()
    }

    fn complete(&mut self, job_key: Key) -> crate::Outcome {
        self.command(Command::CompleteJob(CompleteJob::of(job_key, Document::empty())))
    }

    /// Gives `p` another file, as if this were another release that reads it otherwise. Returns the former one.
    fn replace(&mut self, resource: Vec<u8>) -> Vec<u8> {
        let rows = self.0.tables.definitions.scan(.., usize::MAX).unwrap();
        let (key, row) = rows.into_iter().find(|(_, row)| *row.process_id == *"p").unwrap();
        self.0.tables.begin();
        self.0.tables.definitions.put(key, Definition { resource, ..(*row).clone() });
        self.0.tables.commit();
        self.0.definitions.forget(key);
        row.resource.clone()
    }
}

#[test]
fn its_instances_are_set_aside_and_all_others_go_on() {
    for records in [false, true] {
        let mut run = Fixture::new(records);
        let (unlucky, lucky) = (run.instance("p"), run.instance("q"));
        let (held, other) = (run.jobs("p")[0], run.jobs("q")[0]);
        let waiting = run.instance("p");
        let readable = run.replace(b"<p/>".to_vec());

        let refused = run.complete(held).unwrap_err();
        assert_eq!(refused.kind, RejectionType::ProcessingError, "{refused:?}");
        let banned = run.0.tables.banned.get(&unlucky).unwrap().expect("the instance is set aside");
        assert!(banned.reason.contains("cannot be read by this release"), "{banned:?}");
        assert!(run.jobs("p").is_empty());
        assert!(run.0.tables.banned.contains(&waiting).unwrap(), "its job could not be handed out");
        let refused = run.command(create("p")).unwrap_err();
        assert_eq!(refused.kind, RejectionType::ProcessingError, "{refused:?}");

        run.complete(other).unwrap();
        assert!(!run.0.tables.instances.contains(&lucky).unwrap(), "it has ended");
        // Their end needs the model, too; a release that reads it goes on with them.
        let cancel = Command::CancelInstance { process_instance_key: unlucky, operation_reference: None };
        run.command(cancel).unwrap_err();
        run.replace(readable);
        for process_instance_key in [unlucky, waiting] {
            run.command(Command::Unban { process_instance_key }).unwrap();
        }
        let freed = run.jobs("p");
        run.complete(held).unwrap();
        run.complete(freed[0]).unwrap();
        assert!(run.0.tables.instances.is_empty().unwrap());
    }
}
