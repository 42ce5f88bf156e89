//! Rules about activities and their extension elements.

use super::{MESSAGE, check, check_file, check_with, model};

/// A finding-by-finding check of one element `t` with extension elements.
#[track_caller]
fn check_extensions(element: &str, extensions: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|reason| format!("{element} 't': {reason}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(
        &format!("<{element} id='t'><extensionElements>{extensions}</extensionElements></{element}>"),
        &expected,
    );
}

#[test]
fn a_job_has_a_type_and_retries() {
    for (definition, expected) in [
        ("<zeebe:taskDefinition type='work'/>", &[][..]),
        ("<zeebe:taskDefinition type='=kind' retries='=count'/>", &[]),
        ("<zeebe:taskDefinition type='work' retries=' 5 '/>", &[]),
        ("", &["must have exactly one zeebe:taskDefinition"]),
        ("<zeebe:taskDefinition/>", &["zeebe:taskDefinition must have a non-empty attribute 'type'"]),
        (
            "<zeebe:taskDefinition type=' '/>",
            &["zeebe:taskDefinition must have a non-empty attribute 'type'"],
        ),
        (
            "<zeebe:taskDefinition type='work' retries='many'/>",
            &[
                "attribute 'retries' of zeebe:taskDefinition must be a whole number or an expression, but is 'many'",
            ],
        ),
        (
            "<zeebe:taskDefinition type='work' retries=''/>",
            &[
                "attribute 'retries' of zeebe:taskDefinition must be a whole number or an expression, but is ''",
            ],
        ),
        (
            "<zeebe:taskDefinition type='=1 +' retries='=('/>",
            &[
                "attribute 'type' of zeebe:taskDefinition is not a valid expression: *",
                "attribute 'retries' of zeebe:taskDefinition is not a valid expression: *",
            ],
        ),
    ] {
        check_extensions("serviceTask", definition, expected);
    }
}

#[test]
fn headers_have_distinct_keys() {
    let headers = |headers: &str| {
        format!("<zeebe:taskDefinition type='work'/><zeebe:taskHeaders>{headers}</zeebe:taskHeaders>")
    };
    check_extensions(
        "serviceTask",
        &headers("<zeebe:header key='a' value='1'/><zeebe:header key='b'/>"),
        &[],
    );
    check_extensions(
        "serviceTask",
        &headers(
            "<zeebe:header key='a' value='1'/><zeebe:header key='a' value='2'/><zeebe:header value='3'/>",
        ),
        &["the header 'a' is given more than once", "zeebe:header must have a non-empty attribute 'key'"],
    );
}

#[test]
fn alternatives_exclude_each_other() {
    let job = "<zeebe:taskDefinition type='work'/>";
    let script = "<zeebe:script expression='=1' resultVariable='x'/>";
    let rule = "<zeebe:calledDecision decisionId='d' resultVariable='r'/>";
    for (element, extensions, expected) in [
        ("scriptTask", job.to_owned(), &[][..]),
        ("scriptTask", script.to_owned(), &[]),
        ("scriptTask", String::new(), &["must have exactly one zeebe:taskDefinition or zeebe:script"]),
        (
            "scriptTask",
            job.to_owned() + script,
            &["must have exactly one zeebe:taskDefinition or zeebe:script"],
        ),
        ("businessRuleTask", job.to_owned(), &[]),
        (
            "businessRuleTask",
            String::new(),
            &["must have exactly one zeebe:taskDefinition or zeebe:calledDecision"],
        ),
        (
            "businessRuleTask",
            job.to_owned() + rule,
            &["must have exactly one zeebe:taskDefinition or zeebe:calledDecision"],
        ),
        ("businessRuleTask", rule.to_owned(), &[]),
        ("sendTask", job.to_owned(), &[]),
        ("sendTask", String::new(), &["must have exactly one zeebe:taskDefinition or zeebe:publishMessage"]),
    ] {
        check_extensions(element, &extensions, expected);
    }
}

#[test]
fn a_script_is_an_expression_with_a_result() {
    for (script, expected) in [
        (
            "<zeebe:script expression='1' resultVariable='x'/>",
            &[
                "attribute 'expression' of zeebe:script must be an expression that starts with '=', but is '1'",
            ][..],
        ),
        (
            "<zeebe:script/>",
            &[
                "zeebe:script must have a non-empty attribute 'expression'",
                "zeebe:script must have a non-empty attribute 'resultVariable'",
            ],
        ),
        (
            "<zeebe:script expression='=1 +' resultVariable='2x'/>",
            &[
                "attribute 'expression' of zeebe:script is not a valid expression: *",
                "attribute 'resultVariable' of zeebe:script must be a variable name or a path of names, but is '2x'",
            ],
        ),
    ] {
        check_extensions("scriptTask", script, expected);
    }
}

