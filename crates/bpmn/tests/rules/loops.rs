//! Loops that never wait are refused.

use super::{check, check_file, definitions};

fn flows(pairs: &[(&str, &str)]) -> String {
    pairs
        .iter()
        .map(|(from, to)| format!("<sequenceFlow id='{from}-{to}' sourceRef='{from}' targetRef='{to}'/>"))
        .collect()
}

const SCRIPT: &str =
    "<extensionElements><zeebe:script expression='=1' resultVariable='x'/></extensionElements>";
const JOB: &str = "<extensionElements><zeebe:taskDefinition type='work'/></extensionElements>";

#[test]
fn finds_loops_that_never_wait() {
    let refused = |path: &str| {
        format!("process 'p': must not have an endless loop of elements that never wait: {path}")
    };
    for (elements, pairs, expected) in [
        ("<task id='a'/>".to_owned(), &[("s", "a"), ("a", "a")][..], Some("a -> a")),
        ("<task id='a'/><manualTask id='b'/>".to_owned(), &[("a", "b"), ("b", "a")], Some("a -> b -> a")),
        (
            "<parallelGateway id='g'/><task id='a'/>".to_owned(),
            &[("g", "a"), ("a", "g")],
            Some("a -> g -> a"),
        ),
        (
            format!("<scriptTask id='a'>{SCRIPT}</scriptTask><intermediateThrowEvent id='b'/>"),
            &[("a", "b"), ("b", "a")],
            Some("a -> b -> a"),
        ),
        // A start event may have incoming flows, but not from itself at once.
        (String::new(), &[("s", "s")], Some("s -> s")),
        // Loops of gateways alone are accepted; a job or an event waits.
        ("<parallelGateway id='g'/><parallelGateway id='h'/>".to_owned(), &[("g", "h"), ("h", "g")], None),
        (
            format!("<task id='a'/><serviceTask id='b'>{JOB}</serviceTask>"),
            &[("a", "b"), ("b", "a")],
            None,
        ),
        (format!("<scriptTask id='a'>{JOB}</scriptTask>"), &[("a", "a")], None),
        (
            "<task id='a'/><intermediateCatchEvent id='b'><timerEventDefinition><timeDuration>PT1S</timeDuration>\
             </timerEventDefinition></intermediateCatchEvent>"
                .to_owned(),
            &[("a", "b"), ("b", "a")],
            None,
        ),
        // Through a sub-process, whose inner element ends it.
        (
            "<subProcess id='sub'><startEvent id='i'/><task id='a'/><endEvent id='e'/>\
             <sequenceFlow id='f1' sourceRef='i' targetRef='a'/><sequenceFlow id='f2' sourceRef='a' targetRef='e'/>\
             </subProcess>"
                .to_owned(),
            &[("sub", "sub")],
            Some("i -> a -> e -> sub -> i"),
        ),
        (
            "<subProcess id='sub'><startEvent id='i'/><subProcess id='in'><startEvent id='j'/></subProcess>\
             <sequenceFlow id='f1' sourceRef='i' targetRef='in'/></subProcess><task id='a'/>"
                .to_owned(),
            &[("sub", "a"), ("a", "sub")],
            Some("i -> in -> j -> a -> sub -> i"),
        ),
        // A process that calls itself, and one that calls something else again and again.
        (
            "<callActivity id='a'><extensionElements><zeebe:calledElement processId='p'/></extensionElements>\
             </callActivity>"
                .to_owned(),
            &[("s", "a")],
            Some("s -> a -> s"),
        ),
        (
            "<callActivity id='a'><extensionElements><zeebe:calledElement processId='other'/></extensionElements>\
             </callActivity>"
                .to_owned(),
            &[("a", "a")],
            None,
        ),
    ] {
        let expected = expected.map(refused);
        let expected: Vec<&str> = expected.as_deref().into_iter().collect();
        check(&(elements + &flows(pairs)), &expected);
    }
}

#[test]
fn an_exit_does_not_make_a_loop_finite() {
    check(
        "<task id='a'/><exclusiveGateway id='g' default='g-e'/><endEvent id='e'/>\
         <sequenceFlow id='s-a' sourceRef='s' targetRef='a'/><sequenceFlow id='a-g' sourceRef='a' targetRef='g'/>\
         <sequenceFlow id='g-a' sourceRef='g' targetRef='a'><conditionExpression>=again</conditionExpression>\
         </sequenceFlow><sequenceFlow id='g-e' sourceRef='g' targetRef='e'/>",
        &["process 'p': must not have an endless loop of elements that never wait: a -> g -> a"],
    );
}

#[test]
fn processes_of_a_file_that_call_each_other() {
    let process = |id: &str, called: &str| {
        format!(
            "<process id='{id}' isExecutable='true'><startEvent id='{id}-s'/><callActivity id='{id}-c'>\
             <extensionElements><zeebe:calledElement processId='{called}'/></extensionElements></callActivity>\
             <sequenceFlow id='{id}-f' sourceRef='{id}-s' targetRef='{id}-c'/></process>"
        )
    };
    check_file(
        &definitions(&(process("a", "b") + &process("b", "a"))),
        &[
            "process 'a': must not have an endless loop of elements that never wait: a-s -> a-c -> b-s -> b-c -> a-s",
        ],
    );
    check_file(&definitions(&(process("a", "b") + &process("b", "c"))), &[]);
}

#[test]
fn long_chains_are_no_problem() {
    let count = 5_000;
    let tasks: String = (0..count).map(|index| format!("<task id='t{index}'/>")).collect();
    let flows: String = (1..count)
        .map(|index| format!("<sequenceFlow id='f{index}' sourceRef='t{}' targetRef='t{index}'/>", index - 1))
        .collect();
    check(&format!("{tasks}{flows}"), &[]);
    let back = format!("<sequenceFlow id='back' sourceRef='t{}' targetRef='t0'/>", count - 1);
    check(
        &format!("{tasks}{flows}{back}"),
        &["process 'p': must not have an endless loop of elements that never wait: t0 -> t1 -> *"],
    );
}
