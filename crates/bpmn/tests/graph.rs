//! The shape of the executable graph.

use bpmn::graph::{Binding, ElementKind, ElementType, End, EventType, PROCESS, Text, TimerKind, Trigger};
use bpmn::{Limits, Process, parse};

fn read(body: &str) -> Process {
    let xml = format!(
        "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' \
         xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'>\
         <message id='m' name='paid'><extensionElements><zeebe:subscription correlationKey='=orderId'/>\
         </extensionElements></message><error id='e' errorCode='E1'/>\
         <process id='order' name='Order' isExecutable='true'>{body}</process></definitions>"
    );
    let mut processes =
        parse(xml.as_bytes(), &Limits::default()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(processes.len(), 1);
    processes.remove(0)
}

fn element<'a>(process: &'a Process, id: &str) -> &'a bpmn::graph::Element {
    process.element(process.by_id[id])
}

#[track_caller]
fn text(text: &Text) -> &str {
    match text {
        Text::Static(text) => text,
        Text::Expression(expression) => panic!("{expression:?} is not static"),
    }
}

fn ids(process: &Process, indices: &[u32]) -> Vec<String> {
    indices.iter().map(|&index| process.element(index).id.to_string()).collect()
}

#[test]
fn elements_stand_in_document_order() {
    // Flows before the elements they join, a sub-process between others.
    let process = read(
        "<sequenceFlow id='f1' sourceRef='s' targetRef='sub'/><startEvent id='s' name=''/>\
         <subProcess id='sub' name='Sub'><startEvent id='i'/><task id='t'/>\
         <sequenceFlow id='g1' sourceRef='i' targetRef='t'/></subProcess>\
         <boundaryEvent id='b2' attachedToRef='sub'><errorEventDefinition errorRef='e'/></boundaryEvent>\
         <boundaryEvent id='b1' attachedToRef='sub'><errorEventDefinition/></boundaryEvent><endEvent id='end'/>\
         <sequenceFlow id='f2' sourceRef='sub' targetRef='end'/>",
    );
    let all: Vec<u32> = (0..process.elements.len() as u32).collect();
    assert_eq!(ids(&process, &all), ["order", "s", "sub", "i", "t", "b2", "b1", "end"]);
    assert_eq!(process.id.as_ref(), "order");
    assert_eq!(process.name.as_deref(), Some("Order"));
    assert_eq!(ids(&process, &process.element(PROCESS).children), ["s", "sub", "b2", "b1", "end"]);
    let sub = element(&process, "sub");
    assert_eq!(ids(&process, &sub.children), ["i", "t"]);
    assert_eq!(ids(&process, &sub.boundary_events), ["b2", "b1"]);
    assert_eq!(sub.scope, PROCESS);
    assert_eq!(sub.name.as_deref(), Some("Sub"));
    assert_eq!(element(&process, "s").name, None);
    assert_eq!(element(&process, "t").scope, process.by_id["sub"]);
    assert!(matches!(sub.kind, ElementKind::SubProcess { start } if start == process.by_id["i"]));
    assert_eq!(process.none_start(PROCESS), Some(process.by_id["s"]));
    assert_eq!(process.none_start(process.by_id["sub"]), Some(process.by_id["i"]));
    let flows: Vec<&str> = process.flows.iter().map(|flow| flow.id.as_ref()).collect();
    assert_eq!(flows, ["f1", "g1", "f2"]);
}

#[test]
fn outgoing_flows_are_reversed() {
    let process = read(
        "<startEvent id='s'/><exclusiveGateway id='g' default='f3'/><task id='a'/>\
         <sequenceFlow id='f0' sourceRef='s' targetRef='g'/>\
         <sequenceFlow id='f1' sourceRef='g' targetRef='a'><conditionExpression>=x</conditionExpression></sequenceFlow>\
         <sequenceFlow id='f2' sourceRef='g' targetRef='a'><conditionExpression> = y </conditionExpression></sequenceFlow>\
         <sequenceFlow id='f3' sourceRef='g' targetRef='a'/>",
    );
    let names = |flows: &[u32]| -> Vec<String> {
        flows.iter().map(|&flow| process.flow(flow).id.to_string()).collect()
    };
    let gateway = element(&process, "g");
    assert_eq!(names(&gateway.outgoing), ["f3", "f2", "f1"]);
    assert_eq!(names(&element(&process, "a").incoming), ["f1", "f2", "f3"]);
    assert!(
        matches!(gateway.kind, ElementKind::Exclusive { default: Some(flow) } if names(&[flow]) == ["f3"])
    );
    let conditions: Vec<bool> = process.flows.iter().map(|flow| flow.condition.is_some()).collect();
    assert_eq!(conditions, [false, true, true, false]);
}

