//! Permissions that commands require of their principal.

use protocol::{
    Actor, ActorType, AddBatchItems, Authorization, AuthorizationScope as Scope, BatchAction,
    BatchOperationItem, BroadcastSignal, Caller, Circle, CircleKind, Command, CompleteJob,
    CreateBatchOperation, CreateInstance, DefinitionRef, DeleteResource, Demand, Document, ElementMapping,
    EntityType as E, HistoryKind, HistoryOwner, IdentityCommand, Key, MappingRule, Membership,
    MigrateInstance, MigrationPlan, Name, PermissionType as P, Principal, PublishMessage, Query, QueryReply,
    RecordValue, RejectionType, ResourceType as R, Response, SetVariables, UserTaskCommand,
    UserTaskOperation, UserTaskProperty,
};

use crate::support::{Harness, document};

const MODEL: &str = "process p\n start s\n job a type=t\n end e\n s -> a -> e";

/// A principal whose permissions or tenants are checked.
#[expect(clippy::unnecessary_wraps, reason = "commands may have no principal")]
fn caller(principal: Principal, checks_tenants: bool) -> Option<Caller> {
    Some(Caller { principal, checks_authorizations: !checks_tenants, checks_tenants, foreign: vec![] })
}

fn ann() -> Option<Caller> {
    caller(Principal::user("ann"), false)
}

fn run(harness: &mut Harness, by: Option<Caller>, command: Command) -> Result<Response, String> {
    harness.command(command.asked_by(by)).unwrap().map_err(|rejection| rejection.to_string())
}

fn change(harness: &mut Harness, command: IdentityCommand) {
    run(harness, None, Command::Identity(command)).unwrap();
}

fn allow(harness: &mut Harness, owner: (E, &str), resource: R, scope: Scope, permissions: &[P]) {
    let authorization = Authorization {
        owner_type: owner.0,
        owner_id: owner.1.into(),
        resource_type: resource,
        scope,
        permissions: permissions.to_vec(),
    };
    let mut by = Caller::unchecked(Principal::client("setup"));
    by.foreign = vec![E::User, E::Group];
    let command = Command::Identity(IdentityCommand::CreateAuthorization(authorization));
    run(harness, Some(by), command).unwrap();
}

fn create(id: &str) -> Command {
    let definition = DefinitionRef::Id { id: id.into(), version: None };
    Command::CreateInstance(CreateInstance::of(definition))
}

fn instance(harness: &mut Harness, id: &str) -> Key {
    match run(harness, None, create(id)).unwrap() {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("{other:?}"),
    }
}

fn cancel(process_instance_key: Key) -> Command {
    Command::CancelInstance { process_instance_key, operation_reference: None }
}

fn refused(result: Result<Response, String>, permission: P, resource: R, id: Option<&str>) {
    let one_of =
        id.map(|id| format!(", required resource identifiers are one of '[*, {id}]'")).unwrap_or_default();
    let expected = format!(
        "FORBIDDEN: Insufficient permissions to perform operation '{permission}' on resource '{resource}'{one_of}"
    );
    assert_eq!(result.unwrap_err(), expected);
}

#[test]
fn commands_require_permissions_of_their_principal() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    refused(run(&mut harness, ann(), create("p")), P::CreateProcessInstance, R::ProcessDefinition, Some("p"));
    assert!(harness.is_empty(), "nothing happened");
    // A missing principal, or one that is only named, is not checked.
    let key = instance(&mut harness, "p");
    run(&mut harness, Some(Caller::unchecked(Principal::user("ann"))), create("p")).unwrap();
    allow(
        &mut harness,
        (E::User, "ann"),
        R::ProcessDefinition,
        Scope::Id("p".into()),
        &[P::CreateProcessInstance],
    );
    run(&mut harness, ann(), create("p")).unwrap();
    refused(run(&mut harness, ann(), cancel(key)), P::CancelProcessInstance, R::ProcessDefinition, Some("p"));
    // A missing instance is not found, for any principal.
    let missing = run(&mut harness, ann(), cancel(9)).unwrap_err();
    assert!(missing.contains("no such process was found"), "{missing}");
    allow(&mut harness, (E::User, "ann"), R::ProcessDefinition, Scope::Any, &[P::CancelProcessInstance]);
    run(&mut harness, ann(), cancel(key)).unwrap();
    harness.verify_replay(1);
}

