//! Rules about the file as a whole, its IDs and its processes.

use bpmn::{Limits, parse};

use super::{check, check_file, check_with, definitions, model, valid};

#[test]
fn a_file_is_bpmn_with_an_executable_process() {
    let no_process = "the file has no process with isExecutable=\"true\"";
    let no_definitions = "the root element must be 'definitions' of BPMN 2.0";
    for (xml, expected) in [
        (String::new(), no_definitions),
        ("<definitions/>".to_owned(), no_definitions),
        ("<html xmlns='http://www.w3.org/1999/xhtml'/>".to_owned(), no_definitions),
        ("<process xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'/>".to_owned(), no_definitions),
        (definitions(""), no_process),
        (definitions("<process id='p'><startEvent id='s'/></process>"), no_process),
        (definitions("<process id='p' isExecutable='false'><startEvent id='s'/></process>"), no_process),
        ("{}".to_owned(), "malformed XML at line 1, column 3: there is text outside the root element"),
        (
            format!("<!DOCTYPE d>{}", definitions("")),
            "malformed XML at line 1, column 13: a document type declaration is not allowed",
        ),
    ] {
        check_file(&xml, &[expected]);
    }
}

#[test]
fn any_prefix_will_do() {
    let processes = valid(
        "<?xml version='1.0' encoding='UTF-8'?><bpmn:definitions xmlns:bpmn='http://www.omg.org/spec/BPMN/20100524/MODEL' \
         xmlns:z='http://camunda.org/schema/zeebe/1.0' xmlns:bpmndi='http://www.omg.org/spec/BPMN/20100524/DI'>\
         <bpmn:process id='p' isExecutable='true'><bpmn:startEvent id='s'/><bpmn:serviceTask id='t'>\
         <bpmn:extensionElements><z:taskDefinition type='work'/></bpmn:extensionElements></bpmn:serviceTask>\
         </bpmn:process><bpmndi:BPMNDiagram id='p'><bpmndi:BPMNPlane id='s'/></bpmndi:BPMNDiagram></bpmn:definitions>",
    );
    assert_eq!(processes[0].elements.len(), 3);
}

#[test]
fn every_executable_process_is_read_in_order() {
    let process = |id: &str, executable: &str| {
        format!("<process id='{id}' isExecutable='{executable}'><startEvent id='s-{id}'/></process>")
    };
    let xml = definitions(&[process("b", "true"), process("x", "false"), process("a", "1")].concat());
    let ids: Vec<_> = valid(&xml).iter().map(|process| process.id.to_string()).collect();
    assert_eq!(ids, ["b", "a"]);
}

#[test]
fn what_has_no_effect_is_read_over() {
    check_with(
        "<import importType='x'/><itemDefinition id='i'/><dataStore id='ds'/><signal id='sig' name='x'/>\
         <collaboration id='c'><participant id='pool' processRef='p'/><messageFlow id='mf'/></collaboration>",
        "<laneSet id='ls'><lane id='l'><flowNodeRef>s</flowNodeRef></lane></laneSet>\
         <extensionElements><zeebe:properties><zeebe:property name='a' value='b'/></zeebe:properties>\
         <zeebe:userTaskForm id='f'>{}</zeebe:userTaskForm><other xmlns='x'><process/></other></extensionElements>\
         <documentation>d</documentation><dataObject id='do'/><dataObjectReference id='dor'/>\
         <dataStoreReference id='dsr'/><textAnnotation id='ta'><text>=</text></textAnnotation>\
         <association id='as' sourceRef='s' targetRef='ta'/><group id='g'/>\
         <task id='t'><property id='pr'/><dataInputAssociation id='dia'><sourceRef>dor</sourceRef>\
         </dataInputAssociation><ioSpecification><dataInput id='di'/></ioSpecification></task>",
        &[],
    );
}

