//! Rules about sequence flows, scopes and start events.

use super::{MESSAGE, check, check_file, check_with, model};

#[test]
fn a_flow_joins_two_elements_of_one_scope() {
    for (body, expected) in [
        ("<task id='t'/><sequenceFlow id='f' sourceRef='s' targetRef='t'/>", &[][..]),
        ("<sequenceFlow id='f' sourceRef='s'/>", &["sequenceFlow 'f': targetRef is required"]),
        (
            "<sequenceFlow id='f' sourceRef='x' targetRef='y'/>",
            &[
                "sequenceFlow 'f': sourceRef refers to 'x', which is not an element of the process",
                "sequenceFlow 'f': targetRef refers to 'y', which is not an element of the process",
            ],
        ),
        (
            "<subProcess id='sub'><startEvent id='i'/></subProcess><sequenceFlow id='f' sourceRef='s' targetRef='i'/>",
            &["sequenceFlow 'f': targetRef refers to 'i', which is in another sub-process"],
        ),
        // Elements beyond what is supported are elements nevertheless.
        (
            "<implicitThrowEvent id='g'/><sequenceFlow id='f' sourceRef='s' targetRef='g'/>",
            &["implicitThrowEvent 'g': implicit throw events are not supported yet"],
        ),
        // Deploys, although the standard disagrees.
        ("<task id='t'/><sequenceFlow id='f' sourceRef='t' targetRef='s'/>", &[]),
    ] {
        check(body, expected);
    }
}

#[test]
fn a_condition_follows_a_gateway_that_chooses() {
    let flow = |condition: &str| {
        format!(
            "<task id='t'/><task id='u'/><sequenceFlow id='f' sourceRef='t' targetRef='u'>\
             <conditionExpression>{condition}</conditionExpression></sequenceFlow>"
        )
    };
    let misplaced =
        "sequenceFlow 'f': only a flow that leaves an exclusive or inclusive gateway can have a condition";
    check(&flow("=a"), &[misplaced]);
    check(
        &flow("yes"),
        &[
            "sequenceFlow 'f': conditionExpression must be an expression that starts with '=', but is 'yes'",
            misplaced,
        ],
    );
}

#[test]
fn a_process_has_a_start() {
    check_file(&model("", ""), &["process 'p': must have at least one start event"]);
    check("<startEvent id='s2'/>", &["process 'p': must have at most one none start event"]);
    check_with(
        MESSAGE,
        "<startEvent id='a'><messageEventDefinition messageRef='m'/></startEvent>\
         <startEvent id='b'><timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition></startEvent>",
        &[],
    );
    check_with(
        MESSAGE,
        "<startEvent id='a'><messageEventDefinition messageRef='m'/></startEvent>\
         <startEvent id='b'><messageEventDefinition messageRef='m'/></startEvent>\
         <startEvent id='c'><messageEventDefinition messageRef='m'/></startEvent>",
        &["process 'p': two start events wait for the message 'paid'"],
    );
}

#[test]
fn a_sub_process_has_exactly_one_none_start() {
    for (body, expected) in [
        ("<startEvent id='i'/>", &[][..]),
        ("", &["subProcess 'sub': must have exactly one start event"]),
        (
            "<startEvent id='i'/><startEvent id='j'/>",
            &["subProcess 'sub': must have exactly one start event"],
        ),
        (
            "<startEvent id='i'><timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate>\
             </timerEventDefinition></startEvent>",
            &["startEvent 'i': the start event of an embedded sub-process must be a none start event"],
        ),
    ] {
        check(&format!("<subProcess id='sub'>{body}</subProcess>"), expected);
    }
}

#[test]
fn an_end_event_ends() {
    check(
        "<endEvent id='e'/><task id='t'/><sequenceFlow id='f' sourceRef='e' targetRef='t'/>",
        &["endEvent 'e': an end event cannot have outgoing sequence flows"],
    );
}
