//! The limits of variables are checked when a variable is stored, however old the command is.

use engine::{Options, WorkLimit};
use protocol::{
    ActivateAdHoc, ActivateElement, ActivationInstruction, Command, CompleteJob, CreateInstance,
    DefinitionRef, ElementMapping, Key, MigrateInstance, MigrationPlan, ModifyInstance, Name, RecordValue,
    Rejection, RejectionType, ScopeVariables, SetVariables,
};

use crate::named_limits::{LIMITS, complete, create, messages, names, texts};
use crate::support::{Harness, document};

/// A process `p` with this in its middle.
fn process(middle: &str, first: &str) -> String {
    format!("process p\nstart s\n{middle}\nend e\ns -> {first} -> e")
}

fn deployed(model: &str) -> Harness {
    let mut harness = Harness::with_options(Options { work: LIMITS, ..Options::default() });
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    harness
}

/// An ad-hoc sub-process with this number of tasks; its list of elements has about 100 bytes for each.
fn tasks(count: usize) -> String {
    let tasks: Vec<String> = (0..count).map(|number| format!("task a{number:02}")).collect();
    process(&format!("adhoc pick elements=\"[]\" {{\n{}\n}}", tasks.join("\n")), "pick")
}

fn instance(harness: &Harness) -> Key {
    harness.engine().tables().instances.keys(.., 1).unwrap()[0]
}

/// The first instance of an element.
fn element_key(harness: &Harness, id: &str) -> Key {
    let mut records = harness.records();
    let found = records.find_map(|record| match &record.value {
        RecordValue::ProcessInstance(value) if *value.element_id == *id => Some(record.key),
        _ => None,
    });
    found.expect("an element instance")
}

fn set(harness: &mut Harness, element_instance_key: Key, variables: &str) -> Result<(), Rejection> {
    let set = SetVariables {
        element_instance_key,
        variables: document(variables),
        local: true,
        operation_reference: None,
        request_id: None,
    };
    harness.command(Command::SetVariables(set)).map_or(Ok(()), |outcome| outcome.map(drop))
}

fn resolve(harness: &mut Harness) {
    let incident_key = harness.engine().tables().incidents.keys(.., 1).unwrap()[0];
    harness.command(Command::ResolveIncident { incident_key, operation_reference: None }).unwrap().unwrap();
}

fn migrate(harness: &mut Harness, mappings: &[(&str, &str)]) -> Result<(), Rejection> {
    let target_definition_key = *harness.engine().tables().definitions.keys(.., 9).unwrap().last().unwrap();
    let mappings = mappings.iter().map(|(from, to)| ElementMapping {
        source_element_id: Name::from(*from),
        target_element_id: Name::from(*to),
    });
    let plan = MigrationPlan { target_definition_key, mappings: mappings.collect() };
    let process_instance_key = instance(harness);
    let migrate = MigrateInstance { process_instance_key, plan, operation_reference: None };
    harness.command(Command::MigrateInstance(migrate)).expect("an answer").map(drop)
}

/// One incident that names the limit, and the variables of the instance stay within theirs.
#[track_caller]
fn has_incident_of(harness: &Harness, limit: WorkLimit) {
    let found = messages(harness);
    assert_eq!(found.len(), 1, "{found:?}");
    names(limit, &found[0]);
    stays_within(harness);
}

/// A command is refused, names the limit, and has changed nothing.
#[track_caller]
fn refuses(
    harness: &mut Harness,
    limit: WorkLimit,
    command: impl FnOnce(&mut Harness) -> Result<(), Rejection>,
) -> Rejection {
    let before = harness.content();
    let rejection = command(harness).expect_err("accepted");
    names(limit, &rejection.reason);
    assert_eq!(harness.content(), before);
    rejection
}

#[track_caller]
fn stays_within(harness: &Harness) {
    let bytes = harness.engine().tables().variable_bytes.scan(.., 9).unwrap();
    assert!(bytes.iter().all(|(_, bytes)| **bytes <= LIMITS.max_instance_variable_bytes), "{bytes:?}");
}

fn job_key(harness: &mut Harness, job_type: &str) -> Key {
    harness.activate(job_type, 1).remove(0).key
}

#[track_caller]
fn ends(mut harness: Harness) {
    if let Some(&process_instance_key) = harness.engine().tables().instances.keys(.., 1).unwrap().first() {
        harness.command(Command::CancelInstance { process_instance_key, operation_reference: None });
    }
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(5);
}

#[test]
fn a_list_of_elements_that_is_too_large_is_an_incident() {
    let mut harness = deployed(&tasks(400));
    create(&mut harness, "{}").unwrap();
    has_incident_of(&harness, WorkLimit::VariableBytes);
    // Again as long as it is so large.
    resolve(&mut harness);
    has_incident_of(&harness, WorkLimit::VariableBytes);

    harness.deploy(&[("p.bpmn", &tasks(2))]).unwrap();
    migrate(&mut harness, &[("pick", "pick")]).unwrap();
    resolve(&mut harness);
    assert!(messages(&harness).is_empty());
    ends(harness);
}