#[test]
fn what_somebody_may_do_ends_with_what_allowed_it() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let rule = MappingRule {
        id: "devs".into(),
        name: "devs".into(),
        claim_name: "team".into(),
        claim_value: "red".into(),
    };
    change(&mut harness, IdentityCommand::CreateMappingRule(rule));
    let circle = Circle { id: "ops".into(), name: "ops".into(), description: Name::default() };
    change(&mut harness, IdentityCommand::CreateCircle { kind: CircleKind::Role, circle });
    let membership = Membership {
        kind: CircleKind::Role,
        circle_id: "ops".into(),
        entity_type: E::MappingRule,
        entity_id: "devs".into(),
    };
    change(&mut harness, IdentityCommand::AddMember(membership.clone()));
    allow(&mut harness, (E::Role, "ops"), R::ProcessDefinition, Scope::Any, &[P::CreateProcessInstance]);
    let robot = |team: &str| {
        let claims = vec![(Name::from("team"), Name::from(team))];
        caller(Principal { claims, ..Principal::client("robot") }, false)
    };
    run(&mut harness, robot("red"), create("p")).unwrap();
    run(&mut harness, robot("blue"), create("p")).unwrap_err();
    change(&mut harness, IdentityCommand::RemoveMember(membership));
    run(&mut harness, robot("red"), create("p")).unwrap_err();
    harness.verify_replay(2);
}

