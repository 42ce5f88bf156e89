//! The audit log.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{
    Actor, ActorType, DecisionRecord, Document, GroupRecord, HistoryDeletionRecord, HistoryKind,
    IncidentRecord, Intent, Key, Name, ProcessInstanceCreationRecord, ProcessInstanceRecord, Record,
    RecordedInstance, UserTaskRecord, Word, testing,
};
use search::StoreError;
use search::model::audit_log::ENTITY;
use secondary::{AuditCategory, AuditSettings, DeployedModel, Loader, Projection};

use super::{asked, record, rows, rows_by};

fn user() -> Actor {
    Actor { actor_type: ActorType::User, id: Some(Name::from("ann")) }
}

fn client() -> Actor {
    Actor { actor_type: ActorType::Client, id: Some(Name::from("robot")) }
}

pub fn process(position: u64, element_type: &'static str) -> Record {
    let value = ProcessInstanceRecord {
        instance: Arc::new(RecordedInstance { process_definition_key: 4, ..testing::described(9) }),
        element_id: Name::from("p"),
        flow_scope_key: None,
        bpmn_element_type: Word::new(element_type),
        bpmn_event_type: Word::new(""),
    };
    record(position, 9, Intent::ElementTerminating, value)
}

pub fn task(position: u64, intent: Intent, assignee: &str) -> Record {
    let value = UserTaskRecord {
        user_task_key: 20,
        assignee: Name::from(assignee),
        candidate_groups_list: Vec::new(),
        candidate_users_list: Vec::new(),
        due_date: Name::default(),
        follow_up_date: Name::default(),
        form_key: None,
        external_form_reference: Name::default(),
        variables: protocol::Document::empty(),
        custom_headers: Name::from("{}"),
        changed_attributes: Vec::new(),
        action: Name::default(),
        creation_timestamp_ms: 0,
        priority: 50,
        denied_reason: Name::default(),
        element_id: Name::from("u"),
        element_instance_key: 11,
        bpmn_process_id: Name::from("p"),
        process_definition_version: 1,
        process_definition_key: 4,
        process_instance_key: 9,
        root_process_instance_key: 9,
        tenant_id: Name::default_tenant(),
        tags: Vec::new(),
        business_id: None,
    };
    record(position, 20, intent, value)
}

fn member(position: u64, intent: Intent) -> Record {
    let value = GroupRecord {
        group_key: 30,
        group_id: Name::from("g"),
        name: Name::from("Group"),
        description: Name::default(),
        entity_id: Name::from("bob"),
        entity_type: Name::from("USER"),
    };
    record(position, 30, intent, value)
}

#[test]
fn an_entry_tells_who_did_what_to_what() {
    let all = AuditSettings::default();
    let found = rows(&ENTITY, &all, &[asked(&user(), process(7, "PROCESS"))]);
    let wanted = [
        ("auditLogKey", "2251799813685255"),
        ("entityKey", "9"),
        ("entityType", "PROCESS_INSTANCE"),
        ("operationType", "CANCEL"),
        ("timestamp", "1007"),
        ("actorId", "ann"),
        ("actorType", "USER"),
        ("tenantId", "<default>"),
        ("result", "SUCCESS"),
        ("category", "DEPLOYED_RESOURCES"),
        ("processDefinitionId", "p"),
        ("processDefinitionKey", "4"),
        ("processInstanceKey", "9"),
        ("rootProcessInstanceKey", "9"),
    ];
    assert_eq!(found, [wanted.map(|(name, value)| (name, value.to_owned())).into()]);
    // The engine's own work and parts of other operations are no entries.
    let others = [process(7, "PROCESS"), asked(&user(), process(8, "SERVICE_TASK"))];
    assert!(rows(&ENTITY, &all, &others).is_empty());
}

