//! A purge: what is left of a partition that had something of everything.

use engine::{JobEnd, Options};
use expect_test::expect;
use protocol::{
    AwaitResult, Command, CreateInstance, DefinitionRef, IdentityCommand, Intent, RejectionType, Response,
    User,
};

use crate::support::{Harness, check_with};

const MODEL: &str = "
    process p
    start s
    job t
    catch w timer=PT1H
    end e
    s -> t -> w -> e";

fn create(wait: Option<u64>) -> Command {
    let definition = DefinitionRef::Id { id: "p".into(), version: None };
    let await_result = wait.map(|request_id| AwaitResult { request_id, fetch_variables: Vec::new() });
    Command::CreateInstance(CreateInstance { await_result, ..CreateInstance::of(definition) })
}

#[test]
fn nothing_is_left_but_what_is_set_up_at_first() {
    let mut harness = Harness::new();
    harness.command(Command::Identity(IdentityCommand::SetUp)).unwrap().unwrap();
    let fresh = harness.engine().tables().row_counts();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    assert_eq!(harness.command(create(Some(77))), None);
    harness.command(create(None)).unwrap().unwrap();
    let user = User {
        username: "ann".into(),
        name: "Ann".into(),
        email: "a@b.c".into(),
        password_hash: protocol::PasswordHash("x".into()),
    };
    harness.command(Command::Identity(IdentityCommand::CreateUser(user))).unwrap().unwrap();
    let job = harness.activate("t", 1).remove(0);
    // Half of it is on disk.
    harness.flush_and_reopen();
    harness.command(create(None)).unwrap().unwrap();
    let keys: Vec<_> = harness.records().map(|record| record.key).collect();

    assert_eq!(
        harness.command(Command::Purge { after: None }),
        Some(Ok(Response::ChangeBegun { change_id: 1 }))
    );
    let effects = harness.history().last().unwrap();
    assert_eq!(effects.late_responses.iter().map(|(request, _)| *request).collect::<Vec<_>>(), [77]);
    assert!(effects.late_responses[0].1.is_err());
    assert_eq!(effects.ended_jobs, [(job.key, JobEnd::Canceled)]);
    assert_eq!(effects.records[0].intent, Intent::Purged);
    assert!(effects.records.iter().all(|record| !keys.contains(&record.key)), "keys are given once");
    assert_eq!(harness.engine().tables().row_counts(), fresh);

    // Only one at a time.
    let refused = harness.command(Command::Purge { after: None }).unwrap().unwrap_err();
    assert_eq!(refused.kind, RejectionType::InvalidState);
    let change = harness.engine().cluster_change().unwrap();
    assert_eq!((change.id, change.completed_ms, change.last_completed()), (1, None, None));
    harness.command(Command::EndChange(7)).unwrap().unwrap();
    assert_eq!(harness.engine().cluster_change().unwrap().completed_ms, None, "that is another one");
    harness.command(Command::EndChange(1)).unwrap().unwrap();
    harness.flush_and_reopen();
    assert_eq!(harness.engine().cluster_change().unwrap().last_completed(), Some(1));

    // The same model again is new.
    let gone = harness.command(create(None)).unwrap().unwrap_err();
    assert_eq!(gone.kind, RejectionType::NotFound);
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    harness.command(create(None)).unwrap().unwrap();
    assert_eq!(harness.activate("t", 5).len(), 1);
    assert_eq!(
        harness.command(Command::Purge { after: None }),
        Some(Ok(Response::ChangeBegun { change_id: 2 }))
    );
    assert_eq!(harness.engine().cluster_change().unwrap().last_completed(), Some(1));
}

#[test]
fn a_purge_that_comes_late_removes_nothing() {
    let mut harness = Harness::new();
    let purge = |after| Command::Purge { after: Some(after) };
    assert_eq!(harness.command(purge(0)), Some(Ok(Response::ChangeBegun { change_id: 1 })));
    harness.command(Command::EndChange(1)).unwrap().unwrap();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    harness.command(create(None)).unwrap().unwrap();
    let late = harness.command(purge(0)).unwrap().unwrap_err();
    assert_eq!(late.kind, RejectionType::InvalidState);
    assert_eq!(late.reason, "Expected to purge the cluster after its change 0, but its last one is 1");
    harness.command(create(None)).unwrap().unwrap();
    assert_eq!(harness.command(purge(1)), Some(Ok(Response::ChangeBegun { change_id: 2 })));
}

#[test]
fn ids_that_no_path_keeps_are_refused() {
    check_with(
        &[],
        Options::default(),
        "user create ..
         user create a/b
         group create .
         role create %2e%2e
         tenant create ..
         rule create .. claim=a:b
         group create g
         add client .. group g
         user create a..b",
        expect![[r#"
            > user create ..
              = rejected INVALID_ARGUMENT: Expected to create a user whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '..'
            > user create a/b
              = rejected INVALID_ARGUMENT: Expected to create a user whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was 'a/b'
            > group create .
              = rejected INVALID_ARGUMENT: Expected to create a group whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '.'
            > role create %2e%2e
              = rejected INVALID_ARGUMENT: Expected to create a role whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '%2e%2e'
            > tenant create ..
              = rejected INVALID_ARGUMENT: Expected to create a tenant whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '..'
            > rule create .. claim=a:b
              = rejected INVALID_ARGUMENT: Expected to create a mapping rule whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '..'
            > group create g
              group g [ ] created
            > add client .. group g
              = rejected INVALID_ARGUMENT: Expected to create a client whose ID is one part of a path, neither '.' nor '..' and without any of / \ % ? #, but it was '..'
            > user create a..b
              user a..b [ ] created
        "#]],
    );
}
