//! Settings stand in the state: what was accepted under them stays accepted, whatever a broker is configured with.

use engine::{Options, WorkLimits};
use protocol::{Command, CreateInstance, DefinitionRef, Name, RejectionType};

use crate::support::{Harness, document};

const MODEL: &str = "process p\nstart s\ntask t\nend e\ns -> t -> e";

fn create(variables: &str) -> Command {
    let definition = DefinitionRef::Id { id: Name::from("p"), version: None };
    Command::CreateInstance(CreateInstance {
        variables: document(variables),
        ..CreateInstance::of(definition)
    })
}

fn small() -> Options {
    let work = WorkLimits { max_variable_bytes: 100, ..WorkLimits::default() };
    let bpmn = bpmn::Limits { max_flow_elements: 1, ..bpmn::Limits::default() };
    Options { work, bpmn, ..Options::default() }
}

#[test]
fn a_lower_limit_holds_from_its_command_on_and_survives_a_restart() {
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(200));
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    harness.command(create(&large)).unwrap().unwrap();
    harness.configure(&small());
    let error = harness.command(create(&large)).unwrap().unwrap_err();
    assert!(error.reason.contains("limits.max_variable_bytes"), "{error:?}");
    let error = harness
        .deploy(&[("p.bpmn", &MODEL.replace("task t", "task t2").replace("> t ", "> t2 "))])
        .unwrap_err();
    assert_eq!(error.kind, RejectionType::InvalidArgument, "{error:?}");
    // It is opened with the options from before.
    harness.flush_and_reopen();
    assert!(harness.command(create(&large)).unwrap().is_err());
    harness.configure(&Options::default());
    harness.command(create(&large)).unwrap().unwrap();
}

#[test]
fn settings_come_back_as_they_were() {
    let options = small();
    let mut harness = Harness::new();
    assert_ne!(harness.engine().settings().unwrap(), Some(options.settings()));
    harness.configure(&options);
    assert_eq!(harness.engine().settings().unwrap(), Some(options.settings()));
    harness.flush_and_reopen();
    assert_eq!(harness.engine().settings().unwrap(), Some(options.settings()));
}
