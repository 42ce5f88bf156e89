//! Rules about events and their definitions.

use super::{MESSAGE, check, check_file, check_with, model};

const ROOTS: &str = "<message id='m' name='paid'><extensionElements><zeebe:subscription correlationKey='=orderId'/>\
                     </extensionElements></message><message id='bare' name='bare'/>\
                     <error id='e' errorCode='E1'/><error id='dynamic' errorCode='=code'/><error id='nocode'/>";

/// Checks one element `x` beside a task `t`; the expected lines are about `x`.
#[track_caller]
fn check_event(element: &str, attributes: &str, content: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|reason| format!("{element} 'x': {reason}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check_with(
        ROOTS,
        &format!("<task id='t'/><{element} id='x' {attributes}>{content}</{element}>"),
        &expected,
    );
}

fn timer(form: &str, text: &str) -> String {
    format!("<timerEventDefinition><{form}>{text}</{form}></timerEventDefinition>")
}

#[test]
fn timers_have_the_form_their_place_allows() {
    let date = timer("timeDate", "2030-01-01T00:00:00Z");
    let duration = timer("timeDuration", " PT1H ");
    let cycle = timer("timeCycle", "R3/PT1H");
    let boundary = "attachedToRef='t'";
    let lasting = "attachedToRef='t' cancelActivity='false'";
    for (element, attributes, content, expected) in [
        ("startEvent", "", &date, None),
        ("startEvent", "", &cycle, None),
        ("startEvent", "", &duration, Some("a timer start event must have a date or a cycle")),
        ("intermediateCatchEvent", "", &date, None),
        ("intermediateCatchEvent", "", &duration, None),
        (
            "intermediateCatchEvent",
            "",
            &cycle,
            Some("an intermediate timer event must have a date or a duration"),
        ),
        ("boundaryEvent", boundary, &date, None),
        ("boundaryEvent", boundary, &duration, None),
        (
            "boundaryEvent",
            boundary,
            &cycle,
            Some("an interrupting timer boundary event must have a date or a duration"),
        ),
        ("boundaryEvent", lasting, &date, None),
        ("boundaryEvent", lasting, &duration, None),
        ("boundaryEvent", lasting, &cycle, None),
        (
            "endEvent",
            "",
            &date,
            Some(
                "an end event must be one of: none, message, error, escalation, signal, terminate, compensation, cancel",
            ),
        ),
        (
            "intermediateThrowEvent",
            "",
            &date,
            Some(
                "an intermediate throw event must be one of: none, message, signal, escalation, link, compensation",
            ),
        ),
    ] {
        check_event(element, attributes, content, expected.as_slice());
    }
}

#[test]
fn timers_mean_something() {
    let both = "<timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate><timeDuration>PT1H</timeDuration>\
                </timerEventDefinition>";
    let exactly_one = "a timer must have exactly one of timeDate, timeDuration and timeCycle";
    for (content, expected) in [
        (timer("timeDuration", "=duration"), None),
        (timer("timeDate", "=date and time(x)"), None),
        (both.to_owned(), Some(exactly_one)),
        ("<timerEventDefinition/>".to_owned(), Some(exactly_one)),
        (timer("timeDuration", ""), Some("timeDuration must not be empty")),
        (timer("timeDuration", "1 hour"), Some("timeDuration: '1 hour' is not a duration such as *")),
        (timer("timeDate", "tomorrow"), Some("timeDate: 'tomorrow' is not a date and time *")),
        (timer("timeDuration", "=1 +"), Some("timeDuration is not a valid expression: *")),
    ] {
        check_event("intermediateCatchEvent", "", &content, expected.as_slice());
    }
    check_event(
        "startEvent",
        "",
        &timer("timeCycle", "often"),
        &["timeCycle: 'often' is neither a repeating interval such as *"],
    );
}

#[test]
fn message_events_know_their_message() {
    let message = |id: &str| format!("<messageEventDefinition messageRef='{id}'/>");
    let no_key = "the message 'bare' must have a zeebe:subscription with a correlationKey";
    for (element, attributes, id, expected) in [
        ("startEvent", "", "m", None),
        ("startEvent", "", "bare", None),
        ("intermediateCatchEvent", "", "m", None),
        ("intermediateCatchEvent", "", "bare", Some(no_key)),
        ("boundaryEvent", "attachedToRef='t'", "m", None),
        ("boundaryEvent", "attachedToRef='t' cancelActivity='false'", "m", None),
        ("boundaryEvent", "attachedToRef='t'", "bare", Some(no_key)),
        ("startEvent", "", "nowhere", Some("messageRef refers to 'nowhere', which is not a message")),
        ("startEvent", "", "", Some("messageEventDefinition must have a non-empty attribute 'messageRef'")),
    ] {
        check_event(element, attributes, &message(id), expected.as_slice());
    }
}