#[test]
fn a_list_of_elements_in_a_full_instance_is_an_incident() {
    let mut harness = deployed(&tasks(90));
    create(&mut harness, &texts(3, 3_900)).unwrap();
    has_incident_of(&harness, WorkLimit::InstanceVariableBytes);
    let root = instance(&harness);
    set(&mut harness, root, r#"{"t0":0}"#).unwrap();
    resolve(&mut harness);
    assert!(messages(&harness).is_empty());
    ends(harness);
}

/// An instance that has collected the variable `text` a number of times, and the version of its model that renames
/// the list.
fn collected(times: usize, own: &str) -> Harness {
    let middle = "adhoc pick elements=wanted collect=results gives=\"[text]\" {\njob a\njob hold\n}";
    let mut harness = deployed(&process(middle, "pick"));
    harness.deploy(&[("p.bpmn", &process(&middle.replace("results", "found"), "pick"))]).unwrap();
    let wanted = vec!["\"a\""; times].join(",");
    let variables = format!(r#"{{"text":"{}","wanted":["hold",{wanted}]}}"#, "x".repeat(1_790));
    let created = harness.command(Command::CreateInstance(CreateInstance {
        variables: document(&variables),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: Some(1) })
    }));
    created.unwrap().unwrap();
    if !own.is_empty() {
        let pick = element_key(&harness, "pick");
        set(&mut harness, pick, own).unwrap();
    }
    for _ in 0..times {
        let key = job_key(&mut harness, "a");
        harness.command(complete(key)).unwrap().unwrap();
    }
    assert!(messages(&harness).is_empty());
    harness
}

const SAME: [(&str, &str); 2] = [("pick", "pick"), ("hold", "hold")];

#[test]
fn a_collected_list_without_room_under_its_new_name_is_not_migrated() {
    let mut harness = collected(3, "");
    let limit = WorkLimit::InstanceVariableBytes;
    let rejection = refuses(&mut harness, limit, |harness| migrate(harness, &SAME));
    assert_eq!(rejection.kind, RejectionType::InvalidState, "{rejection:?}");
    ends(harness);

    let mut harness = collected(1, "");
    migrate(&mut harness, &SAME).unwrap();
    stays_within(&harness);
    ends(harness);
}