#[test]
fn most_commands_take_a_permission_of_their_own() {
    let mut harness = Harness::new();
    let deployed = harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let Response::Deployed(deployed) = deployed else { panic!("{deployed:?}") };
    let key = instance(&mut harness, "p");
    let job_key = harness.activate("t", 1)[0].key;
    let message = PublishMessage {
        name: "m".into(),
        correlation_key: Name::default(),
        time_to_live_ms: 0,
        message_id: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    };
    let variables = SetVariables {
        element_instance_key: key,
        variables: document(r#"{"a":1}"#),
        local: false,
        operation_reference: None,
        request_id: None,
    };
    let process = (R::ProcessDefinition, Some("p"));
    let cases = [
        (Command::PublishMessage(message), P::Create, (R::Message, None)),
        (Command::SetVariables(variables), P::UpdateProcessInstance, process),
        (
            Command::CompleteJob(CompleteJob::of(job_key, Document::empty())),
            P::UpdateProcessInstance,
            process,
        ),
        (Command::Clock(protocol::Clock::Reset), P::Update, (R::System, None)),
        (
            Command::DeleteResource(DeleteResource {
                resource_key: deployed.processes[0].process_definition_key,
                operation_reference: None,
                delete_history: false,
            }),
            P::DeleteProcess,
            (R::Resource, Some("p")),
        ),
        (
            Command::Identity(IdentityCommand::DeleteUser { username: "bob".into() }),
            P::Delete,
            (R::User, Some("bob")),
        ),
        (
            Command::Identity(IdentityCommand::DeleteCircle { kind: CircleKind::Group, id: "g".into() }),
            P::Delete,
            (R::Group, Some("g")),
        ),
    ];
    let before = harness.content();
    for (command, permission, (resource, id)) in cases {
        refused(run(&mut harness, ann(), command), permission, resource, id);
    }
    assert!(harness.content() == before, "a refused command changes nothing");
    harness.verify_replay(3);
}

#[test]
fn user_tasks_allow_the_principals_that_they_name() {
    let mut harness = Harness::new();
    let model = "process p\n start s\n user u groups=clerks\n end e\n s -> u -> e";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    instance(&mut harness, "p");
    let (key, _) = harness.engine().tables().user_tasks.first(..).unwrap().unwrap();
    let properties = [UserTaskProperty::Assignee, UserTaskProperty::CandidateGroups];
    for property in properties {
        allow(
            &mut harness,
            (E::Group, "clerks"),
            R::UserTask,
            Scope::Property(property),
            &[P::Claim, P::Complete],
        );
    }
    let clerk =
        |name: &str| caller(Principal { groups: vec!["clerks".into()], ..Principal::user(name) }, false);
    let task = |operation| {
        let action = Name::default();
        Command::UserTask(UserTaskCommand { user_task_key: key, operation, action, request_id: None })
    };
    let claim =
        |assignee: &str| task(UserTaskOperation::Assign { assignee: assignee.into(), allow_override: false });
    refused(run(&mut harness, ann(), claim("ann")), P::ClaimUserTask, R::ProcessDefinition, Some("p"));
    // For another user it is an assignment, not a claim.
    refused(
        run(&mut harness, clerk("bob"), claim("ann")),
        P::UpdateUserTask,
        R::ProcessDefinition,
        Some("p"),
    );
    assert!(harness.command(claim("bob").asked_by(clerk("bob"))).is_none_or(|outcome| outcome.is_ok()));
    let complete = || task(UserTaskOperation::Complete { variables: Document::empty() });
    refused(run(&mut harness, ann(), complete()), P::CompleteUserTask, R::ProcessDefinition, Some("p"));
    assert!(harness.command(complete().asked_by(clerk("bob"))).is_none_or(|outcome| outcome.is_ok()));
    assert!(harness.is_empty(), "it is completed");
    harness.verify_replay(4);
}

#[test]
fn a_signal_takes_a_permission_for_each_process_that_it_reaches() {
    let mut harness = Harness::new();
    for id in ["p", "q"] {
        let model = format!("process {id}\n start s\n catch c signal=stop\n end e\n s -> c -> e");
        harness.deploy(&[(&format!("{id}.bpmn"), &model)]).unwrap();
        instance(&mut harness, id);
    }
    let broadcast = || {
        Command::BroadcastSignal(BroadcastSignal {
            name: "stop".into(),
            variables: Document::empty(),
            tenant_id: Name::default_tenant(),
        })
    };
    let scope = Scope::Id("p".into());
    allow(&mut harness, (E::User, "ann"), R::ProcessDefinition, scope, &[P::UpdateProcessInstance]);
    refused(run(&mut harness, ann(), broadcast()), P::UpdateProcessInstance, R::ProcessDefinition, Some("q"));
    allow(
        &mut harness,
        (E::User, "ann"),
        R::ProcessDefinition,
        Scope::Id("q".into()),
        &[P::UpdateProcessInstance],
    );
    run(&mut harness, ann(), broadcast()).unwrap();
    assert!(harness.is_empty(), "both have ended");
    harness.verify_replay(5);
}

#[test]
fn a_signal_that_reaches_nothing_takes_a_permission_for_some_process() {
    let mut harness = Harness::new();
    let broadcast = |tenant: &str| {
        Command::BroadcastSignal(BroadcastSignal {
            name: "stop".into(),
            variables: Document::empty(),
            tenant_id: tenant.into(),
        })
    };
    let nobody_waits = |harness: &mut Harness, by| run(harness, by, broadcast("<default>"));
    refused(nobody_waits(&mut harness, ann()), P::UpdateProcessInstance, R::ProcessDefinition, None);
    // Neither this permission nor one of another user.
    let process = |id: &str| Scope::Id(id.into());
    allow(&mut harness, (E::User, "ann"), R::ProcessDefinition, process("p"), &[P::ReadProcessInstance]);
    allow(&mut harness, (E::User, "ann"), R::Message, Scope::Any, &[P::Create]);
    allow(&mut harness, (E::User, "bob"), R::ProcessDefinition, process("p"), &[P::CreateProcessInstance]);
    refused(nobody_waits(&mut harness, ann()), P::UpdateProcessInstance, R::ProcessDefinition, None);
    for permission in [P::CreateProcessInstance, P::UpdateProcessInstance] {
        let name = permission.as_str();
        allow(&mut harness, (E::User, name), R::ProcessDefinition, process("z"), &[permission]);
        nobody_waits(&mut harness, caller(Principal::user(name), false)).unwrap();
    }
    // The tenant is checked as before, and a missing principal is allowed.
    let of_tenants = run(&mut harness, caller(Principal::user("ann"), true), broadcast("north"));
    assert!(of_tenants.unwrap_err().contains("not assigned to this tenant"));
    nobody_waits(&mut harness, None).unwrap();
    harness.verify_replay(6);
}

#[test]
fn a_migration_takes_the_permission_for_where_it_goes() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let deployed = harness.deploy(&[("q.bpmn", &MODEL.replace("process p", "process q"))]).unwrap();
    let Response::Deployed(deployed) = deployed else { panic!("{deployed:?}") };
    let [key, other] = [instance(&mut harness, "p"), instance(&mut harness, "p")];
    let plan = MigrationPlan {
        target_definition_key: deployed.processes[0].process_definition_key,
        mappings: vec![ElementMapping { source_element_id: "a".into(), target_element_id: "a".into() }],
    };
    let migrate = |process_instance_key| {
        let plan = plan.clone();
        Command::MigrateInstance(MigrateInstance { process_instance_key, plan, operation_reference: None })
    };
    let batch = || {
        Command::CreateBatchOperation(CreateBatchOperation {
            search: Some("all".into()),
            action: BatchAction::Migrate(plan.clone()),
            operation_reference: None,
        })
    };
    let may = |harness: &mut Harness, id: &str, permissions: &[P]| {
        allow(harness, (E::User, "ann"), R::ProcessDefinition, Scope::Id(id.into()), permissions);
    };
    may(&mut harness, "p", &[P::UpdateProcessInstance, P::ReadProcessInstance]);
    allow(&mut harness, (E::User, "ann"), R::Batch, Scope::Any, &[P::Create]);
    let there = (P::UpdateProcessInstance, R::ProcessDefinition, Some("q"));
    refused(run(&mut harness, ann(), migrate(key)), there.0, there.1, there.2);
    refused(run(&mut harness, ann(), batch()), there.0, there.1, there.2);
    // The migration itself reports a missing definition.
    let mut nowhere = migrate(key);
    if let Command::MigrateInstance(migrate) = &mut nowhere {
        migrate.plan.target_definition_key = 9;
    }
    let missing = run(&mut harness, ann(), nowhere).unwrap_err();
    assert!(missing.contains("no process definition found"), "{missing}");
    may(&mut harness, "q", &[P::UpdateProcessInstance]);
    run(&mut harness, ann(), migrate(key)).unwrap();
    run(&mut harness, ann(), batch()).unwrap();
    let process =
        |key| harness.engine().tables().instances.get(&key).unwrap().unwrap().process_id.to_string();
    assert_eq!([process(key), process(other)], ["q", "q"]);
    harness.verify_replay(8);
}

