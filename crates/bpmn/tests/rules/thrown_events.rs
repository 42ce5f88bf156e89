//! Rules about thrown events: signals, escalations, links.

use super::{check_file, check_with, model, valid};
use bpmn::graph::{ElementKind, Text, Throw};

const ROOTS: &str = "<signal id='sig' name='alarm'/><signal id='nameless'/><signal id='dynamic' name='=name'/>\
                     <escalation id='esc' escalationCode='E1'/><escalation id='codeless'/>\
                     <escalation id='computed' escalationCode='=code'/>";
const SIGNAL: &str = "<signalEventDefinition signalRef='sig'/>";
const ESCALATION: &str = "<escalationEventDefinition escalationRef='esc'/>";

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    check_with(ROOTS, body, expected);
}

#[test]
fn signals_stand_everywhere_and_have_a_name() {
    for (element, attributes) in [
        ("intermediateCatchEvent", ""),
        ("intermediateThrowEvent", ""),
        ("endEvent", ""),
        ("boundaryEvent", "attachedToRef='t'"),
        ("boundaryEvent", "attachedToRef='t' cancelActivity='false'"),
        ("startEvent", ""),
    ] {
        let event = |definition: &str| {
            format!("<task id='t'/><{element} id='x' {attributes}>{definition}</{element}>")
        };
        check(&event(SIGNAL), &[]);
        check(&event("<signalEventDefinition signalRef='dynamic'/>"), &[]);
        for (definition, reason) in [
            ("<signalEventDefinition/>", "signalEventDefinition must have a non-empty attribute 'signalRef'"),
            (
                "<signalEventDefinition signalRef='other'/>",
                "signalRef refers to 'other', which is not a signal",
            ),
            ("<signalEventDefinition signalRef='nameless'/>", "the signal 'nameless' must have a name"),
        ] {
            check(&event(definition), &[&format!("{element} 'x': {reason}")]);
        }
    }
}

#[test]
fn escalations_are_thrown_with_a_code_and_caught_around_others() {
    for element in ["intermediateThrowEvent", "endEvent"] {
        let event = |definition: &str| format!("<{element} id='x'>{definition}</{element}>");
        check(&event(ESCALATION), &[]);
        check(&event("<escalationEventDefinition escalationRef='computed'/>"), &[]);
        for (definition, reason) in [
            (
                "<escalationEventDefinition/>",
                "escalationEventDefinition must have a non-empty attribute 'escalationRef'",
            ),
            (
                "<escalationEventDefinition escalationRef='other'/>",
                "escalationRef refers to 'other', which is not an escalation",
            ),
            (
                "<escalationEventDefinition escalationRef='codeless'/>",
                "the escalation 'codeless' must have an escalationCode to be thrown",
            ),
        ] {
            check(&event(definition), &[&format!("{element} 'x': {reason}")]);
        }
    }
    let around = |host: &str, definition: &str| {
        format!(
            "{host}<boundaryEvent id='x' attachedToRef='t' cancelActivity='false'>{definition}</boundaryEvent>"
        )
    };
    let sub = "<subProcess id='t'><startEvent id='i'/></subProcess>";
    let call = "<callActivity id='t'><extensionElements><zeebe:calledElement processId='q'/></extensionElements></callActivity>";
    for host in [sub, call] {
        check(&around(host, ESCALATION), &[]);
        check(&around(host, "<escalationEventDefinition/>"), &[]);
        check(&around(host, "<escalationEventDefinition escalationRef='codeless'/>"), &[]);
        check(
            &around(host, "<escalationEventDefinition escalationRef='computed'/>"),
            &["boundaryEvent 'x': the code of escalation 'computed' must be static text to be caught"],
        );
    }
    check(
        &around("<task id='t'/>", ESCALATION),
        &[
            "boundaryEvent 'x': an escalation boundary event must be attached to a sub-process or a call activity",
        ],
    );
    for element in ["startEvent", "intermediateCatchEvent"] {
        let found = format!("<{element} id='x'>{ESCALATION}</{element}>");
        check(
            &found,
            &[&format!(
                "{element} 'x': a{} must be one of: *",
                if element == "startEvent" { " start event" } else { "n intermediate catch event" }
            )
            .replace(" *", "*")],
        );
    }
}

#[test]
fn two_of_one_place_do_not_wait_for_the_same() {
    for (definition, what) in [
        (SIGNAL, "waits for the signal 'alarm'"),
        (ESCALATION, "catches the escalation code 'E1'"),
        ("<escalationEventDefinition/>", "catches all escalations"),
    ] {
        let boundary = |id: &str| {
            format!(
                "<boundaryEvent id='{id}' attachedToRef='t' cancelActivity='false'>{definition}</boundaryEvent>"
            )
        };
        let host = "<subProcess id='t'><startEvent id='i'/></subProcess>";
        check(
            &format!("{host}{}{}", boundary("a"), boundary("b")),
            &[&format!("boundaryEvent 'b': another boundary event of the activity {what}")],
        );
        let on = |id: &str| {
            format!(
                "<subProcess id='{id}' triggeredByEvent='true'><startEvent id='{id}-s' isInterrupting='false'>{definition}\
                 </startEvent></subProcess>"
            )
        };
        check(
            &format!("{}{}", on("a"), on("b")),
            &[&format!("subProcess 'b': another event sub-process of the same scope {what}")],
        );
    }
    check(
        &format!("<startEvent id='a'>{SIGNAL}</startEvent><startEvent id='b'>{SIGNAL}</startEvent>"),
        &["process 'p': two start events wait for the signal 'alarm'"],
    );
    let catch = |id: &str| format!("<intermediateCatchEvent id='{id}'>{SIGNAL}</intermediateCatchEvent>");
    let flow = |id: &str, to: &str| format!("<sequenceFlow id='{id}' sourceRef='g' targetRef='{to}'/>");
    check(
        &format!(
            "<eventBasedGateway id='g'/>{}{}{}{}",
            catch("a"),
            catch("b"),
            flow("f", "a"),
            flow("h", "b")
        ),
        &["eventBasedGateway 'g': two events of the gateway wait for the signal 'alarm'"],
    );
}