#[test]
fn ids_are_there_once_and_not_too_long() {
    check(
        "<task/><task id=''/><task id='t'/><subProcess id='sub'><startEvent id='t'/></subProcess>\
         <sequenceFlow sourceRef='s' targetRef='t'/>",
        &[
            "task without ID: an ID is required",
            "task without ID: an ID is required",
            "startEvent 't': the ID is used more than once, first by task",
            "sequenceFlow without ID: an ID is required",
        ],
    );
    check_file(
        &definitions("<process isExecutable='true'><startEvent id='s'/></process>"),
        &["process without ID: an ID is required"],
    );
    check_file(
        &definitions(
            "<process id='p' isExecutable='true'><startEvent id='s'/></process>\
             <process id='p' isExecutable='true'><startEvent id='s2'/></process>",
        ),
        &["process 'p': the ID is used more than once, first by process"],
    );
    let limits = Limits { max_id_chars: 3, max_name_chars: 5, ..Limits::default() };
    let xml = model("", "<startEvent id='füü' name='größe'/><task id='long' name='longer'/>");
    assert_eq!(
        parse(xml.as_bytes(), &limits).unwrap_err().to_string(),
        "task 'long': the name is longer than 5 characters\ntask 'long': the ID is longer than 3 characters"
    );
}

#[test]
fn limits_hold() {
    let xml = model("", "<startEvent id='s'/><task id='t'/>");
    let size = xml.len();
    for (limits, reason) in [
        (
            Limits { max_bytes: size - 1, ..Limits::default() },
            format!("the file is larger than {} bytes", size - 1),
        ),
        (
            Limits { max_flow_elements: 2, ..Limits::default() },
            "process 'p': the process has more than 2 elements and flows".to_owned(),
        ),
        (
            Limits { max_xml_elements: 3, ..Limits::default() },
            "there are more than 3 XML elements".to_owned(),
        ),
        (Limits { max_depth: 2, ..Limits::default() }, "elements are nested deeper than 2".to_owned()),
    ] {
        let problems = parse(xml.as_bytes(), &limits).unwrap_err().to_string();
        assert!(problems.ends_with(&reason), "{problems}");
    }
    let header = "<zeebe:header key='k' value='v'/>".repeat(5);
    let list = format!(
        "<startEvent id='s'/><task id='t'><extensionElements><zeebe:taskHeaders>{header}</zeebe:taskHeaders></extensionElements></task>"
    );
    let limits = |max_list_entries| Limits { max_list_entries, ..Limits::default() };
    let problems = parse(model("", &list).as_bytes(), &limits(4)).unwrap_err().to_string();
    assert!(
        problems.ends_with("'taskHeaders' has 5 elements, but at most 4 are allowed in one"),
        "{problems}"
    );
    let problems = parse(model("", &list).as_bytes(), &limits(5)).err().map(|problems| problems.to_string());
    assert!(problems.is_none_or(|problems| !problems.contains("at most")));
    let many = model("", &"<task/>".repeat(100));
    let problems = parse(many.as_bytes(), &Limits { max_problems: 3, ..Limits::default() }).unwrap_err();
    assert_eq!(problems.0.len(), 4);
}

#[test]
fn all_problems_are_reported_at_once() {
    check(
        "<serviceTask id='a'/><implicitThrowEvent id='b'/><sequenceFlow id='f' sourceRef='s' targetRef='nowhere'/>\
         <subProcess id='c'/>",
        &[
            "serviceTask 'a': must have exactly one zeebe:taskDefinition",
            "implicitThrowEvent 'b': implicit throw events are not supported yet",
            "sequenceFlow 'f': targetRef refers to 'nowhere', which is not an element of the process",
            "subProcess 'c': must have exactly one start event",
        ],
    );
}

#[test]
fn a_version_tag_is_not_empty() {
    let tagged =
        |tag: &str| format!("<extensionElements><zeebe:versionTag value='{tag}'/></extensionElements>");
    check(&tagged(""), &["process 'p': zeebe:versionTag must have a non-empty attribute 'value'"]);
    let processes = valid(&model("", &format!("{}<startEvent id='s'/>", tagged("v1.2"))));
    assert_eq!(processes[0].version_tag.as_deref(), Some("v1.2"));
}

#[test]
fn extension_elements_are_given_once() {
    check(
        "<serviceTask id='t'><extensionElements><zeebe:taskDefinition type='a'/><zeebe:taskDefinition type='b'/>\
         <zeebe:ioMapping/><zeebe:ioMapping/></extensionElements></serviceTask>",
        &[
            "serviceTask 't': must have at most one zeebe:taskDefinition",
            "serviceTask 't': must have at most one zeebe:ioMapping",
        ],
    );
    let many: String = (0..100).map(|index| format!("<zeebe:x{index}/>")).collect();
    check(
        &format!("<task id='t'><extensionElements>{many}</extensionElements></task>"),
        &["task 't': must not have more than 64 extension elements"],
    );
}
