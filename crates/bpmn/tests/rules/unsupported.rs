//! What the engine does not have yet is refused by name.

use super::check;

#[test]
fn elements() {
    check("<teleport id='x'/>", &["teleport 'x': is not an element of a process"]);
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
    check(
        "<serviceTask id='x'><extensionElements><zeebe:taskDefinition type='a'/>\
         <zeebe:jobPriorityDefinition priority='5'/></extensionElements></serviceTask>",
        &["serviceTask 'x': zeebe:jobPriorityDefinition: job priorities are not supported yet"],
    );
    check(
        "<extensionElements><zeebe:jobPriorityDefinition/></extensionElements>",
        &["process 'p': zeebe:jobPriorityDefinition: job priorities are not supported yet"],
    );
}