#[test]
fn message_throw_events_are_jobs_or_publish() {
    for element in ["intermediateThrowEvent", "endEvent"] {
        let job = "<extensionElements><zeebe:taskDefinition type='send'/></extensionElements><messageEventDefinition/>";
        check_event(element, "", job, &[]);
        check_event(
            element,
            "",
            "<messageEventDefinition messageRef='m'/>",
            &["must have exactly one zeebe:taskDefinition or zeebe:publishMessage"],
        );
        check_event(
            element,
            "",
            "<extensionElements><zeebe:publishMessage/><zeebe:taskDefinition type='send'/></extensionElements><messageEventDefinition messageRef='m'/>",
            &["must have exactly one zeebe:taskDefinition or zeebe:publishMessage"],
        );
        check_event(
            element,
            "",
            "<extensionElements><zeebe:publishMessage/></extensionElements><messageEventDefinition messageRef='m'/>",
            &[],
        );
        check_event(
            element,
            "",
            "<extensionElements><zeebe:publishMessage/></extensionElements><messageEventDefinition/>",
            &["messageEventDefinition must have a non-empty attribute 'messageRef'"],
        );
    }
}

#[test]
fn a_published_message_is_static_or_an_expression() {
    let time = "attribute 'timeToLive' of zeebe:publishMessage";
    for (attributes, expected) in [
        ("", vec![]),
        ("correlationKey='a' messageId='b' timeToLive='PT1H'", vec![]),
        ("correlationKey='=a' messageId='=b' timeToLive='=c'", vec![]),
        ("correlationKey='' messageId=' ' timeToLive='60000'", vec![]),
        ("timeToLive='soon'", vec![format!("sendTask 't': {time}: 'soon' is not a duration*")]),
        ("timeToLive='-1'", vec![format!("sendTask 't': {time}: '-1' is not a duration*")]),
        (
            "correlationKey='=(' messageId='=' timeToLive='=)'",
            vec![
                "sendTask 't': attribute 'correlationKey' of zeebe:publishMessage is not a valid expression: *"
                    .to_owned(),
                "sendTask 't': attribute 'messageId' of zeebe:publishMessage is not a valid expression: *".to_owned(),
                format!("sendTask 't': {time} is not a valid expression: *"),
            ],
        ),
    ] {
        let body = format!(
            "<sendTask id='t' messageRef='m'><extensionElements><zeebe:publishMessage {attributes}/></extensionElements></sendTask>"
        );
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_with(MESSAGE, &body, &expected);
    }
    let publish = "<extensionElements><zeebe:publishMessage/></extensionElements>";
    check(
        &format!("<sendTask id='t'>{publish}</sendTask>"),
        &["sendTask 't': sendTask must have a non-empty attribute 'messageRef'"],
    );
}

#[test]
fn errors_have_a_code() {
    let error = |id: &str| format!("<errorEventDefinition errorRef='{id}'/>");
    let boundary = "attachedToRef='t'";
    for (element, attributes, content, expected) in [
        ("endEvent", "", error("e"), None),
        ("endEvent", "", error("dynamic"), None),
        ("endEvent", "", error("nocode"), Some("the error 'nocode' must have an errorCode to be thrown")),
        ("endEvent", "", error("nowhere"), Some("errorRef refers to 'nowhere', which is not an error")),
        (
            "endEvent",
            "",
            "<errorEventDefinition/>".to_owned(),
            Some("errorEventDefinition must have a non-empty attribute 'errorRef'"),
        ),
        ("boundaryEvent", boundary, error("e"), None),
        ("boundaryEvent", boundary, error("nocode"), None),
        ("boundaryEvent", boundary, "<errorEventDefinition/>".to_owned(), None),
        (
            "boundaryEvent",
            boundary,
            error("dynamic"),
            Some("the code of error 'dynamic' must be static text to be caught"),
        ),
        (
            "boundaryEvent",
            boundary,
            error("nowhere"),
            Some("errorRef refers to 'nowhere', which is not an error"),
        ),
        (
            "boundaryEvent",
            "attachedToRef='t' cancelActivity='false'",
            error("e"),
            Some("an error boundary event must be interrupting"),
        ),
        (
            "startEvent",
            "",
            error("e"),
            Some("a start event must be one of: none, message, timer, signal, conditional"),
        ),
        (
            "intermediateCatchEvent",
            "",
            error("e"),
            Some("an intermediate catch event must be one of: message, timer, signal, link, conditional"),
        ),
    ] {
        check_event(element, attributes, &content, expected.as_slice());
    }
}

