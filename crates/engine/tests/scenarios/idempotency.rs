//! Commands with idempotency keys.

use engine::{Options, Outcome};
use protocol::{
    Authorization, AuthorizationScope, AwaitResult, Caller, CircleKind, Command, CompleteJob, CreateInstance,
    DefinitionRef, EntityType, Idempotency, IdempotencySettings, IdentityCommand, Key, Membership, Name,
    PasswordHash, PermissionType, Principal, RejectionType, ResourceType, Response, User,
};

use crate::support::{Harness, document};

const TASK: &str = "process p\nstart s\njob t\nend e\ns -> t -> e";
const KEEP_MS: i64 = 60_000;

fn deployed(settings: IdempotencySettings) -> Harness {
    let mut harness = Harness::with_options(Options { idempotency: settings, ..Options::default() });
    harness.deploy(&[("p.bpmn", TASK)]).unwrap();
    harness
}

fn usual() -> Harness {
    deployed(IdempotencySettings { keep_ms: KEEP_MS as u64, max_keys: 100, max_bytes: 100_000 })
}

fn by(key: u64, fingerprint: u64) -> Idempotency {
    Idempotency { key: [7, key], fingerprint: [fingerprint, 1] }
}

fn creation(variables: &str, waits: Option<u64>) -> Command {
    let wait = |request_id| AwaitResult { request_id, fetch_variables: vec![] };
    Command::CreateInstance(CreateInstance {
        variables: document(variables),
        await_result: waits.map(wait),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    })
}