#[test]
fn a_called_decision_has_an_id_a_result_and_a_binding() {
    for (decision, expected) in [
        ("<zeebe:calledDecision decisionId='=a.b' resultVariable='r' bindingType='deployment'/>", &[][..]),
        (
            "<zeebe:calledDecision bindingType='newest'/>",
            &[
                "zeebe:calledDecision must have a non-empty attribute 'decisionId'",
                "zeebe:calledDecision must have a non-empty attribute 'resultVariable'",
                "attribute 'bindingType' of zeebe:calledDecision must be one of latest, deployment, versionTag, but is 'newest'",
            ],
        ),
        (
            "<zeebe:calledDecision decisionId='=1 +' resultVariable='2x' bindingType='versionTag' versionTag=' '/>",
            &[
                "attribute 'decisionId' of zeebe:calledDecision is not a valid expression: *",
                "attribute 'resultVariable' of zeebe:calledDecision must be a variable name or a path of names, but is '2x'",
                "zeebe:calledDecision must have a non-empty attribute 'versionTag'",
            ],
        ),
    ] {
        check_extensions("businessRuleTask", decision, expected);
    }
}

#[test]
fn a_linked_resource_has_an_id_a_type_and_a_binding() {
    let link = |attributes: &str| {
        format!(
            "<zeebe:taskDefinition type='rpa'/><zeebe:linkedResources><zeebe:linkedResource {attributes}/></zeebe:linkedResources>"
        )
    };
    check_extensions(
        "serviceTask",
        &link("resourceId='=id' resourceType='RPA' bindingType='deployment'"),
        &[],
    );
    check_extensions(
        "serviceTask",
        &link("linkName='x' bindingType='versionTag'"),
        &[
            "zeebe:linkedResource must have a non-empty attribute 'resourceId'",
            "zeebe:linkedResource must have a non-empty attribute 'resourceType'",
            "zeebe:linkedResource must have a non-empty attribute 'versionTag'",
        ],
    );
}