#[test]
fn an_event_has_one_definition() {
    let two = "<terminateEventDefinition/><terminateEventDefinition/>";
    check_event("endEvent", "", "<terminateEventDefinition/>", &[]);
    check_event("endEvent", "", two, &["must have at most one event definition"]);
    check_event("intermediateCatchEvent", "", "", &["must have exactly one event definition"]);
    check_event("boundaryEvent", "attachedToRef='t'", "", &["must have exactly one event definition"]);
    check_event(
        "boundaryEvent",
        "attachedToRef='t'",
        "<terminateEventDefinition/>",
        &[
            "a boundary event must be one of: message, timer, error, escalation, signal, conditional, compensation, cancel",
        ],
    );
}

#[test]
fn a_boundary_event_is_attached_to_an_activity_beside_it() {
    let error = "<errorEventDefinition/>";
    let elsewhere = |id: &str| {
        format!("attachedToRef refers to '{id}', which is not an activity in the scope of this event")
    };
    check_event("boundaryEvent", "", error, &["must be attached to an activity"]);
    for id in ["nowhere", "s", "x"] {
        check_event("boundaryEvent", &format!("attachedToRef='{id}'"), error, &[&elsewhere(id)]);
    }
    check_with(
        "",
        "<subProcess id='sub'><startEvent id='i'/><task id='t'/></subProcess>\
         <boundaryEvent id='x' attachedToRef='t'><errorEventDefinition/></boundaryEvent>\
         <boundaryEvent id='y' attachedToRef='sub'><errorEventDefinition/></boundaryEvent>",
        &[&format!("boundaryEvent 'x': {}", elsewhere("t"))],
    );
    check_with(
        "",
        "<task id='t'/><boundaryEvent id='x' attachedToRef='t'><errorEventDefinition/></boundaryEvent>\
         <sequenceFlow id='f' sourceRef='s' targetRef='x'/>",
        &["boundaryEvent 'x': a boundary event cannot have incoming sequence flows"],
    );
}

#[test]
fn boundary_events_of_an_activity_differ() {
    let event = |id: &str, activity: &str, definition: &str| {
        format!("<boundaryEvent id='{id}' attachedToRef='{activity}'>{definition}</boundaryEvent>")
    };
    let (all, code, message) = (
        "<errorEventDefinition/>",
        "<errorEventDefinition errorRef='e'/>",
        "<messageEventDefinition messageRef='m'/>",
    );
    let timer = timer("timeDuration", "PT1H");
    let tasks = "<task id='t'/><task id='u'/>";
    let different = [
        event("b1", "t", all),
        event("b2", "t", code),
        event("b3", "t", message),
        event("b4", "t", &timer),
        event("b5", "t", &timer),
        event("b6", "u", all),
        event("b7", "u", message),
    ];
    check_with(ROOTS, &(tasks.to_owned() + &different.concat()), &[]);
    let same = [
        event("b1", "t", all),
        event("b2", "t", "<errorEventDefinition errorRef='nocode'/>"),
        event("b3", "t", code),
        event("b4", "t", code),
        event("b5", "t", message),
        event("b6", "t", message),
    ];
    check_with(
        ROOTS,
        &(tasks.to_owned() + &same.concat()),
        &[
            "boundaryEvent 'b2': another boundary event of the activity catches all errors",
            "boundaryEvent 'b4': another boundary event of the activity catches the error code 'E1'",
            "boundaryEvent 'b6': another boundary event of the activity waits for the message 'paid'",
        ],
    );
}

#[test]
fn start_events_may_be_of_one_kind_only() {
    check_file(
        &model(MESSAGE, "<startEvent id='x'><messageEventDefinition messageRef='m'/></startEvent>"),
        &[],
    );
    check_file(
        &model("", &format!("<startEvent id='x'>{}</startEvent>", timer("timeCycle", "0 0 9 ? * MON-FRI"))),
        &[],
    );
}