fn complete(job_key: Key) -> Command {
    Command::CompleteJob(CompleteJob::of(job_key, document(r#"{"b":2}"#)))
}

fn instances(harness: &Harness) -> u64 {
    harness.engine().tables().instances.len().unwrap()
}

fn is_clean(harness: &Harness) -> bool {
    let tables = harness.engine().tables();
    let rows = [tables.keyed_commands.len(), tables.keyed_due.len(), tables.keyed_requests.len()];
    rows.into_iter().all(|rows| rows.unwrap() == 0)
}

fn refusal(outcome: Option<Outcome>) -> RejectionType {
    outcome.expect("an answer").unwrap_err().kind
}

#[test]
fn a_retry_gets_the_first_answer_and_does_nothing() {
    let mut harness = usual();
    let first = harness.command(creation("{}", None).once(Some(by(1, 1))));
    assert!(matches!(first, Some(Ok(Response::InstanceCreated(_)))), "{first:?}");
    harness.flush_and_reopen();
    let before = harness.content();
    assert_eq!(harness.command(creation("{}", None).once(Some(by(1, 1)))), first);
    assert_eq!(harness.content(), before);
    assert_ne!(harness.command(creation("{}", None).once(Some(by(2, 1)))), first, "another key");
    assert_eq!(
        refusal(harness.command(creation("{}", None).once(Some(by(1, 2))))),
        RejectionType::IdempotencyKeyReused
    );
    assert_eq!(instances(&harness), 2);
}

#[test]
fn a_worker_that_did_not_hear_of_its_completion_completes_again() {
    let mut harness = usual();
    harness.command(creation("{}", None));
    let job_key = harness.activate("t", 1)[0].key;
    let first = harness.command(complete(job_key).once(Some(by(1, 1))));
    assert_eq!(first, Some(Ok(Response::Done)));
    assert_eq!(harness.command(complete(job_key).once(Some(by(1, 1)))), first);
    let before = harness.content();
    let other = harness.command(complete(job_key).once(Some(by(2, 1))));
    assert_eq!(refusal(other), RejectionType::NotFound);
    assert_eq!(harness.content(), before, "a refusal takes no place");
}

#[test]
fn keys_are_forgotten_when_their_time_is_over() {
    let mut harness = usual();
    let first = harness.command(creation("{}", None).once(Some(by(1, 1))));
    harness.advance(KEEP_MS - 1);
    assert_eq!(harness.command(creation("{}", None).once(Some(by(1, 1)))), first);
    harness.advance(1);
    assert!(is_clean(&harness));
    assert_ne!(harness.command(creation("{}", None).once(Some(by(1, 1)))), first);
    assert_eq!(instances(&harness), 2);
}

/// A clock that users move has no part in it.
#[test]
fn the_time_of_keys_is_that_of_the_log() {
    let mut harness = usual();
    let first = harness.command(creation("{}", None).once(Some(by(1, 1))));
    harness.command(Command::Clock(protocol::Clock::Add { offset_ms: 10 * KEEP_MS }));
    assert_eq!(harness.command(creation("{}", None).once(Some(by(1, 1)))), first);
}

#[test]
fn retries_of_a_creation_that_waits_wait_for_the_same_result() {
    let mut harness = usual();
    assert_eq!(harness.command(creation("{}", Some(11)).once(Some(by(1, 1)))), None);
    harness.flush_and_reopen();
    assert_eq!(harness.command(creation("{}", Some(12)).once(Some(by(1, 1)))), None);
    assert_eq!(
        refusal(harness.command(creation("{}", Some(13)).once(Some(by(1, 2))))),
        RejectionType::IdempotencyKeyReused
    );
    assert_eq!(instances(&harness), 1);
    let job_key = harness.activate("t", 1)[0].key;
    let begun = harness.history().len();
    harness.command(complete(job_key));
    let late = harness.history()[begun..].iter().flat_map(|effects| &effects.late_responses);
    let late: Vec<_> = late.cloned().collect();
    let [(11, first), (12, second)] = &late[..] else { panic!("{late:?}") };
    assert!(matches!(first, Ok(Response::InstanceCompleted { .. })), "{first:?}");
    assert_eq!(first, second);
    assert_eq!(
        harness.command(creation("{}", Some(14)).once(Some(by(1, 1)))).as_ref(),
        Some(first),
        "at once"
    );
    harness.advance(KEEP_MS);
    assert!(is_clean(&harness));
}

#[test]
fn of_many_requests_that_wait_the_latest_are_answered() {
    let mut harness = usual();
    for number in 1..=20 {
        assert_eq!(harness.command(creation("{}", Some(number)).once(Some(by(1, 1)))), None);
    }
    assert_eq!(harness.engine().tables().keyed_requests.len().unwrap(), 8);
    let job_key = harness.activate("t", 1)[0].key;
    let begun = harness.history().len();
    harness.command(complete(job_key));
    let late = harness.history()[begun..].iter().flat_map(|effects| &effects.late_responses);
    let numbers: Vec<_> = late.map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 14, 15, 16, 17, 18, 19, 20]);
    assert_eq!(harness.engine().tables().keyed_requests.len().unwrap(), 0);
}

#[test]
fn a_result_that_comes_after_its_time_is_of_no_matter() {
    let mut harness = usual();
    assert_eq!(harness.command(creation("{}", Some(11)).once(Some(by(1, 1)))), None);
    harness.advance(KEEP_MS);
    assert!(is_clean(&harness));
    let job_key = harness.activate("t", 1)[0].key;
    harness.command(complete(job_key));
    assert!(is_clean(&harness));
}

#[test]
fn keys_and_bytes_are_bounded() {
    let mut harness =
        deployed(IdempotencySettings { keep_ms: KEEP_MS as u64, max_keys: 10, max_bytes: 100_000 });
    for key in 1..=10 {
        harness.command(creation("{}", None).once(Some(by(key, 1)))).unwrap().unwrap();
    }
    let before = harness.content();
    assert_eq!(
        refusal(harness.command(creation("{}", None).once(Some(by(11, 1))))),
        RejectionType::ResourceExhausted
    );
    assert_eq!(harness.content(), before, "nothing was done");
    harness.command(creation("{}", None).once(Some(by(10, 1)))).unwrap().unwrap();
    harness.command(creation("{}", None)).unwrap().unwrap();
    harness.advance(KEEP_MS);
    harness.command(creation("{}", None).once(Some(by(11, 1)))).unwrap().unwrap();
}

#[test]
fn an_answer_that_is_too_large_is_not_kept() {
    let mut harness =
        deployed(IdempotencySettings { keep_ms: KEEP_MS as u64, max_keys: 10, max_bytes: 1000 });
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(2000));
    assert_eq!(harness.command(creation(&large, Some(11)).once(Some(by(1, 1)))), None);
    let job_key = harness.activate("t", 1)[0].key;
    let begun = harness.history().len();
    harness.command(complete(job_key));
    let late = harness.history()[begun..].iter().flat_map(|effects| &effects.late_responses).count();
    assert_eq!(late, 1, "the first request gets it");
    let again = harness.command(creation(&large, Some(12)).once(Some(by(1, 1)))).unwrap().unwrap_err();
    assert_eq!(again.kind, RejectionType::InvalidState);
    assert!(again.reason.contains("was done, but its answer of"), "{}", again.reason);
    assert_eq!(instances(&harness), 0);
}

/// Ann, whose permissions and tenants count.
fn asked_by(name: &str, command: Command) -> Command {
    let caller = Caller {
        checks_authorizations: true,
        checks_tenants: true,
        ..Caller::unchecked(Principal::user(name))
    };
    command.asked_by(Some(caller))
}

fn identity(harness: &mut Harness, command: IdentityCommand) -> Response {
    harness.command(Command::Identity(command)).unwrap().unwrap()
}

/// A tenant and a permission for somebody; gives the key of the authorization.
fn allow(harness: &mut Harness, name: &str) -> Key {
    let membership = Membership {
        kind: CircleKind::Tenant,
        circle_id: Name::default_tenant(),
        entity_type: EntityType::User,
        entity_id: Name::from(name),
    };
    identity(harness, IdentityCommand::AddMember(membership));
    let authorization = Authorization {
        owner_type: EntityType::User,
        owner_id: Name::from(name),
        resource_type: ResourceType::ProcessDefinition,
        scope: AuthorizationScope::Any,
        permissions: vec![PermissionType::CreateProcessInstance, PermissionType::UpdateProcessInstance],
    };
    match identity(harness, IdentityCommand::CreateAuthorization(authorization)) {
        Response::AuthorizationCreated { authorization_key } => authorization_key,
        other => panic!("{other:?}"),
    }
}

