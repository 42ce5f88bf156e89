//! Unsupported elements are refused by name.

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
        "<intermediateCatchEvent id='x'><extensionElements><zeebe:conditionalFilter variableEvents='create'/>\
         </extensionElements><conditionalEventDefinition><condition>=a</condition></conditionalEventDefinition>\
         </intermediateCatchEvent>",
        &[
            "intermediateCatchEvent 'x': zeebe:conditionalFilter: belongs in the conditional event definition, not in the event",
        ],
    );
    check(
        "<serviceTask id='x'><extensionElements><zeebe:taskDefinition type='a'/><zeebe:executionListeners>\
         <zeebe:executionListener eventType='start' type='b'><zeebe:header key='k' value='v'/>\
         </zeebe:executionListener></zeebe:executionListeners></extensionElements></serviceTask>",
        &["serviceTask 'x': zeebe:executionListener: headers must be inside a zeebe:taskHeaders"],
    );
    check(
        "<userTask id='x'><extensionElements><zeebe:userTask/><zeebe:taskListeners>\
         <zeebe:taskListener eventType='creating' type='b'><zeebe:taskHeaders><zeebe:header key='k' value='v'/>\
         </zeebe:taskHeaders></zeebe:taskListener></zeebe:taskListeners></extensionElements></userTask>",
        &[
            "userTask 'x': zeebe:taskListener: headers of a task listener are not supported, those of its user task are",
        ],
    );
}
