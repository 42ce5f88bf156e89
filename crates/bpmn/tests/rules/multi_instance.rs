//! Rules about the multi-instance marker and ad-hoc sub-processes.

use super::check;

#[track_caller]
fn check_marker(marker: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|reason| format!("task 't': {reason}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&format!("<task id='t'>{marker}</task>"), &expected);
}

#[track_caller]
fn check_loop(attributes: &str, condition: &str, expected: &[&str]) {
    check_marker(
        &format!(
            "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics {attributes}/>\
             </extensionElements>{condition}</multiInstanceLoopCharacteristics>"
        ),
        expected,
    );
}

#[test]
fn a_multi_instance_activity_has_a_collection() {
    check_loop("inputCollection='=items'", "", &[]);
    check_loop(
        "inputCollection='=items' inputElement='i' outputCollection='os' outputElement='=i'",
        "<completionCondition>=x</completionCondition>",
        &[],
    );
    let missing = "multiInstanceLoopCharacteristics must have exactly one zeebe:loopCharacteristics";
    check_marker("<multiInstanceLoopCharacteristics/>", &[missing]);
    check_loop("", "", &["zeebe:loopCharacteristics must have a non-empty attribute 'inputCollection'"]);
    check_loop(
        "inputCollection='items'",
        "",
        &[
            "attribute 'inputCollection' of zeebe:loopCharacteristics must be an expression that starts with '=', but is 'items'",
        ],
    );
}

#[test]
fn all_findings_of_a_marker_are_reported() {
    check_loop(
        "inputCollection='=(' inputElement='a.b' outputCollection='1x' outputElement='y'",
        "<completionCondition>z</completionCondition>",
        &[
            "completionCondition must be an expression that starts with '=', but is 'z'",
            "attribute 'inputCollection' of zeebe:loopCharacteristics is not a valid expression: *",
            "attribute 'inputElement' of zeebe:loopCharacteristics must be one variable name, but is 'a.b'",
            "attribute 'outputElement' of zeebe:loopCharacteristics must be an expression that starts with '=', but is 'y'",
            "attribute 'outputCollection' of zeebe:loopCharacteristics must be a variable name or a path of names, but is '1x'",
        ],
    );
    let both = "zeebe:loopCharacteristics must have both attributes 'outputCollection' and 'outputElement', or none of them";
    check_loop("inputCollection='=a' outputCollection='b'", "", &[both]);
    check_loop("inputCollection='=a' outputElement='=b'", "", &[both]);
}

#[test]
fn an_ad_hoc_sub_process_has_activities_and_neither_start_nor_end() {
    check("<adHocSubProcess id='a'><task id='t'/></adHocSubProcess>", &[]);
    check(
        "<adHocSubProcess id='a'><startEvent id='b'/><endEvent id='c'/></adHocSubProcess>",
        &[
            "adHocSubProcess 'a': must have at least one activity",
            "adHocSubProcess 'a': must not have a start event",
            "adHocSubProcess 'a': must not have an end event",
        ],
    );
    check(
        "<adHocSubProcess id='a'><extensionElements><zeebe:adHoc activeElementsCollection='x' outputCollection='o'/>\
         <zeebe:taskDefinition/></extensionElements><task id='t'/><completionCondition>y</completionCondition>\
         </adHocSubProcess>",
        &[
            "adHocSubProcess 'a': completionCondition must be an expression that starts with '=', but is 'y'",
            "adHocSubProcess 'a': attribute 'activeElementsCollection' of zeebe:adHoc must be an expression that starts with '=', but is 'x'",
            "adHocSubProcess 'a': zeebe:adHoc must have both attributes 'outputCollection' and 'outputElement', or none of them",
            "adHocSubProcess 'a': zeebe:taskDefinition must have a non-empty attribute 'type'",
        ],
    );
}

#[test]
fn parameters_of_tools_are_constants() {
    check(
        "<adHocSubProcess id='a'><task id='t'><extensionElements><zeebe:ioMapping>\
         <zeebe:input source='=fromAi(x.y)' target='v'/></zeebe:ioMapping></extensionElements></task></adHocSubProcess>",
        &[
            "task 't': attribute 'source' of zeebe:input: the value of fromAi must be a path that starts with 'toolCall', such as toolCall.name",
        ],
    );
}

#[test]
fn a_loop_marker_has_a_condition_or_a_maximum() {
    let marker = |attributes: &str, condition: &str| {
        format!("<standardLoopCharacteristics {attributes}>{condition}</standardLoopCharacteristics>")
    };
    let condition = "<loopCondition>=x</loopCondition>";
    check_marker(&marker("testBefore='true'", condition), &[]);
    check_marker(&marker("loopMaximum='3'", ""), &[]);
    check_marker(
        &marker("", ""),
        &["standardLoopCharacteristics must have a loopCondition or a loopMaximum"],
    );
    check_marker(
        &marker("loopMaximum='0'", condition),
        &["loopMaximum must be a whole number above 0, but is '0'"],
    );
    check_marker(
        &format!("{}{}", marker("loopMaximum='1'", ""), marker("loopMaximum='1'", "")),
        &["must have at most one multiInstanceLoopCharacteristics or standardLoopCharacteristics"],
    );
}