fn with_users(settings: IdempotencySettings, names: &[&str]) -> Harness {
    let mut harness = deployed(settings);
    identity(&mut harness, IdentityCommand::SetUp);
    for name in names {
        let user = User {
            username: Name::from(*name),
            name: Name::from(*name),
            email: Name::from(*name),
            password_hash: PasswordHash(Name::from("x")),
        };
        identity(&mut harness, IdentityCommand::CreateUser(user));
    }
    harness
}

#[test]
fn an_answer_is_given_again_to_whoever_still_may() {
    let settings = IdempotencySettings { keep_ms: KEEP_MS as u64, max_keys: 100, max_bytes: 100_000 };
    let mut harness = with_users(settings, &["ann"]);
    let authorization_key = allow(&mut harness, "ann");
    let create = || asked_by("ann", creation(r#"{"secret":1}"#, None)).once(Some(by(1, 1)));
    let created = harness.command(create());
    assert!(matches!(created, Some(Ok(_))), "{created:?}");
    let job_key = harness.activate("t", 1)[0].key;
    // The job is gone with its answer: what it took is known all the same.
    let complete = || asked_by("ann", complete(job_key)).once(Some(by(2, 1)));
    assert_eq!(harness.command(complete()), Some(Ok(Response::Done)));
    // One that waits, too.
    let wait = |number| asked_by("ann", creation("{}", Some(number))).once(Some(by(3, 1)));
    assert_eq!(harness.command(wait(11)), None);
    harness.flush_and_reopen();
    assert_eq!(harness.command(create()), created);
    assert_eq!(harness.command(complete()), Some(Ok(Response::Done)));

    identity(&mut harness, IdentityCommand::DeleteAuthorization { authorization_key });
    for refused in [create(), complete(), wait(12)] {
        assert_eq!(refusal(harness.command(refused)), RejectionType::Forbidden);
    }
    allow_again(&mut harness);
    assert_eq!(harness.command(create()), created);
    assert_eq!(harness.command(wait(12)), None);
    let membership = Membership {
        kind: CircleKind::Tenant,
        circle_id: Name::default_tenant(),
        entity_type: EntityType::User,
        entity_id: Name::from("ann"),
    };
    identity(&mut harness, IdentityCommand::RemoveMember(membership));
    for refused in [create(), complete(), wait(13)] {
        assert_eq!(refusal(harness.command(refused)), RejectionType::NotFound);
    }
    assert_eq!(instances(&harness), 1);
}

fn allow_again(harness: &mut Harness) {
    let authorization = Authorization {
        owner_type: EntityType::User,
        owner_id: Name::from("ann"),
        resource_type: ResourceType::ProcessDefinition,
        scope: AuthorizationScope::Any,
        permissions: vec![PermissionType::CreateProcessInstance, PermissionType::UpdateProcessInstance],
    };
    identity(harness, IdentityCommand::CreateAuthorization(authorization));
}

#[test]
fn nobody_takes_the_places_of_others() {
    const MAX: u64 = 20;
    let settings = IdempotencySettings { keep_ms: KEEP_MS as u64, max_keys: MAX, max_bytes: 100_000 };
    let mut harness = with_users(settings, &["ann", "bob", "eve"]);
    for name in ["ann", "bob"] {
        allow(&mut harness, name);
    }
    // A principal without any right takes none.
    for key in 1..=2 * MAX {
        let command = asked_by("eve", creation("{}", None)).once(Some(by(100 + key, 1)));
        harness.command(command).unwrap().unwrap_err();
    }
    assert!(is_clean(&harness));
    let ask = |harness: &mut Harness, name: &str, key: u64| {
        harness.command(asked_by(name, creation("{}", None)).once(Some(by(key, 1)))).unwrap()
    };
    let taken = |harness: &mut Harness, name: &str, from: u64| {
        (from..from + 2 * MAX).take_while(|key| ask(harness, name, *key).is_ok()).count() as u64
    };
    assert_eq!(taken(&mut harness, "ann", 1000), MAX / 2);
    assert_eq!(refusal(Some(ask(&mut harness, "ann", 5000))), RejectionType::ResourceExhausted);
    assert_eq!(taken(&mut harness, "bob", 2000), MAX / 4);
    harness.flush_and_reopen();
    harness.command(creation("{}", None).once(Some(by(3000, 1)))).unwrap().unwrap();
    harness.advance(KEEP_MS);
    assert!(is_clean(&harness));
    assert_eq!(harness.engine().tables().keyed_principals.len().unwrap(), 0);
    assert_eq!(taken(&mut harness, "bob", 4000), MAX / 2);
}
