//! Rules about event sub-processes.

use super::{check_with, model, valid};
use bpmn::graph::{ElementKind, ElementType, EventType};

const ROOTS: &str = "<message id='m' name='paid'><extensionElements><zeebe:subscription correlationKey='=orderId'/>\
                     </extensionElements></message><message id='bare' name='bare'/>\
                     <error id='e' errorCode='E1'/><error id='dynamic' errorCode='=code'/>";

/// An event sub-process with one start event of this content.
fn on(id: &str, attributes: &str, definition: &str) -> String {
    format!(
        "<subProcess id='{id}' triggeredByEvent='true'><startEvent id='{id}-s' {attributes}>{definition}</startEvent>\
         </subProcess>"
    )
}

fn timer(form: &str, text: &str) -> String {
    format!("<timerEventDefinition><{form}>{text}</{form}></timerEventDefinition>")
}

#[track_caller]
fn check_start(attributes: &str, definition: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|reason| format!("startEvent 'x-s': {reason}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_with(ROOTS, &on("x", attributes, definition), &expected);
}

#[test]
fn the_start_event_says_what_starts_it() {
    let keeps = "isInterrupting='false'";
    check_start("", "<messageEventDefinition messageRef='m'/>", &[]);
    check_start(keeps, "<messageEventDefinition messageRef='m'/>", &[]);
    check_start(
        "",
        "<messageEventDefinition messageRef='bare'/>",
        &["the message 'bare' must have a zeebe:subscription with a correlationKey"],
    );
    check_start("", &timer("timeDuration", "PT1H"), &[]);
    check_start("", &timer("timeDate", "2030-01-01T00:00:00Z"), &[]);
    check_start(
        "",
        &timer("timeCycle", "R3/PT1H"),
        &["an interrupting event sub-process must start by a date or a duration"],
    );
    check_start(keeps, &timer("timeCycle", "R3/PT1H"), &[]);
    check_start("", "<errorEventDefinition errorRef='e'/>", &[]);
    check_start("", "<errorEventDefinition/>", &[]);
    check_start(
        keeps,
        "<errorEventDefinition errorRef='e'/>",
        &["an error start event must be interrupting"],
    );
    check_start(
        "",
        "<errorEventDefinition errorRef='dynamic'/>",
        &["the code of error 'dynamic' must be static text to be caught"],
    );
    check_start("", "", &["the start event of an event sub-process must have an event definition"]);
}

#[test]
fn it_has_exactly_one_start_event_and_no_flows() {
    check_with(
        ROOTS,
        "<subProcess id='x' triggeredByEvent='true'><task id='t'/></subProcess>",
        &["subProcess 'x': must have exactly one start event"],
    );
    check_with(
        ROOTS,
        &format!(
            "{}<task id='t'/><sequenceFlow id='f' sourceRef='t' targetRef='x'/>",
            on("x", "", "<errorEventDefinition/>")
        ),
        &["subProcess 'x': an event sub-process cannot have incoming or outgoing sequence flows"],
    );
    check_with(
        ROOTS,
        &format!(
            "{}<boundaryEvent id='b' attachedToRef='x'><errorEventDefinition/></boundaryEvent>",
            on("x", "", "<errorEventDefinition/>")
        ),
        &[
            "boundaryEvent 'b': attachedToRef refers to 'x', which is not an activity in the scope of this event",
        ],
    );
}

#[test]
fn two_of_one_scope_do_not_start_by_the_same() {
    for (definition, what) in [
        ("<messageEventDefinition messageRef='m'/>", "waits for the message 'paid'"),
        ("<errorEventDefinition errorRef='e'/>", "catches the error code 'E1'"),
        ("<errorEventDefinition/>", "catches all errors"),
    ] {
        let finding = format!("subProcess 'b': another event sub-process of the same scope {what}");
        check_with(ROOTS, &format!("{}{}", on("a", "", definition), on("b", "", definition)), &[&finding]);
        let inner =
            format!("<subProcess id='sub'><startEvent id='i'/>{}</subProcess>", on("b", "", definition));
        check_with(ROOTS, &format!("{}{inner}", on("a", "", definition)), &[]);
    }
    let both = format!(
        "{}{}",
        on("a", "", "<errorEventDefinition/>"),
        on("b", "", "<errorEventDefinition errorRef='e'/>")
    );
    check_with(ROOTS, &both, &[]);
}

#[test]
fn the_graph_knows_whose_events_start_them() {
    let inner = on("c", "isInterrupting='false'", "<messageEventDefinition messageRef='m'/>");
    let body = format!(
        "<startEvent id='s'/>{}<subProcess id='b'><startEvent id='i'/>{inner}</subProcess>",
        on("a", "", "<errorEventDefinition/>")
    );
    let processes = valid(&model(ROOTS, &body));
    let process = &processes[0];
    let element = |id: &str| process.element(process.by_id[id]);
    assert_eq!(process.elements[0].event_starts, [process.by_id["a-s"]]);
    assert_eq!(element("b").event_starts, [process.by_id["c-s"]]);
    assert_eq!(element("a").element_type, ElementType::EventSubProcess);
    assert_eq!(element("a-s").event_type, EventType::Error);
    assert!(matches!(&element("a-s").kind, ElementKind::StartEvent(start) if start.interrupting));
    assert!(matches!(&element("c-s").kind, ElementKind::StartEvent(start) if !start.interrupting));
    assert!(process.triggered_starts().next().is_none());
}
