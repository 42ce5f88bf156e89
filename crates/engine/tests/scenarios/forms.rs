//! Forms of user tasks and of processes: selection of the version, and reads.

use std::collections::BTreeMap;

use protocol::{
    Command, CreateInstance, DefinitionRef, Intent, Query, QueryReply, RecordValue, Response, UserTaskView,
};

use crate::support::{Harness, document};

const MODEL: &str = "process p
    start s
    user latest form=ask
    user same form=ask binding=deployment
    user tagged form==which binding=versionTag formtag=v1
    user external external==which
    user none
    s -> latest
    s -> same
    s -> tagged
    s -> external
    s -> none";

/// A form that differs from others of its ID by its title.
fn form(title: &str, tag: &str) -> String {
    format!(r#"{{"id":"ask","title":"{title}","versionTag":"{tag}"}}"#)
}

#[test]
fn the_form_of_a_task_is_chosen_by_its_binding() {
    let mut harness = Harness::new();
    for files in [
        &[("ask.form", &*form("1", "v1"))][..],
        &[("ask.form", &*form("2", "v1"))],
        &[("ask.form", &*form("3", "v2")), ("p.bpmn", MODEL)],
        &[("ask.form", &*form("4", "v2"))],
    ] {
        harness.deploy(files).unwrap();
    }
    let definition = DefinitionRef::Id { id: "p".into(), version: None };
    let create =
        CreateInstance { variables: document(r#"{"which":"ask"}"#), ..CreateInstance::of(definition) };
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let tasks: BTreeMap<String, u64> = harness
        .records()
        .filter(|record| record.intent == Intent::Created)
        .filter_map(|record| match &record.value {
            RecordValue::UserTask(task) => Some((task.element_id.to_string(), record.key)),
            _ => None,
        })
        .collect();
    for (element, expected) in [
        ("latest", Some(form("4", "v2"))),
        ("same", Some(form("3", "v2"))),
        ("tagged", Some(form("2", "v1"))),
        ("external", None),
        ("none", None),
    ] {
        let key = tasks[element];
        let QueryReply::UserTaskForm(found) = harness.read(&Query::UserTaskForm { key }).unwrap() else {
            panic!("a form or none")
        };
        let text = found.as_ref().map(|form| String::from_utf8(form.content.clone()).unwrap());
        assert_eq!(text, expected, "{element}");
        let QueryReply::UserTask(task) = harness.read(&Query::UserTask { key }).unwrap() else {
            panic!("a task")
        };
        let UserTaskView { form_key, external_form_reference, .. } = *task;
        assert_eq!(form_key, found.map(|form| form.key), "{element}");
        assert_eq!(&*external_form_reference, if element == "external" { "ask" } else { "" });
    }
}

#[test]
fn a_process_need_not_have_a_start_form() {
    let mut harness = Harness::new();
    let Response::Deployed(deployed) = harness.deploy(&[("p.bpmn", MODEL)]).unwrap() else {
        panic!("a deployment")
    };
    let process_definition_key = deployed.processes[0].process_definition_key;
    let reply = harness.read(&Query::StartForm { process_definition_key }).unwrap();
    assert_eq!(reply, QueryReply::StartForm(None));
    assert!(harness.read(&Query::StartForm { process_definition_key: 1 }).is_err());
}