#[test]
fn jobs_of_every_kind() {
    let job = "<extensionElements><zeebe:taskDefinition type='work'/></extensionElements>";
    let message = "<messageEventDefinition messageRef='m'/>";
    let process = read(&format!(
        "<startEvent id='s'/><serviceTask id='service'>{job}</serviceTask><sendTask id='send'>{job}</sendTask>\
         <scriptTask id='script'>{job}</scriptTask><businessRuleTask id='rule'>{job}</businessRuleTask>\
         <intermediateThrowEvent id='throw'>{job}{message}</intermediateThrowEvent>\
         <endEvent id='end'>{job}{message}</endEvent><userTask id='user'/>"
    ));
    use ElementType as E;
    for (id, element_type, event_type, job_type, retries) in [
        ("service", E::ServiceTask, EventType::Unspecified, "work", "3"),
        ("send", E::SendTask, EventType::Unspecified, "work", "3"),
        ("script", E::ScriptTask, EventType::Unspecified, "work", "3"),
        ("rule", E::BusinessRuleTask, EventType::Unspecified, "work", "3"),
        ("throw", E::IntermediateThrowEvent, EventType::Message, "work", "3"),
        ("end", E::EndEvent, EventType::Message, "work", "3"),
        ("user", E::UserTask, EventType::Unspecified, "io.camunda.zeebe:userTask", "1"),
    ] {
        let element = element(&process, id);
        assert_eq!((element.element_type, element.event_type), (element_type, event_type), "{id}");
        let ElementKind::Job(job) = &element.kind else { panic!("{id}: {:?}", element.kind) };
        assert_eq!((text(&job.job_type), text(&job.retries)), (job_type, retries), "{id}");
        assert_eq!(job.headers_json.as_ref(), "{}");
    }
}