#[test]
fn a_start_form_has_an_id_and_a_binding() {
    for (form, expected) in [
        ("<zeebe:formDefinition formId='f'/>", &[][..]),
        ("<zeebe:formDefinition formId='=name' bindingType='deployment'/>", &[]),
        ("<zeebe:formDefinition formKey='camunda-forms:bpmn:f'/>", &[]),
        (
            "<zeebe:formDefinition formId='f' bindingType='versionTag'/>",
            &["zeebe:formDefinition must have a non-empty attribute 'versionTag'"],
        ),
        ("<zeebe:formDefinition/>", &["zeebe:formDefinition must have a non-empty attribute 'formId'"]),
    ] {
        let start = format!("<startEvent id='s'><extensionElements>{form}</extensionElements></startEvent>");
        let expected: Vec<String> =
            expected.iter().map(|reason| format!("startEvent 's': {reason}")).collect();
        check_file(&model("", &start), &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn a_receive_task_knows_its_message() {
    let key = "<extensionElements><zeebe:subscription correlationKey='=k'/></extensionElements>";
    for (message, reference, expected) in [
        (format!("<message id='m' name='=n'>{key}</message>"), "messageRef='m'", None),
        (format!("<message id='m' name='n'>{key}</message>"), "messageRef='tns:m'", None),
        (
            String::new(),
            "",
            Some("receiveTask 't': receiveTask must have a non-empty attribute 'messageRef'"),
        ),
        (
            String::new(),
            "messageRef='m'",
            Some("receiveTask 't': messageRef refers to 'm', which is not a message"),
        ),
        (
            format!("<message id='m'>{key}</message>"),
            "messageRef='m'",
            Some("receiveTask 't': the message 'm' must have a name"),
        ),
        (
            "<message id='m' name='n'/>".to_owned(),
            "messageRef='m'",
            Some("receiveTask 't': the message 'm' must have a zeebe:subscription with a correlationKey"),
        ),
        (
            format!("<message id='m' name='n'>{}</message>", key.replace("=k", "k")),
            "messageRef='m'",
            Some("message 'm': the correlation key must be an expression that starts with '=', but is 'k'"),
        ),
        (
            format!("<message id='m' name='n'>{}</message>", key.replace("=k", "=")),
            "messageRef='m'",
            Some("message 'm': the correlation key is not a valid expression: *"),
        ),
        (
            format!("<message id='m' name='=('>{key}</message>"),
            "messageRef='m'",
            Some("message 'm': attribute 'name' is not a valid expression: *"),
        ),
    ] {
        check_with(&message, &format!("<receiveTask id='t' {reference}/>"), expected.as_slice());
    }
    check_with(MESSAGE, "<receiveTask id='t' messageRef='m'/>", &[]);
}

#[test]
fn a_receive_task_may_start_the_process() {
    let alone =
        |attributes: &str| format!("<receiveTask id='t' messageRef='m' instantiate='true' {attributes}/>");
    check_file(&model("<message id='m' name='=n'/>", &alone("")), &[]);
    let start = "<startEvent id='m1'><messageEventDefinition messageRef='m'/></startEvent>";
    let prefix = "receiveTask 't': a receive task that starts a process";
    for (body, expected) in [
        (alone(""), vec![]),
        (alone("") + start, vec!["process 'p': two start events wait for the message 'paid'".to_owned()]),
        (
            alone("") + "<sequenceFlow id='f' sourceRef='s' targetRef='t'/>",
            vec![format!("{prefix} cannot have incoming sequence flows")],
        ),
        (alone("isForCompensation='true'"), vec![format!("{prefix} cannot be a compensation handler")]),
        (
            alone("").replace("/>", "><standardLoopCharacteristics loopMaximum='2'/></receiveTask>"),
            vec![format!("{prefix} cannot be multi-instance or have a loop marker")],
        ),
        (
            format!("<subProcess id='u'><startEvent id='i'/>{}</subProcess>", alone("")),
            vec![format!("{prefix} must be directly in the process, not in a sub-process")],
        ),
        (
            "<receiveTask id='t' instantiate='true'/>".to_owned(),
            vec!["receiveTask 't': receiveTask must have a non-empty attribute 'messageRef'".to_owned()],
        ),
    ] {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_with(MESSAGE, &body, &expected);
    }
    // An invalid one is a start, too.
    check_file(
        &model("", "<receiveTask id='t' instantiate='true'/>"),
        &["receiveTask 't': receiveTask must have a non-empty attribute 'messageRef'"],
    );
}

#[test]
fn a_call_names_a_process() {
    let binding = "attribute 'bindingType' of zeebe:calledElement must be one of latest, deployment, versionTag, but is 'x'";
    for (element, expected) in [
        ("<zeebe:calledElement processId='q'/>", &[][..]),
        (
            "<zeebe:calledElement processId='=q' bindingType='deployment' propagateAllChildVariables='false'/>",
            &[],
        ),
        ("<zeebe:calledElement processId='q' bindingType='versionTag' versionTag='v1'/>", &[]),
        ("<zeebe:calledElement processIdExpression='q'/>", &[]),
        ("", &["must have exactly one zeebe:calledElement"]),
        ("<zeebe:calledElement/>", &["zeebe:calledElement must have a non-empty attribute 'processId'"]),
        (
            "<zeebe:calledElement processId='q' bindingType='versionTag'/>",
            &["zeebe:calledElement must have a non-empty attribute 'versionTag'"],
        ),
        ("<zeebe:calledElement processId='q' bindingType='x'/>", &[binding]),
        (
            "<zeebe:calledElement processId='=('/>",
            &["attribute 'processId' of zeebe:calledElement is not a valid expression: *"],
        ),
        (
            "<zeebe:calledElement processId='q' businessId='=b'/>",
            &["attribute 'businessId' of zeebe:calledElement is not supported yet"],
        ),
    ] {
        check_extensions("callActivity", element, expected);
    }
}

#[test]
fn mappings_have_a_source_and_a_path() {
    let deep = format!("<zeebe:input source='=a' target='a{}'/>", ".a".repeat(32));
    for (mapping, expected) in [
        ("<zeebe:input source='=a' target='b'/><zeebe:output source='= a.b' target='c.d'/>", &[][..]),
        (
            "<zeebe:input source='' target='b'/><zeebe:input source='12' target='b'/><zeebe:input target='b'/>",
            &[],
        ),
        (
            "<zeebe:input source='=('  target='b'/>",
            &["attribute 'source' of zeebe:input is not a valid expression: *"],
        ),
        ("<zeebe:input source='=a'/>", &["zeebe:input must have a non-empty attribute 'target'"]),
        (
            "<zeebe:input source='=a' target='a b'/><zeebe:output source='=a' target='a..b'/>\
             <zeebe:output source='=a' target='null'/>",
            &[
                "attribute 'target' of zeebe:input must be a variable name or a path of names, but is 'a b'",
                "attribute 'target' of zeebe:output must be a variable name or a path of names, but is 'a..b'",
                "attribute 'target' of zeebe:output must be a variable name or a path of names, but is 'null'",
            ],
        ),
        (deep.as_str(), &["attribute 'target' of zeebe:input must not have more than 32 names"]),
    ] {
        check_extensions("task", &format!("<zeebe:ioMapping>{mapping}</zeebe:ioMapping>"), expected);
    }
}

#[test]
fn a_user_task_done_by_a_worker() {
    for (extensions, expected) in [
        ("", &[][..]),
        (
            "<zeebe:assignmentDefinition assignee='ann' candidateGroups='a, b' candidateUsers='c'/>\
             <zeebe:taskSchedule dueDate='2030-01-01T00:00:00Z'/><zeebe:formDefinition formKey='f'/>",
            &[],
        ),
        (
            "<zeebe:assignmentDefinition assignee='=who' candidateGroups='=groups' candidateUsers='=users'/>\
             <zeebe:taskSchedule dueDate='=due' followUpDate='=later'/><zeebe:formDefinition formId='=form'/>",
            &[],
        ),
        (
            "<zeebe:assignmentDefinition assignee='=(who' candidateGroups='a,,b'/>",
            &[
                "attribute 'assignee' of zeebe:assignmentDefinition is not a valid expression: *",
                "attribute 'candidateGroups' of zeebe:assignmentDefinition must be a list such as 'a, b', but is 'a,,b'",
            ],
        ),
        (
            "<zeebe:taskSchedule dueDate='soon' followUpDate='=(later'/>",
            &[
                "attribute 'dueDate' of zeebe:taskSchedule: 'soon' is not a date and time with an offset *",
                "attribute 'followUpDate' of zeebe:taskSchedule is not a valid expression: *",
            ],
        ),
        ("<zeebe:formDefinition formId='f' bindingType='deployment'/>", &[]),
        (
            "<zeebe:formDefinition formId='f' bindingType='versionTag'/>",
            &["zeebe:formDefinition must have a non-empty attribute 'versionTag'"],
        ),
        (
            "<zeebe:formDefinition externalReference='f'/>",
            &["a form with an externalReference needs zeebe:userTask"],
        ),
        (
            "<zeebe:formDefinition/>",
            &["zeebe:formDefinition must have a non-empty attribute 'formId' or 'formKey'"],
        ),
    ] {
        check_extensions("userTask", extensions, expected);
    }
}

#[test]
fn a_user_task_without_a_worker_has_people_dates_and_a_form() {
    for (extensions, expected) in [
        ("", &[][..]),
        (
            "<zeebe:assignmentDefinition assignee='=who' candidateGroups='=groups' candidateUsers='a, b'/>\
             <zeebe:taskSchedule dueDate='2030-01-01T00:00:00Z' followUpDate='=later'/>\
             <zeebe:priorityDefinition priority='100'/><zeebe:formDefinition formId='f' bindingType='deployment'/>",
            &[],
        ),
        ("<zeebe:priorityDefinition priority='=p'/><zeebe:formDefinition externalReference='=f'/>", &[]),
        (
            "<zeebe:assignmentDefinition assignee='=(' candidateGroups='a,,b'/>",
            &[
                "attribute 'assignee' of zeebe:assignmentDefinition is not a valid expression: *",
                "attribute 'candidateGroups' of zeebe:assignmentDefinition must be a list such as 'a, b', but is 'a,,b'",
            ],
        ),
        (
            "<zeebe:taskSchedule dueDate='soon'/><zeebe:priorityDefinition priority='101'/>",
            &[
                "attribute 'dueDate' of zeebe:taskSchedule: 'soon' is not a date and time with an offset *",
                "attribute 'priority' of zeebe:priorityDefinition must be a whole number from 0 to 100, but is '101'",
            ],
        ),
        (
            "<zeebe:priorityDefinition priority=' '/>",
            &["zeebe:priorityDefinition must have a non-empty attribute 'priority'"],
        ),
        (
            "<zeebe:formDefinition formId='f' externalReference='g'/>",
            &[
                "zeebe:formDefinition must have either a non-empty attribute 'formId' or a non-empty attribute \
               'externalReference'",
            ],
        ),
        (
            "<zeebe:formDefinition formKey='f'/>",
            &[
                "zeebe:formDefinition must have either a non-empty attribute 'formId' or a non-empty attribute \
               'externalReference'",
            ],
        ),
    ] {
        check_extensions("userTask", &format!("<zeebe:userTask/>{extensions}"), expected);
    }
}
