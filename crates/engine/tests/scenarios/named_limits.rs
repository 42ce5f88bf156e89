//! Every limit of commands causes an incident or a refusal that names the setting and its figure.

use engine::{Options, WorkLimit, WorkLimits};
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Document, FailJob, Key, Name, PublishMessage,
    SetVariables,
};

use crate::support::{Harness, document};

pub const LIMITS: WorkLimits = WorkLimits {
    max_fuel_per_command: 10_000,
    max_fuel_per_step: 100_000,
    max_bytes_per_step: 20_000,
    max_evaluation_bytes: 300_000,
    max_variable_bytes: 5_000,
    max_collection_bytes: 6_000,
    max_instance_variable_bytes: 12_000,
    max_record_bytes_per_command: 1_000_000,
    max_entries_per_command: 60,
    max_scope_variables: 50,
};

/// A case that reaches a limit, and the place of its report.
enum Reached {
    /// An element of the model, activated with these variables.
    Incident(String, String),
    /// A refusal of variables of the client: a number of texts of a number of bytes.
    Refusal(usize, usize),
}

pub fn texts(count: usize, bytes: usize) -> String {
    let entries: Vec<String> =
        (0..count).map(|number| format!(r#""t{number}":"{}""#, "x".repeat(bytes - 2))).collect();
    format!("{{{}}}", entries.join(","))
}

/// An element with so many mappings of small numbers.
fn mappings(element: &str, direction: &str, count: usize) -> String {
    let mappings: Vec<_> = (0..count).map(|at| format!("{direction}:a{at}=\"=1\"")).collect();
    format!("{element} {}", mappings.join(" "))
}

fn rows(limit: WorkLimit) -> Vec<Reached> {
    let none = String::from("{}");
    match limit {
        WorkLimit::Fuel => vec![
            Reached::Incident("job t in:a=\"=some i in 1..90000 satisfies false\"".to_owned(), none.clone()),
            Reached::Incident(
                "script t expr=\"some i in 1..90000 satisfies false\" result=r".to_owned(),
                none,
            ),
        ],
        WorkLimit::EvaluationBytes => vec![
            Reached::Incident("job t in:a=\"=count(for i in 1..5000 return [i])\"".to_owned(), none.clone()),
            Reached::Incident("script t expr=\"for i in 1..5000 return {a: i}\" result=r".to_owned(), none),
        ],
        WorkLimit::StepBytes => vec![Reached::Incident(
            "job t in:a=\"=t0\" in:a=\"=t0\" in:a=\"=t0\" in:a=\"=t0\" in:a=\"=t0\"".to_owned(),
            texts(1, 4_500),
        )],
        WorkLimit::VariableBytes => vec![
            Reached::Incident("job t in:a=\"=[t0, t0]\"".to_owned(), texts(1, 4_500)),
            Reached::Incident("script t expr=\"t0 + t0\" result=r".to_owned(), texts(1, 4_500)),
            Reached::Refusal(1, 5_001),
        ],
        WorkLimit::CollectionBytes => vec![
            Reached::Incident("task t each=\"for i in 1..2000 return i\"".to_owned(), none),
            Reached::Incident(
                "script t each=\"[1,2]\" as=n expr=\"t0\" result=r collect=all gives=r".to_owned(),
                texts(1, 3_500),
            ),
        ],
        WorkLimit::InstanceVariableBytes => vec![
            Reached::Incident("job t in:a=\"=t0\" in:b=\"=t0\"".to_owned(), texts(2, 4_000)),
            Reached::Incident("job t each=\"[t0,t1]\" as=item".to_owned(), texts(2, 2_900)),
            Reached::Incident("task t each=\"[t0]\"".to_owned(), texts(2, 4_900)),
            Reached::Incident(
                "script t each=\"[1]\" expr=\"t0\" result=r collect=all gives=r".to_owned(),
                texts(2, 4_900),
            ),
            Reached::Refusal(3, 4_900),
        ],
        WorkLimit::Entries => vec![Reached::Refusal(61, 10)],
        WorkLimit::ScopeVariables => vec![
            Reached::Incident(mappings("job t", "in", 51), none.clone()),
            Reached::Incident(mappings("script t expr=\"1\" result=r", "out", 51), none),
            Reached::Incident(mappings("script t expr=\"1\" result=r", "out", 30), texts(30, 10)),
            Reached::Refusal(55, 10),
        ],
    }
}

fn harness(element: &str) -> Harness {
    let mut harness = Harness::with_options(Options { work: LIMITS, ..Options::default() });
    let model = format!("process p\nstart s\n{element}\nend e\ns -> t -> e");
    harness.deploy(&[("p.bpmn", &model)]).unwrap();
    harness
}

pub fn create(harness: &mut Harness, variables: &str) -> Result<(), String> {
    let created = harness.command(Command::CreateInstance(CreateInstance {
        variables: document(variables),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    }));
    created.expect("an answer").map(drop).map_err(|rejection| rejection.reason)
}

pub fn messages(harness: &Harness) -> Vec<String> {
    let incidents = harness.engine().tables().incidents.scan(.., usize::MAX).unwrap();
    incidents.iter().map(|(_, incident)| incident.error_message.to_string()).collect()
}

#[track_caller]
pub fn names(limit: WorkLimit, message: &str) {
    let (setting, figure) = (limit.setting(), limit.figure(&LIMITS));
    let end = format!("({setting})");
    assert!(message.contains(&end) && message.contains(&format!(" {figure} ")), "{limit:?}: {message}");
}

#[test]
fn every_limit_is_named_with_its_figure() {
    for limit in WorkLimit::ALL {
        let rows = rows(limit);
        assert!(!rows.is_empty(), "{limit:?}");
        for row in rows {
            match row {
                Reached::Incident(element, variables) => {
                    let mut harness = harness(&element);
                    create(&mut harness, &variables).unwrap();
                    let found = messages(&harness);
                    let [message, ..] = found.as_slice() else {
                        panic!("{limit:?}: no incident at {element}")
                    };
                    names(limit, message);
                    let key = harness.engine().tables().instances.keys(.., 1).unwrap()[0];
                    harness.command(Command::CancelInstance {
                        process_instance_key: key,
                        operation_reference: None,
                    });
                    assert!(harness.is_empty(), "{element}: {:?}", harness.leftovers());
                    harness.verify_replay(5);
                }
                Reached::Refusal(count, bytes) => {
                    let mut harness = harness("task t");
                    let before = harness.content();
                    names(limit, &create(&mut harness, &texts(count, bytes)).expect_err("accepted"));
                    assert_eq!(harness.content(), before);
                }
            }
        }
    }
}

/// Variables of clients for a full instance are refused, and the state is unchanged.
#[test]
fn commands_into_a_full_instance_are_refused() {
    let mut harness = harness("job t");
    create(&mut harness, &texts(2, 4_900)).unwrap();
    let job = harness.activate("t", 1).remove(0);
    let (job_key, element_key) = (job.key, job.element_instance_key);
    let more = || document(&format!(r#"{{"more":"{}"}}"#, "x".repeat(3_000)));
    let set = |local| {
        Command::SetVariables(SetVariables {
            element_instance_key: element_key,
            variables: more(),
            local,
            operation_reference: None,
            request_id: None,
        })
    };
    let refused = [
        Command::CompleteJob(CompleteJob::of(job_key, more())),
        Command::FailJob(FailJob { variables: more(), ..fail(job_key) }),
        set(true),
        set(false),
    ];
    for command in refused {
        let before = harness.content();
        let Some(Err(rejection)) = harness.command(command.clone()) else { panic!("accepted {command:?}") };
        assert_eq!(rejection.kind, protocol::RejectionType::ExceededBatchRecordSize, "{rejection:?}");
        names(WorkLimit::InstanceVariableBytes, &rejection.reason);
        assert_eq!(harness.content(), before);
    }
    // A replacement does not add to the size.
    let same = document(&format!(r#"{{"t0":"{}"}}"#, "y".repeat(4_000)));
    let completed = harness.command(Command::CompleteJob(CompleteJob::of(job_key, same)));
    completed.unwrap().unwrap();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(3);
}

fn fail(job_key: Key) -> FailJob {
    FailJob {
        job_key,
        retries: 3,
        retry_backoff_ms: 0,
        error_message: Name::default(),
        variables: Document::empty(),
        lease: None,
    }
}

/// The receiver of a message is unknown at its publication: the element that catches it has the incident.
#[test]
fn a_message_into_a_full_instance_is_an_incident_where_it_is_caught() {
    let mut harness = harness("catch t message=m key=k");
    create(&mut harness, &texts(2, 4_900).replace("{\"t0\"", "{\"k\":\"1\",\"t0\"")).unwrap();
    let publish = PublishMessage {
        name: Name::from("m"),
        correlation_key: Name::from("1"),
        variables: document(&format!(r#"{{"more":"{}"}}"#, "x".repeat(3_000))),
        time_to_live_ms: 0,
        message_id: Name::default(),
        tenant_id: Name::from("<default>"),
        business_id: None,
    };
    harness.command(Command::PublishMessage(publish)).unwrap().unwrap();
    let found = messages(&harness);
    assert_eq!(found.len(), 1, "{found:?}");
    names(WorkLimit::InstanceVariableBytes, &found[0]);
    harness.verify_replay(3);
}

/// Each handler has the variables of the completed sub-process for itself: the second finds no room.
#[test]
fn a_handler_in_a_full_instance_is_an_incident() {
    let mut harness = Harness::with_options(Options { work: LIMITS, ..Options::default() });
    let model = r#"process p
        start s
        sub inner in:local="=text" {
          start is
          task a
          boundary undo_a on=a compensation=revert_a
          job revert_a handler
          task b
          boundary undo_b on=b compensation=revert_b
          job revert_b handler
          is -> a -> b
        }
        job fill
        throw undo compensate
        end e
        s -> inner -> fill -> undo -> e"#;
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    create(&mut harness, &format!(r#"{{"text":"{}"}}"#, "x".repeat(3_500))).unwrap();
    let job_key = harness.activate("fill", 1).remove(0).key;
    let variables = document(&texts(1, 4_900));
    harness.command(Command::CompleteJob(CompleteJob::of(job_key, variables))).unwrap().unwrap();
    let found = messages(&harness);
    assert_eq!(found.len(), 1, "{found:?}");
    names(WorkLimit::InstanceVariableBytes, &found[0]);
    let undo = |harness: &mut Harness| {
        let mut jobs = harness.activate("revert_a", 1);
        jobs.extend(harness.activate("revert_b", 1));
        let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
        assert!(job.variables.iter().any(|(name, _)| &*name.0 == "local"), "{job:?}");
        job.key
    };
    let first = undo(&mut harness);

    // With room again, it has what it lacked.
    let process_instance_key = harness.engine().tables().instances.keys(.., 1).unwrap()[0];
    let set = SetVariables {
        element_instance_key: process_instance_key,
        variables: document(r#"{"t0":0}"#),
        local: true,
        operation_reference: None,
        request_id: None,
    };
    harness.command(Command::SetVariables(set)).unwrap().unwrap();
    let incident_key = harness.engine().tables().incidents.keys(.., 1).unwrap()[0];
    harness.command(Command::ResolveIncident { incident_key, operation_reference: None }).unwrap().unwrap();
    let second = undo(&mut harness);
    for job_key in [first, second] {
        harness.command(complete(job_key)).unwrap().unwrap();
    }
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(3);
}

#[test]
fn what_can_be_compensated_takes_room() {
    let mut harness = Harness::with_options(Options { work: LIMITS, ..Options::default() });
    let model = r#"process p
        start s
        xor again
        sub inner in:local="=text" {
          start is
          task a
          boundary undo_a on=a compensation=revert_a
          job revert_a handler
          is -> a
        }
        job next
        s -> again -> inner -> next -> again"#;
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    create(&mut harness, &format!(r#"{{"text":"{}"}}"#, "x".repeat(3_500))).unwrap();
    for _ in 0..2 {
        assert!(messages(&harness).is_empty());
        let job_key = harness.activate("next", 1).remove(0).key;
        harness.command(complete(job_key)).unwrap().unwrap();
    }
    let found = messages(&harness);
    assert_eq!(found.len(), 1, "{found:?}");
    names(WorkLimit::InstanceVariableBytes, &found[0]);
    let process_instance_key = harness.engine().tables().instances.keys(.., 1).unwrap()[0];
    let cancel = Command::CancelInstance { process_instance_key, operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(3);
}

pub fn complete(job_key: Key) -> Command {
    Command::CompleteJob(CompleteJob::of(job_key, Document::empty()))
}
