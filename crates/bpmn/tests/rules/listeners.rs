//! Rules about listeners.

use super::{check, check_with};

fn extensions(content: &str) -> String {
    format!(
        "<extensionElements><zeebe:executionListeners>{content}</zeebe:executionListeners></extensionElements>"
    )
}

fn listener(event: &str) -> String {
    format!("<zeebe:executionListener eventType='{event}' type='a'/>")
}

#[test]
fn listeners_have_an_event_and_a_type() {
    for (listeners, expected) in [
        (listener("start") + &listener("end"), &[][..]),
        (
            listener("start") + &listener("start"),
            &["must have at most one zeebe:executionListener with the event type 'start' and the type 'a'"],
        ),
        (
            "<zeebe:executionListener eventType='start' type=' '/>".to_owned(),
            &["zeebe:executionListener must have a non-empty attribute 'type'"],
        ),
        (
            "<zeebe:executionListener type='a'/>".to_owned(),
            &["zeebe:executionListener must have a non-empty attribute 'eventType'"],
        ),
        (
            "<zeebe:executionListener eventType='begin' type='a'/>".to_owned(),
            &[
                "attribute 'eventType' of zeebe:executionListener must be one of start, end, beforeAll, cancel, but is 'begin'",
            ],
        ),
        (
            "<zeebe:executionListener eventType='end' type='=(' retries='2'/>".to_owned(),
            &["attribute 'type' of zeebe:executionListener is not a valid expression:*"],
        ),
        (
            "<zeebe:executionListener eventType='end' type='a' retries='many'/>".to_owned(),
            &[
                "attribute 'retries' of zeebe:executionListener must be a whole number or an expression, but is 'many'",
            ],
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|reason| format!("task 'x': {reason}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&format!("<task id='x'>{}</task>", extensions(&listeners)), &expected);
    }
}

const NO_LIST: &str = "only a multi-instance activity can have execution listeners of event type 'beforeAll'";

#[test]
fn listeners_stand_where_they_can_run() {
    for (element, attributes, event, content, expected) in [
        ("endEvent", "", "start", "", None),
        ("endEvent", "", "end", "", None),
        ("endEvent", "", "end", "<terminateEventDefinition/>", None),
        ("endEvent", "", "start", "<errorEventDefinition errorRef='e'/>", None),
        (
            "endEvent",
            "",
            "end",
            "<errorEventDefinition errorRef='e'/>",
            Some("an error end event cannot have execution listeners of event type 'end'"),
        ),
        ("boundaryEvent", "attachedToRef='t'", "end", "<errorEventDefinition errorRef='e'/>", None),
        (
            "boundaryEvent",
            "attachedToRef='t'",
            "start",
            "<errorEventDefinition errorRef='e'/>",
            Some("a boundary event cannot have execution listeners of event type 'start'"),
        ),
        ("exclusiveGateway", "", "start", "", None),
        (
            "exclusiveGateway",
            "",
            "end",
            "",
            Some("a gateway cannot have execution listeners of event type 'end'"),
        ),
        ("parallelGateway", "", "start", "", None),
        (
            "parallelGateway",
            "",
            "end",
            "",
            Some("a gateway cannot have execution listeners of event type 'end'"),
        ),
        ("intermediateThrowEvent", "", "start", "", None),
        ("intermediateThrowEvent", "", "end", "", None),
        ("manualTask", "", "end", "", None),
        ("manualTask", "", "beforeAll", "", Some(NO_LIST)),
    ] {
        let expected: Vec<String> =
            expected.iter().map(|reason| format!("{element} 'x': {reason}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_with(
            "<error id='e' errorCode='E1'/>",
            &format!(
                "<task id='t'/><{element} id='x' {attributes}>{}{content}</{element}>",
                extensions(&listener(event))
            ),
            &expected,
        );
    }
    super::check_file(
        &super::model(
            "",
            &format!(
                "<startEvent id='s'>{}</startEvent>",
                extensions(&(listener("start") + &listener("end")))
            ),
        ),
        &["startEvent 's': a start event cannot have execution listeners of event type 'start'"],
    );
}

#[test]
fn a_process_has_listeners() {
    let xml = super::model("", &format!("{}<startEvent id='s'/>", extensions(&listener("start"))));
    let processes = super::valid(&xml);
    let listeners = &processes[0].elements[0].listeners;
    assert_eq!((listeners.start.len(), listeners.end.len()), (1, 0));
}

#[test]
fn task_listeners_need_a_task_without_a_job_worker() {
    let listeners = |content: &str| format!("<zeebe:taskListeners>{content}</zeebe:taskListeners>");
    let all: String = ["creating", "assigning", "updating", "completing", "canceling"]
        .iter()
        .map(|event| format!("<zeebe:taskListener eventType='{event}' type='a'/>"))
        .collect();
    for (extensions, expected) in [
        (format!("<zeebe:userTask/>{}", listeners(&all)), &[][..]),
        (listeners(&all), &["zeebe:taskListeners needs zeebe:userTask"]),
        (
            format!("<zeebe:userTask/>{}", listeners("<zeebe:taskListener eventType='start' type='a'/>")),
            &[
                "attribute 'eventType' of zeebe:taskListener must be one of creating, assigning, updating, completing, \
               canceling, but is 'start'",
            ],
        ),
        (
            format!("<zeebe:userTask/>{}", listeners("<zeebe:taskListener eventType='creating'/>")),
            &["zeebe:taskListener must have a non-empty attribute 'type'"],
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|reason| format!("userTask 'x': {reason}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(
            &format!("<userTask id='x'><extensionElements>{extensions}</extensionElements></userTask>"),
            &expected,
        );
    }
}

#[test]
fn cancel_listeners_are_those_of_a_process() {
    for (element, content) in [("manualTask", ""), ("subProcess", "<startEvent id='i'/>")] {
        check(
            &format!("<{element} id='x'>{}{content}</{element}>", extensions(&listener("cancel"))),
            &[&format!("{element} 'x': only a process can have execution listeners of event type 'cancel'")],
        );
    }
}