#[test]
fn tasks_and_members_tell_the_other_one_too() {
    let records = [
        task(1, Intent::Assigned, "bob"),
        task(2, Intent::Assigned, ""),
        task(3, Intent::CompletionDenied, ""),
        task(4, Intent::Completed, ""),
        task(5, Intent::Completing, ""),
        member(6, Intent::EntityAdded),
        member(7, Intent::EntityRemoved),
        member(8, Intent::Created),
    ];
    let records: Vec<_> = records.into_iter().map(|record| asked(&Actor::ANONYMOUS, record)).collect();
    let found = rows(&ENTITY, &AuditSettings::default(), &records);
    let of = |name: &'static str| {
        let values = found.iter().map(|row| row.get(name).map_or("-", String::as_str));
        values.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("operationType"), "ASSIGN UNASSIGN COMPLETE COMPLETE ASSIGN UNASSIGN CREATE");
    assert_eq!(of("result"), "SUCCESS SUCCESS FAIL SUCCESS SUCCESS SUCCESS SUCCESS");
    assert_eq!(of("relatedEntityKey"), "bob - - - bob bob -");
    assert_eq!(of("userTaskKey"), "20 20 20 20 - - -");
    assert_eq!(of("category"), "USER_TASKS USER_TASKS USER_TASKS USER_TASKS ADMIN ADMIN ADMIN");
    assert_eq!(of("actorType"), ["ANONYMOUS"; 7].join(" "));
    assert_eq!(of("entityKey"), "20 20 20 20 g g g");
}