#[test]
fn workers_get_the_jobs_that_they_may_work_on() {
    let mut harness = Harness::new();
    for id in ["p", "q"] {
        harness
            .deploy(&[(&format!("{id}.bpmn"), &MODEL.replace("process p", &format!("process {id}")))])
            .unwrap();
        instance(&mut harness, id);
    }
    let taken = |harness: &mut Harness, by: Option<Caller>| {
        let demand = Demand { caller: by.map(Box::new), ..harness.demand("t", 10) };
        let jobs = harness.activate_with(demand);
        jobs.into_iter().map(|job| job.process_id.to_string()).collect::<Vec<_>>()
    };
    assert!(taken(&mut harness, ann()).is_empty());
    allow(
        &mut harness,
        (E::User, "ann"),
        R::ProcessDefinition,
        Scope::Id("q".into()),
        &[P::UpdateProcessInstance],
    );
    assert_eq!(taken(&mut harness, ann()), ["q"]);
    assert!(
        taken(&mut harness, caller(Principal::user("ann"), true)).is_empty(),
        "not assigned to the tenant"
    );
    assert_eq!(taken(&mut harness, None), ["p"]);
    harness.verify_replay(6);
}

#[test]
fn items_of_a_batch_are_limited_by_the_permissions_of_its_principal() {
    let mut harness = Harness::new();
    for id in ["p", "q", "r"] {
        harness
            .deploy(&[(&format!("{id}.bpmn"), &MODEL.replace("process p", &format!("process {id}")))])
            .unwrap();
        instance(&mut harness, id);
    }
    let batch = |search: &str| {
        Command::CreateBatchOperation(CreateBatchOperation {
            search: Some(Name::from(search)),
            action: BatchAction::Cancel,
            operation_reference: None,
        })
    };
    let permission = P::CreateBatchOperationCancelProcessInstance;
    refused(run(&mut harness, ann(), batch("all")), permission, R::Batch, None);
    allow(&mut harness, (E::User, "ann"), R::Batch, Scope::Any, &[P::Create]);
    let allow = |harness: &mut Harness, id: &str, permission| {
        allow(harness, (E::User, "ann"), R::ProcessDefinition, Scope::Id(id.into()), &[permission]);
    };
    let counts = |harness: &mut Harness, created: Result<Response, String>| {
        let Ok(Response::BatchOperationCreated(created)) = created else { panic!("{created:?}") };
        let key = created.batch_operation_key;
        let QueryReply::BatchOperation(view) = harness.read(&Query::BatchOperation { key }).unwrap() else {
            panic!("no batch operation")
        };
        (key, (view.total, view.completed, view.failed))
    };
    // An instance with permission to cancel but not to read is no item, and not counted.
    allow(&mut harness, "p", P::CancelProcessInstance);
    let created = run(&mut harness, ann(), batch("all"));
    assert_eq!(counts(&mut harness, created).1, (0, 0, 0));
    allow(&mut harness, "p", P::ReadProcessInstance);
    allow(&mut harness, "q", P::ReadProcessInstance);
    let created = run(&mut harness, ann(), batch("all"));
    assert_eq!(counts(&mut harness, created).1, (2, 1, 1));
    let running = harness.engine().tables().instances.scan(.., 9).unwrap();
    let ids: Vec<_> = running.iter().map(|(_, instance)| instance.process_id.to_string()).collect();
    assert_eq!(ids, ["q", "r"]);
    // The same for items of an outside search, which finds the items of all principals.
    let (key, _) = {
        let created = run(&mut harness, ann(), batch("{}"));
        counts(&mut harness, created)
    };
    let item =
        |key| BatchOperationItem { item_key: key, process_instance_key: key, root_process_instance_key: key };
    let add = AddBatchItems {
        batch_operation_key: key,
        // The first has ended meanwhile.
        items: [1].into_iter().chain(running.iter().map(|(key, _)| *key)).map(item).collect(),
        is_last: true,
        error: None,
        owners: vec![],
    };
    run(&mut harness, None, Command::AddBatchItems(add)).unwrap();
    let QueryReply::BatchItems { items, .. } =
        harness.read(&Query::BatchItems { batch_operation_key: Some(key), limit: 9 }).unwrap()
    else {
        panic!("no items")
    };
    assert_eq!(items.iter().map(|item| item.item_key).collect::<Vec<_>>(), [running[0].0]);
    assert!(items[0].error_message.as_ref().unwrap().contains("CANCEL_PROCESS_INSTANCE"), "{items:?}");
    harness.verify_replay(7);
}

