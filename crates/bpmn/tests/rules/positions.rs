//! Allowed positions of each event and each marker: the whole table.

use super::{MESSAGE, check_file, definitions};

const ROOTS: &str = "<signal id='sig' name='alarm'/><error id='err' errorCode='E'/>\
                     <escalation id='esc' escalationCode='E'/>";

/// Places of an event, in the order of the columns of [`TABLE`].
const PLACES: [&str; 8] = [
    "process start",
    "interrupting start of an event sub-process",
    "other start of an event sub-process",
    "intermediate catch",
    "interrupting boundary",
    "other boundary",
    "intermediate throw",
    "end",
];

/// `x`: allowed.
const TABLE: [(&str, &str); 15] = [
    ("none", "x     xx"),
    ("message", "xxxxxxxx"),
    ("date", "xxxxxx  "),
    ("duration", " xxxxx  "),
    ("cycle", "x x  x  "),
    ("error", " x  x  x"),
    ("escalation", " xx xxxx"),
    ("signal", "xxxxxxxx"),
    ("conditional", "xxxxxx  "),
    // Of the sub-process around an event sub-process: beyond the reference.
    ("compensation", " xx xxxx"),
    ("link", "   x  x "),
    ("terminate", "       x"),
    // At and in a transaction only, which is beyond the reference.
    ("cancel", "        "),
    ("multiple", "        "),
    ("unknown", "        "),
];

fn event_definition(name: &str) -> String {
    let timer = |form: &str, text: &str| {
        format!("<timerEventDefinition><{form}>{text}</{form}></timerEventDefinition>")
    };
    match name {
        "none" => String::new(),
        "message" => "<messageEventDefinition messageRef='m'/>".to_owned(),
        "date" => timer("timeDate", "2030-01-01T00:00:00Z"),
        "duration" => timer("timeDuration", "PT1H"),
        "cycle" => timer("timeCycle", "R/PT1H"),
        "error" => "<errorEventDefinition errorRef='err'/>".to_owned(),
        "escalation" => "<escalationEventDefinition escalationRef='esc'/>".to_owned(),
        "signal" => "<signalEventDefinition signalRef='sig'/>".to_owned(),
        "conditional" => {
            "<conditionalEventDefinition><condition>=x</condition></conditionalEventDefinition>".to_owned()
        }
        "compensation" => "<compensateEventDefinition/>".to_owned(),
        "link" => "<linkEventDefinition name='l'/>".to_owned(),
        "terminate" => "<terminateEventDefinition/>".to_owned(),
        "cancel" => "<cancelEventDefinition/>".to_owned(),
        "multiple" => event_definition("message") + &event_definition("signal"),
        _ => "<otherEventDefinition/>".to_owned(),
    }
}

/// An event in its place, inside a sub-process, with what it needs around it.
fn event(name: &str, place: &str) -> String {
    let definition = event_definition(name);
    let job = if name == "message" && (place == "intermediate throw" || place == "end") {
        "<extensionElements><zeebe:taskDefinition type='t'/></extensionElements>"
    } else {
        ""
    };
    let around = |inner: &str| {
        format!(
            "<startEvent id='s'/><subProcess id='sub'><startEvent id='i'/><subProcess id='host'><startEvent id='hs'/></subProcess>\
             {inner}</subProcess>"
        )
    };
    let on = |flag: &str| {
        around(&format!(
            "<subProcess id='on' triggeredByEvent='true'><startEvent id='x' isInterrupting='{flag}'>{definition}</startEvent>\
             </subProcess>"
        ))
    };
    let boundary = |flag: &str| {
        let handler = if name == "compensation" {
            "<task id='h' isForCompensation='true'/><association id='as' sourceRef='x' targetRef='h'/>"
        } else {
            ""
        };
        around(&format!(
            "<boundaryEvent id='x' attachedToRef='host' cancelActivity='{flag}'>{definition}</boundaryEvent>{handler}"
        ))
    };
    let catch = "<intermediateCatchEvent id='c'><linkEventDefinition name='l'/></intermediateCatchEvent>";
    match place {
        "process start" => format!("<startEvent id='x'>{definition}</startEvent>"),
        "interrupting start of an event sub-process" => on("true"),
        "other start of an event sub-process" => on("false"),
        "intermediate catch" => {
            around(&format!("<intermediateCatchEvent id='x'>{definition}</intermediateCatchEvent>"))
        }
        "interrupting boundary" => boundary("true"),
        "other boundary" => boundary("false"),
        "intermediate throw" => {
            let catch = if name == "link" { catch } else { "" };
            around(&format!(
                "<intermediateThrowEvent id='x'>{job}{definition}</intermediateThrowEvent>{catch}"
            ))
        }
        _ => around(&format!("<endEvent id='x'>{job}{definition}</endEvent>")),
    }
}

#[test]
fn each_event_stands_where_it_may_and_nowhere_else() {
    let mut wrong = Vec::new();
    for (name, row) in TABLE {
        assert_eq!(row.len(), PLACES.len(), "{name}");
        for (place, cell) in PLACES.iter().zip(row.chars()) {
            let xml = definitions(&format!(
                "{MESSAGE}{ROOTS}<process id='p' isExecutable='true'>{}</process>",
                event(name, place)
            ));
            let found = bpmn::parse(xml.as_bytes(), &bpmn::Limits::default());
            match (cell, found) {
                ('x', Err(problems)) => wrong.push(format!("{name} as {place} is refused: {problems}")),
                (' ', Ok(_)) => wrong.push(format!("{name} as {place} is not refused")),
                (' ', Err(problems)) if !problems.to_string().contains(" 'x': ") => {
                    wrong.push(format!("{name} as {place} is refused without naming it: {problems}"));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_findings_in_all_processes_of_a_file_are_told() {
    check_file(
        &definitions(
            "<message id='m'/><process id='p' isExecutable='true'><startEvent id='s'/>\
             <intermediateCatchEvent id='a'><messageEventDefinition messageRef='m'/></intermediateCatchEvent>\
             <endEvent id='b'><timerEventDefinition/></endEvent></process>\
             <process id='q' isExecutable='true'><startEvent id='t'/><startEvent id='u'/>\
             <task id='v'><multiInstanceLoopCharacteristics/></task></process>",
        ),
        &[
            "intermediateCatchEvent 'a': the message 'm' must have a name",
            "intermediateCatchEvent 'a': the message 'm' must have a zeebe:subscription with a correlationKey",
            "endEvent 'b': an end event must be one of: *",
            "process 'q': must have at most one none start event",
            "task 'v': multiInstanceLoopCharacteristics must have exactly one zeebe:loopCharacteristics",
        ],
    );
}