#[test]
fn categories_are_chosen_for_users_and_for_clients() {
    let records = |by: &Actor| {
        [
            asked(by, process(1, "PROCESS")),
            asked(by, task(2, Intent::Completed, "")),
            asked(by, member(3, Intent::EntityAdded)),
        ]
    };
    let settings = AuditSettings {
        of_users: vec![AuditCategory::Admin],
        of_clients: vec![AuditCategory::DeployedResources, AuditCategory::UserTasks],
        ..AuditSettings::none()
    };
    let kept = |settings: &AuditSettings, by: &Actor| {
        let rows = rows(&ENTITY, settings, &records(by));
        rows.into_iter().map(|row| row["category"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(kept(&settings, &user()), ["ADMIN"]);
    assert_eq!(kept(&settings, &Actor::ANONYMOUS), ["ADMIN"]);
    assert_eq!(kept(&settings, &client()), ["DEPLOYED_RESOURCES", "USER_TASKS"]);
    // Workers do most of all, and are not looked at unless somebody wants it.
    assert_eq!(kept(&AuditSettings::default(), &client()), [""; 0]);
    assert_eq!(kept(&AuditSettings::default(), &user()).len(), 3);
    assert_eq!(kept(&AuditSettings::none(), &user()), [""; 0]);
    // Kinds of things are left out on either side.
    let without = AuditSettings {
        of_clients: AuditCategory::ALL.to_vec(),
        users_without: vec!["PROCESS_INSTANCE", "GROUP"],
        clients_without: vec!["USER_TASK"],
        ..AuditSettings::default()
    };
    assert_eq!(kept(&without, &user()), ["USER_TASKS"]);
    assert_eq!(kept(&without, &client()), ["DEPLOYED_RESOURCES", "ADMIN"]);
}

#[test]
fn a_deleted_history_leaves_who_deleted_it() {
    for (kind, wanted) in [
        (HistoryKind::ProcessInstance, ["PROCESS_INSTANCE", "50", "9", "-"]),
        (HistoryKind::DecisionInstance, ["DECISION", "50", "-", "9"]),
    ] {
        let value = HistoryDeletionRecord {
            resource_key: 9,
            resource_type: Name::from(kind.as_str()),
            process_id: Name::from("p"),
            decision_definition_id: Name::from("d"),
            tenant_id: Name::default_tenant(),
        };
        let deletion = Record {
            batch_operation_reference: Some(50),
            ..asked(&user(), record(1, 40, Intent::Deleted, value))
        };
        let [row] = &rows(&ENTITY, &AuditSettings::default(), &[deletion])[..] else { panic!("one") };
        let columns = ["entityType", "batchOperationKey", "processInstanceKey", "decisionEvaluationKey"];
        assert_eq!(columns.map(|name| row.get(name).map_or("-", String::as_str)), wanted);
        assert_eq!((&*row["operationType"], &*row["entityKey"]), ("DELETE", "9"));
        assert_eq!(row["entityDescription"], if kind == HistoryKind::ProcessInstance { "p" } else { "d" });
    }
}

#[test]
fn an_item_of_a_batch_operation_names_it() {
    let value = IncidentRecord {
        error_type: Name::from("JOB_NO_RETRIES"),
        error_message: Name::from("no"),
        bpmn_process_id: Name::from("p"),
        process_definition_key: 4,
        process_instance_key: 9,
        element_id: Name::from("a"),
        element_instance_key: 11,
        job_key: Some(12),
        variable_scope_key: 11,
        tenant_id: Name::default_tenant(),
        root_process_instance_key: 9,
        element_instance_path: vec![vec![9, 11]],
        process_definition_path: vec![4],
        calling_element_path: vec![],
    };
    let incident = Record {
        batch_operation_reference: Some(50),
        ..asked(&user(), record(1, 40, Intent::Resolved, value))
    };
    let [row] = &rows(&ENTITY, &AuditSettings::default(), &[incident])[..] else { panic!("one") };
    assert_eq!((&*row["batchOperationKey"], &*row["batchOperationType"]), ("50", "RESOLVE_INCIDENT"));
    assert_eq!((&*row["jobKey"], &*row["entityKey"]), ("12", "40"));
}

/// Knows the model of the definition 4.
struct Model;

impl Loader for Model {
    fn load(&mut self, key: Key) -> Result<Option<DeployedModel>, StoreError> {
        let file = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" name="Order"/></definitions>"#;
        Ok((key == 4).then(|| DeployedModel { process_id: "p".into(), version: 1, file: file.into() }))
    }
}

#[test]
fn things_are_described_by_their_names() {
    let created = |definition: Key| ProcessInstanceCreationRecord {
        bpmn_process_id: Name::from("p"),
        version: 1,
        process_definition_key: definition,
        process_instance_key: 9,
        variables: Document::empty(),
        fetch_variables: Vec::new(),
        tenant_id: Name::default_tenant(),
        tags: Vec::new(),
        business_id: None,
        start_instructions: Vec::new(),
        runtime_instructions: Vec::new(),
    };
    let decision = DecisionRecord {
        decision_id: Name::from("d"),
        decision_name: Name::from("Dish"),
        version: 1,
        version_tag: Name::default(),
        decision_key: 5,
        decision_requirements_id: Name::from("r"),
        decision_requirements_key: 6,
        duplicate: false,
        tenant_id: Name::default_tenant(),
        deployment_key: 7,
        decision_requirements_name: None,
        decision_requirements_version: None,
    };
    let records = [
        record(1, 40, Intent::Created, created(4)),
        record(2, 41, Intent::Created, created(5)),
        process(3, "PROCESS"),
        testing::variable(4, 1),
        record(5, 5, Intent::Created, decision.clone()),
        record(6, 5, Intent::Deleted, decision),
        member(7, Intent::Created),
    ];
    let records: Vec<_> = records.into_iter().map(|record| asked(&user(), record)).collect();
    let found = rows_by(Projection::new(Box::new(Model)), &ENTITY, &records);
    let described = |row: &BTreeMap<&'static str, String>| {
        let of = |name: &str| row.get(name).map_or("-", String::as_str);
        [of("operationType"), of("entityType"), of("entityDescription")].join(" ")
    };
    assert_eq!(
        found.iter().map(described).collect::<Vec<_>>(),
        [
            "CREATE PROCESS_INSTANCE Order",
            "CREATE PROCESS_INSTANCE p",
            "CANCEL PROCESS_INSTANCE -",
            "CREATE VARIABLE a",
            "CREATE DECISION Dish",
            "DELETE DECISION Dish",
            "CREATE GROUP Group",
        ]
    );
}