#[test]
fn the_deletion_of_histories_requires_a_permission() {
    let mut harness = Harness::new();
    let batch = || {
        Command::CreateBatchOperation(CreateBatchOperation {
            search: Some("{}".into()),
            action: BatchAction::DeleteHistory(HistoryKind::DecisionInstance),
            operation_reference: None,
        })
    };
    let permission = P::CreateBatchOperationDeleteDecisionInstance;
    refused(run(&mut harness, ann(), batch()), permission, R::Batch, None);
    allow(&mut harness, (E::User, "ann"), R::Batch, Scope::Any, &[permission]);
    let scope = Scope::Id("q".into());
    allow(&mut harness, (E::User, "ann"), R::DecisionDefinition, scope, &[P::DeleteDecisionInstance]);
    for id in ["p", "q"] {
        let scope = Scope::Id(id.into());
        allow(&mut harness, (E::User, "ann"), R::DecisionDefinition, scope, &[P::ReadDecisionInstance]);
    }
    let created = run(&mut harness, ann(), batch()).unwrap();
    let Response::BatchOperationCreated(created) = created else { panic!("{created:?}") };
    let item =
        |key| BatchOperationItem { item_key: key, process_instance_key: 0, root_process_instance_key: 0 };
    let owner = |id: &str| HistoryOwner { definition_id: id.into(), tenant_id: Name::default_tenant() };
    let add = AddBatchItems {
        batch_operation_key: created.batch_operation_key,
        items: vec![item(1), item(2), item(3)],
        is_last: true,
        error: None,
        owners: vec![owner("p"), owner("q"), owner("r")],
    };
    run(&mut harness, None, Command::AddBatchItems(add)).unwrap();
    let query = Query::BatchOperation { key: created.batch_operation_key };
    let QueryReply::BatchOperation(view) = harness.read(&query).unwrap() else {
        panic!("no batch operation")
    };
    assert_eq!((view.total, view.completed, view.failed), (2, 1, 1), "an invisible instance is not counted");
    let deleted: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::HistoryDeletion(it) => {
                Some((it.resource_key, it.decision_definition_id.to_string(), record.actor.clone()))
            }
            _ => None,
        })
        .collect();
    let by = Some(Actor { actor_type: ActorType::User, id: Some("ann".into()) });
    assert_eq!(deleted, [(2, "q".to_owned(), by)]);
    harness.verify_replay(9);
}

