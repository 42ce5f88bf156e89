//! Reads of the engine's state.

use engine::ReadError;
use expect_test::{Expect, expect};
use protocol::{
    Command, CreateInstance, DefinitionRef, DeleteResource, Deploy, Document, Key, Name, Query, QueryReply,
    Resource, Response, SourceOf,
};

use crate::support::model::bpmn;
use crate::support::{Harness, document};

const CALLER: &str = r#"process caller
   start s
   call c process=callee
   end e
   s -> c -> e"#;

const CALLEE: &str = r#"process callee
   start s
   sub inner {
     start si
     job t in:local="=1"
     end ei
     si -> t -> ei
   }
   end e
   s -> inner -> e"#;

fn create(harness: &mut Harness, id: &str, variables: Document) -> Key {
    let before = harness.engine().tables().instances.last(..).unwrap().map_or(0, |(key, _)| key);
    let command = CreateInstance {
        variables,
        tags: vec!["vip".into()],
        business_id: Some("b".into()),
        ..CreateInstance::of(DefinitionRef::Id { id: id.into(), version: None })
    };
    harness.command(Command::CreateInstance(command)).unwrap().unwrap();
    let rows = harness.engine().tables().instances.keys(before + 1.., 1).unwrap();
    rows[0]
}

/// A running call of a sub-process with a job that has failed.
fn called() -> (Harness, Key) {
    let mut harness = Harness::new();
    harness.deploy(&[("caller.bpmn", CALLER), ("callee.bpmn", CALLEE)]).unwrap();
    let key = create(&mut harness, "caller", document(r#"{"a":{"b":1}}"#));
    let job = harness.activate("t", 1).remove(0);
    let fail = protocol::FailJob {
        job_key: job.key,
        retries: 0,
        retry_backoff_ms: 0,
        error_message: "broken".into(),
        variables: Document::empty(),
        lease: None,
    };
    harness.command(Command::FailJob(fail)).unwrap().unwrap();
    (harness, key)
}

fn check(harness: &mut Harness, query: Query, expected: Expect) {
    let text = match harness.read(&query) {
        Ok(reply) => format!("{reply:#?}\n"),
        Err(ReadError::Rejected(rejection)) => format!("{rejection}\n"),
        Err(ReadError::State(error)) => panic!("{error}"),
    };
    expected.assert_eq(&text);
}

#[test]
fn instances_tell_of_incidents_in_what_they_called() {
    let (mut harness, caller) = called();
    check(
        &mut harness,
        Query::ProcessInstance { key: caller },
        expect![[r#"
            ProcessInstance(
                ProcessInstanceView {
                    key: 2251799813685252,
                    process_definition_key: 2251799813685250,
                    process_id: "caller",
                    process_name: None,
                    version: 1,
                    version_tag: None,
                    start_ms: 1767225600000,
                    has_incident: true,
                    tenant_id: "<default>",
                    parent_process_instance_key: None,
                    parent_element_instance_key: None,
                    root_process_instance_key: 2251799813685252,
                    tags: [
                        "vip",
                    ],
                    business_id: Some(
                        "b",
                    ),
                    suspended_ms: None,
                },
            )
        "#]],
    );
    let callee = harness.engine().tables().instances.last(..).unwrap().unwrap().0;
    check(
        &mut harness,
        Query::CallHierarchy { process_instance_key: callee },
        expect![[r#"
        CallHierarchy(
            [
                CallHierarchyEntry {
                    process_instance_key: 2251799813685252,
                    process_definition_key: 2251799813685250,
                    process_name: "caller",
                },
                CallHierarchyEntry {
                    process_instance_key: 2251799813685258,
                    process_definition_key: 2251799813685251,
                    process_name: "callee",
                },
            ],
        )
    "#]],
    );
    let incident = harness.engine().tables().incidents.first(..).unwrap().unwrap().0;
    check(
        &mut harness,
        Query::Incident { key: incident },
        expect![[r#"
        Incident(
            IncidentView {
                key: 2251799813685268,
                error_type: "JOB_NO_RETRIES",
                error_message: "broken",
                created_ms: 1767225600000,
                element_id: "t",
                element_instance_key: 2251799813685265,
                job_key: Some(
                    2251799813685267,
                ),
                process_instance_key: 2251799813685258,
                root_process_instance_key: 2251799813685252,
                process_definition_key: 2251799813685251,
                process_id: "callee",
                tenant_id: "<default>",
            },
        )
    "#]],
    );
    let QueryReply::Incident(view) = harness.read(&Query::Incident { key: incident }).unwrap() else {
        panic!("an incident")
    };
    check(
        &mut harness,
        Query::ElementInstance { key: view.element_instance_key },
        expect![[r#"
        ElementInstance(
            ElementInstanceView {
                key: 2251799813685265,
                element_id: "t",
                element_name: "t",
                element_type: "SERVICE_TASK",
                start_ms: 1767225600000,
                incident_key: Some(
                    2251799813685268,
                ),
                has_incident: true,
                process_instance_key: 2251799813685258,
                root_process_instance_key: 2251799813685252,
                process_definition_key: 2251799813685251,
                process_id: "callee",
                tenant_id: "<default>",
            },
        )
    "#]],
    );

    harness.command(Command::UpdateJob(protocol::UpdateJob {
        job_key: view.job_key.unwrap(),
        retries: Some(1),
        timeout_ms: None,
        operation_reference: None,
        priority: None,
        lease: None,
    }));
    harness.command(Command::ResolveIncident { incident_key: incident, operation_reference: None });
    check(
        &mut harness,
        Query::Incident { key: incident },
        expect![[r#"
        NOT_FOUND: Incident with key '2251799813685268' not found
    "#]],
    );
    let QueryReply::ProcessInstance(view) = harness.read(&Query::ProcessInstance { key: caller }).unwrap()
    else {
        panic!("an instance")
    };
    assert!(!view.has_incident);
    assert!(harness.engine().tables().incident_counts.is_empty().unwrap());
    assert!(harness.engine().tables().instances_with_incidents.is_empty().unwrap());
}

#[test]
fn a_terminated_instance_leaves_no_counts_of_incidents() {
    let (mut harness, caller) = called();
    let cancel = Command::CancelInstance { process_instance_key: caller, operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    assert_eq!(harness.leftovers(), []);
    check(
        &mut harness,
        Query::ProcessInstance { key: caller },
        expect![[r#"
        NOT_FOUND: Process instance with key '2251799813685252' not found
    "#]],
    );
}

#[test]
fn a_variable_is_found_among_many() {
    let mut harness = Harness::new();
    harness.deploy(&[("callee.bpmn", CALLEE)]).unwrap();
    let names: Vec<_> = (0..1900).map(|n| format!(r#""v{n}":{n}"#)).collect();
    let instance = create(&mut harness, "callee", document(&format!("{{{}}}", names.join(","))));
    let row = harness.engine().tables().variables.get(&(instance, "v1899".into())).unwrap().unwrap();
    for flushed in [false, true] {
        if flushed {
            harness.flush_and_reopen();
        }
        let QueryReply::Variable(view) = harness.read(&Query::Variable { key: row.key }).unwrap() else {
            panic!("a variable")
        };
        assert_eq!((&*view.name, view.value.as_str(), view.scope_key), ("v1899", "1899", instance));
    }
    check(
        &mut harness,
        Query::Variable { key: 1 },
        expect![[r#"
        NOT_FOUND: Variable with key '1' not found
    "#]],
    );
}

#[test]
fn the_process_itself_is_no_element_instance() {
    let (mut harness, caller) = called();
    check(
        &mut harness,
        Query::ElementInstance { key: caller },
        expect![[r#"
        NOT_FOUND: Element instance with key '2251799813685252' not found
    "#]],
    );
}

#[test]
fn definitions_tell_what_they_are_and_came_from() {
    let mut harness = Harness::new();
    let dish = include_str!("models/dish.dmn");
    let process = bpmn("process p tag=v7\n start s form=ask binding=deployment\n job t\n s -> t");
    let plain = bpmn("process plain\n start s form==\"no\"+\"ne\"\n end e\n s -> e");
    let files: [(&str, &str); 5] = [
        ("p.bpmn", &process),
        ("plain.bpmn", &plain),
        ("dish.dmn", dish),
        ("ask.form", r#"{"id": "ask"}"#),
        ("notes.txt", "some notes"),
    ];
    let resources = files.map(|(name, content)| Resource { name: name.into(), content: content.into() });
    let deploy = Deploy { resources: resources.into(), tenant_id: Name::default_tenant() };
    let Some(Ok(Response::Deployed(deployed))) = harness.command(Command::Deploy(deploy)) else {
        panic!("a deployment")
    };
    let key = deployed.processes[0].process_definition_key;
    check(
        &mut harness,
        Query::ProcessDefinition { key },
        expect![[r#"
            ProcessDefinition(
                ProcessDefinitionView {
                    key: 2251799813685250,
                    process_id: "p",
                    name: None,
                    version: 1,
                    version_tag: Some(
                        "v7",
                    ),
                    resource_name: "p.bpmn",
                    tenant_id: "<default>",
                    has_start_form: true,
                    is_draining: false,
                },
            )
        "#]],
    );
    check(
        &mut harness,
        Query::StartForm { process_definition_key: key },
        expect![[r#"
            StartForm(
                Some(
                    FileView {
                        key: 2251799813685255,
                        id: "ask",
                        version: 1,
                        version_tag: None,
                        resource_name: "ask.form",
                        tenant_id: "<default>",
                        deployment_key: 2251799813685249,
                        content: [
                            123,
                            34,
                            105,
                            100,
                            34,
                            58,
                            32,
                            34,
                            97,
                            115,
                            107,
                            34,
                            125,
                        ],
                    },
                ),
            )
        "#]],
    );
    let other = deployed.processes[1].process_definition_key;
    check(
        &mut harness,
        Query::StartForm { process_definition_key: other },
        expect![[r#"
        NOT_FOUND: Start form of process definition with key '2251799813685251' not found
    "#]],
    );
    let decision = deployed.decisions[1].key;
    check(
        &mut harness,
        Query::Decision { key: decision },
        expect![[r#"
        Decision(
            DecisionView {
                key: 2251799813685254,
                id: "dish",
                name: "Dish",
                version: 1,
                requirements: DecisionRequirementsView {
                    key: 2251799813685252,
                    id: "dinner",
                    name: "Dinner",
                    version: 1,
                    resource_name: "dish.dmn",
                    tenant_id: "<default>",
                },
            },
        )
    "#]],
    );
    let graph = deployed.decision_requirements[0].key;
    check(
        &mut harness,
        Query::DecisionRequirements { key: graph },
        expect![[r#"
        DecisionRequirements(
            DecisionRequirementsView {
                key: 2251799813685252,
                id: "dinner",
                name: "Dinner",
                version: 1,
                resource_name: "dish.dmn",
                tenant_id: "<default>",
            },
        )
    "#]],
    );
    for (of, key, source) in [
        (SourceOf::Process, key, process.as_str()),
        (SourceOf::Decision, decision, dish),
        (SourceOf::DecisionRequirements, graph, dish),
    ] {
        let reply = harness.read(&Query::Source { of, key }).unwrap();
        assert_eq!(reply, QueryReply::Source(source.into()));
    }
    check(
        &mut harness,
        Query::Source { of: SourceOf::Decision, key: graph },
        expect![[r#"
        NOT_FOUND: Decision definition with key '2251799813685252' not found
    "#]],
    );
    check(
        &mut harness,
        Query::Form { key: deployed.forms[0].key },
        expect![[r#"
            Form(
                FileView {
                    key: 2251799813685255,
                    id: "ask",
                    version: 1,
                    version_tag: None,
                    resource_name: "ask.form",
                    tenant_id: "<default>",
                    deployment_key: 2251799813685249,
                    content: [
                        123,
                        34,
                        105,
                        100,
                        34,
                        58,
                        32,
                        34,
                        97,
                        115,
                        107,
                        34,
                        125,
                    ],
                },
            )
        "#]],
    );
    let notes = deployed.resources[0].key;
    check(
        &mut harness,
        Query::Resource { key: notes, with_content: false },
        expect![[r#"
            Resource(
                FileView {
                    key: 2251799813685256,
                    id: "notes.txt",
                    version: 1,
                    version_tag: None,
                    resource_name: "notes.txt",
                    tenant_id: "<default>",
                    deployment_key: 2251799813685249,
                    content: [],
                },
            )
        "#]],
    );
    let notes = harness.read(&Query::Resource { key: notes, with_content: true }).unwrap();
    assert!(matches!(notes, QueryReply::Resource(file) if file.content == b"some notes"));

    // A draining definition is reported as deleted.
    create(&mut harness, "p", Document::empty());
    let delete = DeleteResource { resource_key: key, operation_reference: None, delete_history: false };
    harness.command(Command::DeleteResource(delete)).unwrap().unwrap();
    let QueryReply::ProcessDefinition(draining) = harness.read(&Query::ProcessDefinition { key }).unwrap()
    else {
        panic!("a process definition")
    };
    assert!(draining.is_draining);
}

#[test]
fn resources_are_listed_by_their_keys() {
    let mut harness = Harness::new();
    let listed = |harness: &mut Harness, limit| {
        let reply = harness.read(&Query::Resources { limit }).unwrap();
        let QueryReply::Resources { resources, has_more } = reply else { panic!("resources") };
        assert!(resources.iter().all(|file| file.content.is_empty() && file.deployment_key > 0));
        (resources.iter().map(|it| format!("{} {}", it.id, it.version)).collect::<Vec<_>>(), has_more)
    };
    assert_eq!(listed(&mut harness, 2), (vec![], false));
    let mut keys = Vec::new();
    for (name, content) in [("b.txt", "1"), ("a.txt", "1"), ("b.txt", "2")] {
        let Ok(Response::Deployed(deployed)) = harness.deploy(&[(name, content)]) else {
            panic!("a deployment")
        };
        keys.push(deployed.resources[0].key);
    }
    harness.flush_and_reopen();
    assert_eq!(
        listed(&mut harness, 3),
        (["b.txt 1", "a.txt 1", "b.txt 2"].map(str::to_owned).to_vec(), false)
    );
    assert_eq!(listed(&mut harness, 2), (["b.txt 1", "a.txt 1"].map(str::to_owned).to_vec(), true));
    let delete = DeleteResource { resource_key: keys[0], operation_reference: None, delete_history: false };
    harness.command(Command::DeleteResource(delete)).unwrap().unwrap();
    assert_eq!(listed(&mut harness, 2), (["a.txt 1", "b.txt 2"].map(str::to_owned).to_vec(), false));
}

#[test]
fn listeners_are_listed_by_their_ids() {
    let mut harness = Harness::new();
    let listed = |harness: &mut Harness, limit| {
        let reply = harness.read(&Query::GlobalListeners { limit }).unwrap();
        let QueryReply::GlobalListeners { listeners, has_more } = reply else { panic!("listeners") };
        (listeners.iter().map(|it| it.id.to_string()).collect::<Vec<_>>(), has_more)
    };
    assert_eq!(listed(&mut harness, 2), (vec![], false));
    for id in ["b", "a"] {
        let listener = protocol::GlobalListener {
            id: id.into(),
            job_type: "t".into(),
            retries: 1,
            event_types: Vec::new(),
            after_non_global: false,
            priority: 50,
            source: protocol::GlobalListenerSource::Api,
        };
        let create = protocol::GlobalListenerCommand::Create(listener);
        harness.command(Command::GlobalListener(create)).unwrap().unwrap();
    }
    harness.flush_and_reopen();
    assert_eq!(listed(&mut harness, 2), (vec!["a".to_owned(), "b".to_owned()], false));
    assert_eq!(listed(&mut harness, 1), (vec!["a".to_owned()], true));
}

#[test]
fn a_scope_sees_its_variables_and_those_around_it() {
    let mut harness = Harness::new();
    let model = "process p\nstart s\njob t in:a=\"=1\" in:b=\"=b + 1\"\nend e\ns -> t -> e";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let create = CreateInstance {
        variables: document(r#"{"b":1,"c":true}"#),
        ..CreateInstance::of(DefinitionRef::Id { id: "p".into(), version: None })
    };
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let job = harness.activate("t", 1).remove(0);
    let mut seen = |key| match harness.read(&Query::Scope { key })? {
        QueryReply::Scope(scope) => {
            assert_eq!((&*scope.process_id, scope.tenant_id), ("p", Name::default_tenant()));
            let mut all: Vec<_> =
                scope.variables.iter().map(|(name, value)| format!("{name}={}", value.as_str())).collect();
            all.sort();
            Ok(all.join(" "))
        }
        reply => panic!("{reply:?}"),
    };
    assert_eq!(seen(job.process_instance_key).unwrap(), "b=1 c=true");
    assert_eq!(seen(job.element_instance_key).unwrap(), "a=1 b=2 c=true");
    let error: ReadError = seen(7).unwrap_err();
    assert!(format!("{error:?}").contains("Process or element instance with key '7' not found"), "{error:?}");
}