#[test]
fn a_collected_list_that_is_too_large_is_not_migrated() {
    let mut harness = collected(2, &format!(r#"{{"results":["{}"]}}"#, "x".repeat(4_000)));
    refuses(&mut harness, WorkLimit::CollectionBytes, |harness| migrate(harness, &SAME));
    ends(harness);
}

/// Other commands may store variables while the listeners of an update run.
#[test]
fn an_update_of_a_user_task_finds_no_room_after_its_listeners() {
    let mut harness = deployed(&process("user t task:updating=u", "t"));
    create(&mut harness, "{}").unwrap();
    let (root, task) = (instance(&harness), element_key(&harness, "t"));
    set(&mut harness, task, &texts(1, 4_900)).unwrap();
    set(&mut harness, root, &texts(2, 4_800)).unwrap();
    let key = job_key(&mut harness, "u");
    harness.command(complete(key)).unwrap().unwrap();
    has_incident_of(&harness, WorkLimit::InstanceVariableBytes);
    resolve(&mut harness);
    has_incident_of(&harness, WorkLimit::InstanceVariableBytes);

    // With room again it is stored, and no listener runs twice.
    set(&mut harness, root, r#"{"t0":0}"#).unwrap();
    resolve(&mut harness);
    assert!(messages(&harness).is_empty());
    assert!(harness.activate("u", 1).is_empty());
    let stored = harness.engine().tables().variables.contains(&(task, "t0".into())).unwrap();
    assert!(stored, "the update is lost");
    stays_within(&harness);
    ends(harness);
}

const PICK: &str = "adhoc pick elements=\"['hold']\" {\njob a\njob hold\ntask b\n}";

/// Activates `b` a number of times, then `a` with a text of a number of bytes.
fn activate(harness: &Harness, before: usize, bytes: usize) -> Command {
    let element = |id: &str, variables: &str| ActivateElement {
        element_id: Name::from(id),
        variables: document(variables),
    };
    let mut elements = vec![element("b", "{}"); before];
    elements.push(element("a", &texts(1, bytes)));
    Command::ActivateAdHoc(ActivateAdHoc {
        element_instance_key: element_key(harness, "pick"),
        elements,
        cancel_remaining_instances: false,
    })
}

/// An instance in which another command took the room for the variables of `a` before its activation, which is in a
/// later batch.
fn without_room_for_a() -> Harness {
    let options = Options { work: LIMITS, max_steps_per_command: 1, ..Options::default() };
    let mut harness = Harness::with_options(options);
    harness.deploy(&[("p.bpmn", &process(PICK, "pick"))]).unwrap();
    create(&mut harness, "{}").unwrap();
    let activate = activate(&harness, 40, 4_900);
    let others = Command::SetVariables(SetVariables {
        element_instance_key: instance(&harness),
        variables: document(&texts(2, 4_900)),
        local: true,
        operation_reference: None,
        request_id: None,
    });
    let effects = harness.apply(vec![activate, others], vec![]);
    assert!(effects.responses.iter().all(|response| matches!(response, Some(Ok(_)))));
    harness.go_on();
    has_incident_of(&harness, WorkLimit::InstanceVariableBytes);
    assert!(harness.activate("a", 1).is_empty());
    harness
}

#[test]
fn an_activation_in_an_ad_hoc_sub_process_finds_no_room_any_more() {
    let mut harness = without_room_for_a();
    // A migration renames what is to be started.
    harness.deploy(&[("p.bpmn", &process(&PICK.replace("job a", "job x"), "pick"))]).unwrap();
    migrate(&mut harness, &[("pick", "pick"), ("hold", "hold"), ("a", "x")]).unwrap();
    resolve(&mut harness);
    has_incident_of(&harness, WorkLimit::InstanceVariableBytes);
    let root = instance(&harness);
    set(&mut harness, root, r#"{"t0":0}"#).unwrap();
    resolve(&mut harness);
    assert!(messages(&harness).is_empty());
    let jobs = harness.activate("x", 9);
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].variables.get("t0").map(|text| text.as_bytes().len()), Some(4_900));
    stays_within(&harness);
    ends(harness);
}

/// A cancellation ends the scope created for the element, with its incident.
#[test]
fn an_activation_without_room_can_be_cancelled() {
    ends(without_room_for_a());
}

#[test]
fn an_activation_whose_element_is_gone_stays_an_incident() {
    let mut harness = without_room_for_a();
    harness.deploy(&[("p.bpmn", &process(&PICK.replace("job a\n", ""), "pick"))]).unwrap();
    migrate(&mut harness, &SAME).unwrap();
    resolve(&mut harness);
    let found = messages(&harness);
    assert!(found.len() == 1 && found[0].contains("No BPMN elements found with ids: 'a'"), "{found:?}");
    ends(harness);
}

#[test]
fn an_element_of_an_ad_hoc_sub_process_gets_no_variable_that_is_too_large() {
    let mut harness = deployed(&process(PICK, "pick"));
    create(&mut harness, "{}").unwrap();
    let command = activate(&harness, 0, 5_001);
    refuses(&mut harness, WorkLimit::VariableBytes, |harness| harness.command(command).unwrap().map(drop));
    ends(harness);
}

#[test]
fn a_modification_sets_no_variable_that_is_too_large() {
    let mut harness = deployed(&process("job t", "t"));
    create(&mut harness, "{}").unwrap();
    let process_instance_key = instance(&harness);
    let set = ScopeVariables { scope_id: Name::default(), variables: document(&texts(1, 5_001)) };
    let modify = ModifyInstance {
        activate: vec![ActivationInstruction {
            element_id: Name::from("t"),
            variables: vec![set],
            ancestor_key: None,
        }],
        ..ModifyInstance::of(process_instance_key)
    };
    let command = Command::ModifyInstance(modify);
    refuses(&mut harness, WorkLimit::VariableBytes, |harness| harness.command(command).unwrap().map(drop));
    ends(harness);
}

/// Execution listeners store their variables in the same command: the room at the check still exists.
#[test]
fn execution_listeners_store_what_has_room_and_no_more() {
    let mut harness = deployed(&process("job t listen:start=a listen:end=b", "t"));
    create(&mut harness, &texts(2, 4_900)).unwrap();
    let more = |bytes: usize| format!(r#"{{"more":"{}"}}"#, "x".repeat(bytes));
    for (job_type, fits, too_much) in [
        ("a", more(2_100), more(2_300)),
        ("t", "{}".to_owned(), more(2_300)),
        ("b", texts(1, 4_900), format!(r#"{{"other":"{}"}}"#, "x".repeat(2_300))),
    ] {
        let job_key = job_key(&mut harness, job_type);
        let complete = |variables: &str| Command::CompleteJob(CompleteJob::of(job_key, document(variables)));
        if job_type != "t" {
            let Some(Err(rejection)) = harness.command(complete(&too_much)) else { panic!("accepted") };
            names(WorkLimit::InstanceVariableBytes, &rejection.reason);
        }
        harness.command(complete(&fits)).unwrap().unwrap();
        stays_within(&harness);
    }
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(5);
}