#[test]
fn headers_and_mappings() {
    let process = read(
        "<startEvent id='s'/><serviceTask id='t'><extensionElements><zeebe:taskDefinition type='=kind' retries='=n'/>\
         <zeebe:taskHeaders><zeebe:header key='b' value='1'/><zeebe:header key='empty' value=''/>\
         <zeebe:header key='a' value='say &quot;hi&quot;'/></zeebe:taskHeaders>\
         <zeebe:ioMapping><zeebe:input source='12' target='static'/><zeebe:output source='=x' target='out'/>\
         <zeebe:input source='=order.id' target='a.b.c'/><zeebe:input source='' target='nothing'/></zeebe:ioMapping>\
         </extensionElements></serviceTask>",
    );
    let task = element(&process, "t");
    let ElementKind::Job(job) = &task.kind else { panic!("{:?}", task.kind) };
    assert!(matches!((&job.job_type, &job.retries), (Text::Expression(_), Text::Expression(_))));
    let headers: Vec<_> = job.headers.iter().map(|(key, value)| (key.as_ref(), value.as_ref())).collect();
    assert_eq!(headers, [("b", "1"), ("a", "say \"hi\"")]);
    assert_eq!(job.headers_json.as_ref(), r#"{"b":"1","a":"say \"hi\""}"#);
    let [first, second, third] = task.inputs.as_slice() else { panic!("{:?}", task.inputs) };
    assert!(first.source.as_ref().is_some_and(|source| text(source) == "12"));
    assert_eq!(first.target.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["static"]);
    assert!(matches!(second.source, Some(Text::Expression(_))));
    assert_eq!(second.target.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["a", "b", "c"]);
    assert!(third.source.is_none());
    assert_eq!(task.outputs.len(), 1);
}

#[test]
fn a_user_task_tells_who_in_its_headers() {
    let process = read(
        "<startEvent id='s'/><userTask id='u'><extensionElements>\
         <zeebe:taskHeaders><zeebe:header key='own' value='1'/></zeebe:taskHeaders>\
         <zeebe:assignmentDefinition assignee='ann' candidateGroups='a, b' candidateUsers='c'/>\
         <zeebe:taskSchedule dueDate='2030-01-01T00:00:00Z' followUpDate=''/>\
         <zeebe:formDefinition formKey='camunda-forms:bpmn:f'/></extensionElements></userTask>",
    );
    let ElementKind::Job(job) = &element(&process, "u").kind else { panic!() };
    let headers: Vec<_> = job.headers.iter().map(|(key, value)| (key.as_ref(), value.as_ref())).collect();
    assert_eq!(
        headers,
        [
            ("own", "1"),
            ("io.camunda.zeebe:formKey", "camunda-forms:bpmn:f"),
            ("io.camunda.zeebe:assignee", "ann"),
            ("io.camunda.zeebe:candidateGroups", r#"["a","b"]"#),
            ("io.camunda.zeebe:candidateUsers", r#"["c"]"#),
            ("io.camunda.zeebe:dueDate", "2030-01-01T00:00:00Z"),
        ]
    );
}

#[test]
fn events_and_what_they_wait_for() {
    let process = read(
        "<startEvent id='s'/><startEvent id='sm'><messageEventDefinition messageRef='m'/></startEvent>\
         <startEvent id='st'><timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition></startEvent>\
         <intermediateCatchEvent id='c'><timerEventDefinition><timeDuration>=d</timeDuration></timerEventDefinition>\
         </intermediateCatchEvent><receiveTask id='r' messageRef='m'/>\
         <boundaryEvent id='b' attachedToRef='r' cancelActivity='false'><messageEventDefinition messageRef='m'/>\
         </boundaryEvent><boundaryEvent id='be' attachedToRef='r'><errorEventDefinition errorRef='e'/></boundaryEvent>\
         <endEvent id='ee'><errorEventDefinition errorRef='e'/></endEvent>\
         <endEvent id='et'><terminateEventDefinition/></endEvent><intermediateThrowEvent id='it'/>",
    );
    let starts: Vec<_> =
        process.triggered_starts().map(|(index, _)| process.element(index).id.to_string()).collect();
    assert_eq!(starts, ["sm", "st"]);
    let ElementKind::StartEvent(start) = &element(&process, "st").kind else { panic!() };
    let Trigger::Timer(timer) = &start.trigger else { panic!() };
    assert_eq!((timer.kind, text(&timer.text)), (TimerKind::Cycle, "R3/PT1H"));
    let ElementKind::IntermediateCatch(Trigger::Timer(timer)) = &element(&process, "c").kind else {
        panic!()
    };
    assert!(timer.kind == TimerKind::Duration && matches!(timer.text, Text::Expression(_)));
    let ElementKind::Receive(message) = &element(&process, "r").kind else { panic!() };
    assert!(text(&message.name) == "paid" && message.correlation_key.is_some());
    let ElementKind::Boundary(boundary) = &element(&process, "b").kind else { panic!() };
    assert!(!boundary.interrupting && matches!(boundary.trigger, Trigger::Message(_)));
    assert_eq!(boundary.attached_to, process.by_id["r"]);
    let ElementKind::Boundary(boundary) = &element(&process, "be").kind else { panic!() };
    assert!(boundary.interrupting);
    assert!(matches!(&boundary.trigger, Trigger::Error(Some(code)) if &**code == "E1"));
    assert!(
        matches!(&element(&process, "ee").kind, ElementKind::EndEvent(End::Error(code)) if text(code) == "E1")
    );
    assert!(matches!(element(&process, "et").kind, ElementKind::EndEvent(End::Terminate)));
    for (id, event_type) in [
        ("s", EventType::None),
        ("sm", EventType::Message),
        ("st", EventType::Timer),
        ("c", EventType::Timer),
        ("r", EventType::Unspecified),
        ("b", EventType::Message),
        ("be", EventType::Error),
        ("ee", EventType::Error),
        ("et", EventType::Terminate),
        ("it", EventType::None),
    ] {
        assert_eq!(element(&process, id).event_type, event_type, "{id}");
    }
}

#[test]
fn calls_and_scripts() {
    let process = read(
        "<startEvent id='s'/><callActivity id='c1'><extensionElements><zeebe:calledElement processId='q'/>\
         </extensionElements></callActivity><callActivity id='c2'><extensionElements>\
         <zeebe:calledElement processId='=q' bindingType='versionTag' versionTag='v1' propagateAllChildVariables='false'\
          propagateAllParentVariables='false'/></extensionElements></callActivity>\
         <scriptTask id='x'><extensionElements><zeebe:script expression='=1' resultVariable='one'/></extensionElements>\
         </scriptTask><manualTask id='manual'/><task id='t'/><parallelGateway id='g'/>",
    );
    let ElementKind::Call(call) = &element(&process, "c1").kind else { panic!() };
    assert_eq!((text(&call.process_id), &call.binding), ("q", &Binding::Latest));
    assert!(call.propagate_all_child_variables && call.propagate_all_parent_variables);
    let ElementKind::Call(call) = &element(&process, "c2").kind else { panic!() };
    assert!(matches!(call.process_id, Text::Expression(_)));
    assert_eq!(call.binding, Binding::VersionTag("v1".into()));
    assert!(!call.propagate_all_child_variables && !call.propagate_all_parent_variables);
    assert!(matches!(
        &element(&process, "x").kind,
        ElementKind::Script { result_variable, .. } if &**result_variable == "one"
    ));
    assert!(matches!(element(&process, "manual").kind, ElementKind::PassThrough));
    assert_eq!(element(&process, "manual").element_type, ElementType::ManualTask);
    assert_eq!(element(&process, "t").element_type, ElementType::Task);
    assert!(matches!(element(&process, "g").kind, ElementKind::Parallel));
}

#[test]
fn who_can_reach_a_join_is_known() {
    let flow = |from: &str, to: &str| {
        format!("<sequenceFlow id='{from}-{to}' sourceRef='{from}' targetRef='{to}'/>")
    };
    let pairs =
        [("s", "f"), ("f", "a"), ("f", "b"), ("a", "j"), ("b", "j"), ("j", "x"), ("x", "b"), ("late", "e")];
    let body = |gateway: &str| {
        format!(
            "<startEvent id='s'/><parallelGateway id='f'/><task id='a'/><receiveTask id='b' messageRef='m'/>\
             <boundaryEvent id='late' attachedToRef='a'><timerEventDefinition><timeDuration>PT1S</timeDuration>\
             </timerEventDefinition></boundaryEvent><{gateway} id='j'/><task id='x'/><parallelGateway id='e'/>{}{}",
            flow("a", "e"),
            pairs.iter().map(|(from, to)| flow(from, to)).collect::<String>()
        )
    };
    let process = |gateway: &str| {
        let xml = format!(
            "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' \
             xmlns:zeebe='http://camunda.org/schema/zeebe/1.0'><message id='m' name='m'><extensionElements>\
             <zeebe:subscription correlationKey='=k'/></extensionElements></message>\
             <process id='p' isExecutable='true'>{}</process></definitions>",
            body(gateway)
        );
        bpmn::parse(xml.as_bytes(), &bpmn::Limits::default()).unwrap().remove(0)
    };
    let sources = |process: &Process, flow: &str| -> Vec<String> {
        let flow = process.flows.iter().position(|f| *f.id == *flow).unwrap() as u32;
        let all = 0..process.elements.len() as u32;
        all.filter(|&from| process.can_reach(from, flow))
            .map(|from| process.element(from).id.to_string())
            .collect()
    };
    let inclusive = process("inclusiveGateway");
    assert_eq!(sources(&inclusive, "a-j"), ["s", "f", "a"]);
    // The join itself leads back to it, but what is before the join only does so through the join.
    assert_eq!(sources(&inclusive, "b-j"), ["s", "f", "b", "j", "x"]);
    // An activity leads to its boundary events. Parallel joins beside an inclusive one are known as well.
    assert_eq!(sources(&inclusive, "late-e"), ["s", "f", "a", "late"]);
    // Scopes without an inclusive or complex join have no rows.
    assert_eq!(sources(&process("parallelGateway"), "b-j"), Vec::<String>::new());
}
