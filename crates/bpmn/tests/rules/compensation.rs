//! Rules about compensation and transactions.

use super::{check, model, valid};

const BOUNDARY: &str = "<boundaryEvent id='b' attachedToRef='a'><compensateEventDefinition/></boundaryEvent>";
const HANDLER: &str = "<task id='h' isForCompensation='true'/>";

fn association(target: &str) -> String {
    format!("<association id='to-{target}' sourceRef='b' targetRef='{target}'/>")
}

fn flow(from: &str, to: &str) -> String {
    format!("<sequenceFlow id='{from}-{to}' sourceRef='{from}' targetRef='{to}'/>")
}

#[test]
fn a_compensation_boundary_event_has_one_handler() {
    let body = |rest: &str| format!("<task id='a'/><task id='t'/>{BOUNDARY}{HANDLER}{rest}");
    for (rest, expected) in [
        (association("h"), &[][..]),
        (
            String::new(),
            &[
                "boundaryEvent 'b': a compensation boundary event must have exactly one association to its handler, but has 0",
            ],
        ),
        (
            association("h") + "<task id='i' isForCompensation='true'/>" + &association("i"),
            &[
                "boundaryEvent 'b': a compensation boundary event must have exactly one association to its handler, but has 2",
            ],
        ),
        (
            association("t"),
            &[
                "boundaryEvent 'b': the association leads to 't', which is not an activity marked isForCompensation in the scope of this event",
            ],
        ),
        (
            association("h") + &flow("b", "t"),
            &["boundaryEvent 'b': a compensation boundary event cannot have outgoing sequence flows"],
        ),
        (
            association("h") + &flow("s", "h") + &flow("h", "t"),
            &["task 'h': a compensation handler cannot have incoming or outgoing sequence flows"],
        ),
        (
            association("h")
                + "<boundaryEvent id='c' attachedToRef='h'><compensateEventDefinition/></boundaryEvent>\
                   <association id='x' sourceRef='c' targetRef='h'/>",
            &["boundaryEvent 'c': a compensation handler cannot be compensated itself"],
        ),
        (
            association("h")
                + "<boundaryEvent id='c' attachedToRef='a'><compensateEventDefinition/></boundaryEvent>\
                   <association id='x' sourceRef='c' targetRef='h'/>",
            &["boundaryEvent 'c': the activity has another compensation boundary event"],
        ),
    ] {
        check(&body(&rest), expected);
    }
}

#[test]
fn what_is_compensated_is_in_the_scope() {
    let body = |definition: &str| {
        format!(
            "<task id='a'/>{BOUNDARY}{HANDLER}{}<task id='t'/><subProcess id='sub'><startEvent id='i'/><task id='deep'/>\
             </subProcess><intermediateThrowEvent id='x'>{definition}</intermediateThrowEvent>",
            association("h")
        )
    };
    let named = |id: &str| format!("<compensateEventDefinition activityRef='{id}'/>");
    for (definition, expected) in [
        ("<compensateEventDefinition/>".to_owned(), &[][..]),
        ("<compensateEventDefinition waitForCompletion='true'/>".to_owned(), &[]),
        (named("a"), &[]),
        (named("sub"), &[]),
        (
            "<compensateEventDefinition waitForCompletion='false'/>".to_owned(),
            &[
                "intermediateThrowEvent 'x': a compensation event must wait for completion: waitForCompletion must be true",
            ],
        ),
        (
            named("nobody"),
            &["intermediateThrowEvent 'x': activityRef refers to 'nobody', which is not an activity"],
        ),
        (named("s"), &["intermediateThrowEvent 'x': activityRef refers to 's', which is not an activity"]),
        (
            named("deep"),
            &[
                "intermediateThrowEvent 'x': activityRef refers to 'deep', which is not in the scope of this event",
            ],
        ),
        (
            named("t"),
            &[
                "intermediateThrowEvent 'x': activityRef refers to 't', which is neither a sub-process nor has a compensation boundary event",
            ],
        ),
    ] {
        check(&body(&definition), expected);
    }
    check(
        "<startEvent id='x'><compensateEventDefinition/></startEvent>\
         <intermediateCatchEvent id='y'><compensateEventDefinition/></intermediateCatchEvent>",
        &["startEvent 'x': *", "intermediateCatchEvent 'y': *"],
    );
}

#[test]
fn only_a_transaction_is_cancelled() {
    let boundary = |id: &str, host: &str, attributes: &str| {
        format!(
            "<boundaryEvent id='{id}' attachedToRef='{host}' {attributes}><cancelEventDefinition/></boundaryEvent>"
        )
    };
    let end = "<endEvent id='x'><cancelEventDefinition/></endEvent>";
    let inside = |kind: &str, rest: &str| format!("<{kind} id='tx'><startEvent id='i'/>{end}</{kind}>{rest}");
    valid(&model("", &format!("<startEvent id='s'/>{}", inside("transaction", &boundary("c", "tx", "")))));
    check(
        &inside("transaction", ""),
        &["endEvent 'x': the transaction around a cancel end event must have a cancel boundary event"],
    );
    check(
        &inside("subProcess", &boundary("c", "tx", "")),
        &[
            "endEvent 'x': a cancel end event must be directly inside a transaction",
            "boundaryEvent 'c': a cancel boundary event must be attached to a transaction",
        ],
    );
    check(end, &["endEvent 'x': a cancel end event must be directly inside a transaction"]);
    check(
        &inside("transaction", &(boundary("c", "tx", "cancelActivity='false'") + &boundary("d", "tx", ""))),
        &[
            "boundaryEvent 'c': a cancel boundary event must be interrupting",
            "boundaryEvent 'd': the activity has another cancel boundary event",
        ],
    );
    check(
        "<intermediateThrowEvent id='x'><cancelEventDefinition/></intermediateThrowEvent>",
        &["intermediateThrowEvent 'x': *"],
    );
}

#[test]
fn a_compensation_event_sub_process_undoes_the_sub_process_around_it() {
    let undo = |id: &str| {
        format!(
            "<subProcess id='{id}' triggeredByEvent='true'><startEvent id='{id}-s'><compensateEventDefinition/>\
             </startEvent></subProcess>"
        )
    };
    let sub = |inside: &str| format!("<subProcess id='a'><startEvent id='i'/>{inside}</subProcess>");
    check(&sub(&undo("u")), &[]);
    check(
        &undo("u"),
        &["startEvent 'u-s': a compensation event sub-process must be in a sub-process or transaction"],
    );
    check(
        &sub(&(undo("u") + &undo("v"))),
        &["subProcess 'v': another event sub-process of the same scope waits for compensation"],
    );
    check(
        &format!("{}{BOUNDARY}{HANDLER}{}", sub(&undo("u")), association("h")),
        &[
            "subProcess 'u': the sub-process around a compensation event sub-process cannot have a compensation boundary event too",
        ],
    );
}
