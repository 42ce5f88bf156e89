//! What the engine does not have yet is refused by name.

use super::check;

#[test]
fn elements() {
    for (body, expected) in [
        ("<teleport id='x'/>", "teleport 'x': is not an element of a process"),
        (
            "<receiveTask id='x' instantiate='true'/>",
            "receiveTask 'x': a receive task that starts a process is not supported, use a message start event",
        ),
    ] {
        check(body, &[expected]);
    }
}

#[test]
fn event_definitions() {
    check(
        "<intermediateCatchEvent id='x'><tardisEventDefinition/></intermediateCatchEvent>",
        &["intermediateCatchEvent 'x': the event definition 'tardisEventDefinition' is unknown"],
    );
    check(
        "<intermediateCatchEvent id='x'><eventDefinitionRef>a</eventDefinitionRef></intermediateCatchEvent>",
        &["intermediateCatchEvent 'x': references to shared event definitions are not supported"],
    );
}

#[test]
fn extension_elements() {
    for (element, extension, expected) in [
        (
            "sendTask",
            "<zeebe:publishMessage/>",
            "zeebe:publishMessage: publishing a message without a job worker is not supported yet",
        ),
        (
            "serviceTask",
            "<zeebe:taskDefinition type='a'/><zeebe:jobPriorityDefinition priority='5'/>",
            "zeebe:jobPriorityDefinition: job priorities are not supported yet",
        ),
    ] {
        check(
            &format!("<{element} id='x'><extensionElements>{extension}</extensionElements></{element}>"),
            &[&format!("{element} 'x': {expected}")],
        );
    }
    check(
        "<extensionElements><zeebe:jobPriorityDefinition/></extensionElements>",
        &["process 'p': zeebe:jobPriorityDefinition: job priorities are not supported yet"],
    );
}