#[test]
fn the_deletion_of_a_resource_with_histories_requires_a_permission() {
    let mut harness = Harness::new();
    let deployed = harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let Response::Deployed(deployed) = deployed else { panic!("{deployed:?}") };
    let resource_key = deployed.processes[0].process_definition_key;
    let delete = |delete_history| {
        Command::DeleteResource(DeleteResource { resource_key, operation_reference: Some(8), delete_history })
    };
    allow(&mut harness, (E::User, "ann"), R::Resource, Scope::Any, &[P::DeleteProcess]);
    let permission = P::CreateBatchOperationDeleteProcessDefinition;
    refused(run(&mut harness, ann(), delete(true)), permission, R::Batch, None);
    allow(&mut harness, (E::User, "ann"), R::Batch, Scope::Any, &[permission]);
    let Ok(Response::BatchOperationCreated(created)) = run(&mut harness, ann(), delete(true)) else {
        panic!("no batch operation")
    };
    assert_eq!(created.kind.as_str(), "DELETE_PROCESS_DEFINITION");
    let forgotten: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::HistoryDeletion(it) => Some((it.resource_type.to_string(), it.resource_key)),
            _ => None,
        })
        .collect();
    assert_eq!(forgotten, [("PROCESS_DEFINITION".to_owned(), resource_key)]);
    let QueryReply::BatchSearches(searches) = harness.read(&Query::BatchSearches).unwrap() else {
        panic!("no searches")
    };
    assert_eq!(&*searches[0].filter, format!("{{\"processDefinitionKey\":\"{resource_key}\"}}"));
    assert_eq!(harness.engine().tables().definitions.get(&resource_key).unwrap(), None);
    // Without that nothing more happens.
    let deployed = harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let Response::Deployed(deployed) = deployed else { panic!("{deployed:?}") };
    let resource_key = deployed.processes[0].process_definition_key;
    let delete = DeleteResource { resource_key, operation_reference: None, delete_history: false };
    assert_eq!(run(&mut harness, ann(), Command::DeleteResource(delete)), Ok(Response::Done));
    harness.verify_replay(10);
}

#[test]
fn nobody_sees_more_than_its_tenants() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let key = instance(&mut harness, "p");
    let stranger = || caller(Principal::user("ann"), true);
    let hidden = run(&mut harness, stranger(), cancel(key)).unwrap_err();
    assert_eq!(
        hidden,
        "NOT_FOUND: Expected to perform operation 'CANCEL_PROCESS_INSTANCE' on resource 'PROCESS_DEFINITION', but no resource was found \
         for tenant '<default>'"
    );
    let created = harness.command(create("p").asked_by(stranger())).unwrap().unwrap_err();
    assert_eq!(created.kind, RejectionType::NotFound);
    // Not even that there is none.
    let unknown = harness.command(create("unknown").asked_by(stranger())).unwrap().unwrap_err();
    assert_eq!(unknown.reason, created.reason);
    change(&mut harness, IdentityCommand::SetUp);
    let membership = Membership {
        kind: CircleKind::Tenant,
        circle_id: Name::default_tenant(),
        entity_type: E::Client,
        entity_id: "ann".into(),
    };
    change(&mut harness, IdentityCommand::AddMember(membership));
    run(&mut harness, stranger(), cancel(key)).unwrap_err();
    run(&mut harness, caller(Principal::client("ann"), true), cancel(key)).unwrap();
    harness.verify_replay(8);
}