#[test]
fn links_have_a_name_and_one_catch_event_in_their_scope() {
    let link = |element: &str, id: &str, name: &str| {
        format!("<{element} id='{id}'><linkEventDefinition name='{name}'/></{element}>")
    };
    let (catch, throw) = ("intermediateCatchEvent", "intermediateThrowEvent");
    check(&format!("{}{}{}", link(throw, "a", "x"), link(throw, "b", "x"), link(catch, "c", "x")), &[]);
    check(&link(catch, "c", "x"), &[]);
    check(
        &link(throw, "a", "x"),
        &["intermediateThrowEvent 'a': no link catch event of the same scope has the name 'x'"],
    );
    check(
        &format!("{}{}", link(catch, "c", "x"), link(catch, "d", "x")),
        &["intermediateCatchEvent 'd': another link catch event of the same scope has the name 'x'"],
    );
    let inner = format!("<subProcess id='s2'><startEvent id='i'/>{}</subProcess>", link(catch, "d", "x"));
    check(&format!("{}{inner}", link(catch, "c", "x")), &[]);
    check(
        &format!("{}{inner}", link(throw, "a", "x")),
        &["intermediateThrowEvent 'a': no link catch event of the same scope has the name 'x'"],
    );
    for (element, id) in [(catch, "c"), (throw, "a")] {
        check(
            &link(element, id, " "),
            &[&format!("{element} '{id}': linkEventDefinition must have a non-empty attribute 'name'")],
        );
    }
    check(
        &format!(
            "{}{}<task id='t'/><sequenceFlow id='f' sourceRef='a' targetRef='t'/>",
            link(throw, "a", "x"),
            link(catch, "c", "x")
        ),
        &["intermediateThrowEvent 'a': a link throw event cannot have outgoing sequence flows"],
    );
    check_file(
        &model(
            "",
            "<startEvent id='s'/><intermediateCatchEvent id='c'><linkEventDefinition name='x'/></intermediateCatchEvent>\
             <intermediateThrowEvent id='a'><linkEventDefinition name='x'/></intermediateThrowEvent>\
             <sequenceFlow id='f' sourceRef='c' targetRef='a'/>",
        ),
        &["*"],
    );
}

#[test]
fn a_link_needs_no_id_and_leads_to_its_catch_event() {
    let processes = valid(&model(
        "",
        "<startEvent id='s'/><intermediateThrowEvent id='a'><linkEventDefinition name='x'/></intermediateThrowEvent>\
         <intermediateCatchEvent id='c'><linkEventDefinition name='x'/></intermediateCatchEvent>",
    ));
    let process = &processes[0];
    let throw = &process.element(process.by_id["a"]).kind;
    assert!(matches!(throw, ElementKind::Throw(Throw::Link { target, .. }) if *target == process.by_id["c"]));
    let processes =
        valid(&model(ROOTS, &format!("<startEvent id='s'/><endEvent id='e'>{SIGNAL}</endEvent>")));
    let end = &processes[0].element(processes[0].by_id["e"]).kind;
    assert!(matches!(end, ElementKind::Throw(Throw::Signal(Text::Static(name))) if &**name == "alarm"));
}

#[test]
fn conditions_are_expressions_and_start_events_differ_in_theirs() {
    let event =
        |definition: &str| format!("<intermediateCatchEvent id='x'>{definition}</intermediateCatchEvent>");
    let with =
        |inner: &str| event(&format!("<conditionalEventDefinition>{inner}</conditionalEventDefinition>"));
    let filter = |events: &str| {
        with(&format!(
            "<extensionElements><zeebe:conditionalFilter variableEvents='{events}'/></extensionElements>\
             <condition>=x</condition>"
        ))
    };
    check(&with("<condition>= x > 1</condition>"), &[]);
    for events in ["create", "update", "create, update", ""] {
        check(&filter(events), &[]);
    }
    for (inner, reason) in [
        (with(""), "a conditional event definition must have exactly one condition"),
        (with("<condition/>"), "the condition must not be empty"),
        (
            with("<condition>x</condition>"),
            "condition must be an expression that starts with '=', but is 'x'",
        ),
        (with("<condition>=x ></condition>"), "condition is not a valid expression: *"),
        (
            filter("delete"),
            "attribute 'variableEvents' of zeebe:conditionalFilter must list create, update or both, but has 'delete'",
        ),
    ] {
        check(&inner, &[&format!("intermediateCatchEvent 'x': {reason}")]);
    }
    let start = |id: &str, condition: &str| {
        format!(
            "<startEvent id='{id}'><conditionalEventDefinition><condition>={condition}</condition>\
             </conditionalEventDefinition></startEvent>"
        )
    };
    check(&format!("{}{}", start("a", "x"), start("b", "y")), &[]);
    check(
        &format!("{}{}", start("a", "x"), start("b", " x")),
        &["process 'p': two start events wait for the condition 'x'"],
    );
}
