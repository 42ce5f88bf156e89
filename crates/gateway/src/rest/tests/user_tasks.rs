//! User tasks and the listeners of all of them.

use std::sync::Arc;

use protocol::{
    Command, Document, GlobalListener, GlobalListenerCommand, GlobalListenerSource, JobListenerEventType,
    Name, UserTaskChanges, UserTaskCommand, UserTaskOperation, UserTaskView,
};

use super::super::contract::Operation;
use super::operations::{bad, document, succeed};

/// The fake broker's entities by key.
pub(super) fn view(key: u64) -> UserTaskView {
    UserTaskView {
        key,
        state: "CREATED",
        name: None,
        element_id: "ask".into(),
        element_instance_key: 6,
        assignee: Name::default(),
        candidate_users: vec!["ann".into()],
        candidate_groups: Vec::new(),
        due_ms: Some(0),
        follow_up_ms: None,
        priority: 50,
        form_key: Some(9),
        external_form_reference: Name::default(),
        created_ms: 1,
        custom_headers_json: Arc::from(r#"{"k":"v"}"#),
        process_instance_key: 7,
        root_process_instance_key: 7,
        process_definition_key: 8,
        process_id: "order".into(),
        process_name: Some("Order".into()),
        version: 2,
        tenant_id: Name::default_tenant(),
        tags: Vec::new(),
        business_id: None,
    }
}

/// The fake broker's entities by ID.
pub(super) fn listener(id: &Name) -> GlobalListener {
    GlobalListener {
        id: id.clone(),
        job_type: "audit".into(),
        retries: 3,
        event_types: Vec::new(),
        after_non_global: false,
        priority: 50,
        source: GlobalListenerSource::Api,
    }
}

fn user_task(operation: UserTaskOperation, action: &str) -> Command {
    Command::UserTask(UserTaskCommand {
        user_task_key: 31,
        operation,
        action: Name::from(action),
        request_id: None,
    })
}

#[test]
fn assign_a_user_task() {
    let path = "/v2/user-tasks/31/assignment";
    let to = |assignee: &str, allow_override, action| {
        user_task(UserTaskOperation::Assign { assignee: assignee.into(), allow_override }, action)
    };
    let assign = |body| succeed(Operation::AssignUserTask, path, body).1;
    assert_eq!(assign(r#"{"assignee":"ann"}"#), to("ann", true, ""));
    assert_eq!(
        assign(r#"{"assignee":"ann","allowOverride":false,"action":"take"}"#),
        to("ann", false, "take")
    );
    bad("POST", path, r#"{"assignee":" "}"#, "assignee: must not be blank");
    bad("POST", path, "{}", "assignee: must not be blank");
    let path = "/v2/user-tasks/31/assignee";
    assert_eq!(succeed(Operation::UnassignUserTask, path, "").1, to("", true, ""));
}

#[test]
fn complete_a_user_task() {
    let path = "/v2/user-tasks/31/completion";
    let with = |variables| UserTaskOperation::Complete { variables };
    assert_eq!(succeed(Operation::CompleteUserTask, path, "").1, user_task(with(Document::empty()), ""));
    assert_eq!(
        succeed(Operation::CompleteUserTask, path, r#"{"variables":{"x":1},"action":"approve"}"#).1,
        user_task(with(document(r#"{"x":1}"#)), "approve")
    );
}

#[test]
fn update_a_user_task() {
    let path = "/v2/user-tasks/31";
    assert_eq!(
        succeed(
            Operation::UpdateUserTask,
            path,
            r#"{"changeset":{"dueDate":"","candidateUsers":["a"],"candidateGroups":null,"priority":7},"action":"move"}"#
        )
        .1,
        user_task(
            UserTaskOperation::Update(UserTaskChanges {
                due_date: Some(Name::default()),
                candidate_users: Some(vec!["a".into()]),
                priority: Some(7),
                ..UserTaskChanges::default()
            }),
            "move"
        )
    );
    bad("PATCH", path, "{}", "at least one of action, changeset with a change is required");
    bad(
        "PATCH",
        path,
        r#"{"changeset":{"dueDate":"soon"}}"#,
        r#"changeset.dueDate: expected a date and time with offset (RFC 3339), but found "soon""#,
    );
}

#[test]
fn a_user_task_is_found_by_its_key() {
    super::views::succeed(
        Operation::GetUserTask,
        "/v2/user-tasks/5",
        r#"{"name":null,"state":"CREATED","assignee":null,"elementId":"ask","candidateGroups":[],"candidateUsers":["ann"],"processDefinitionId":"order","creationDate":"1970-01-01T00:00:00.001Z","completionDate":null,"followUpDate":null,"dueDate":"1970-01-01T00:00:00.000Z","tenantId":"<default>","externalFormReference":null,"processDefinitionVersion":2,"customHeaders":{"k":"v"},"priority":50,"userTaskKey":"5","elementInstanceKey":"6","processName":"Order","processDefinitionKey":"8","processInstanceKey":"7","rootProcessInstanceKey":"7","formKey":"9","tags":[],"businessId":null}"#,
    );
    super::views::succeed(
        Operation::GetUserTaskForm,
        "/v2/user-tasks/5/form",
        r#"{"tenantId":"<default>","formId":"ask","schema":"{\"id\": \"ask\"}","version":1,"formKey":"9"}"#,
    );
    super::views::succeed(Operation::GetUserTaskForm, "/v2/user-tasks/6/form", "");
}

#[test]
fn listeners_of_all_tasks() {
    let path = "/v2/global-task-listeners";
    let (answer, command) = succeed(
        Operation::CreateGlobalTaskListener,
        path,
        r#"{"id":"a","type":"t","eventTypes":["completing","creating"],"retries":1,"afterNonGlobal":true,"priority":-7}"#,
    );
    assert_eq!(
        answer,
        r#"{"id":"a","type":"t","retries":1,"eventTypes":["creating","completing"],"afterNonGlobal":true,"priority":-7,"source":"API"}"#
    );
    let expected = GlobalListener {
        id: "a".into(),
        job_type: "t".into(),
        retries: 1,
        event_types: vec![JobListenerEventType::Creating, JobListenerEventType::Completing],
        after_non_global: true,
        priority: -7,
        source: GlobalListenerSource::Api,
    };
    assert_eq!(command, Command::GlobalListener(GlobalListenerCommand::Create(expected)));
    let one = "/v2/global-task-listeners/a";
    let (_, command) = succeed(
        Operation::UpdateGlobalTaskListener,
        one,
        r#"{"type":"audit","eventTypes":["all","creating"]}"#,
    );
    assert_eq!(command, Command::GlobalListener(GlobalListenerCommand::Update(listener(&"a".into()))));
    let (_, command) = succeed(Operation::DeleteGlobalTaskListener, one, "");
    assert_eq!(command, Command::GlobalListener(GlobalListenerCommand::Delete { id: "a".into() }));
    super::views::succeed(
        Operation::GetGlobalTaskListener,
        one,
        r#"{"id":"a","type":"audit","retries":3,"eventTypes":["all"],"afterNonGlobal":false,"priority":50,"source":"API"}"#,
    );
    for (body, problem) in [
        (r#"{"id":" ","type":"t","eventTypes":["all"]}"#, "id: must not be blank"),
        (r#"{"id":"a","type":"","eventTypes":["all"]}"#, "type: must not be blank"),
        (r#"{"id":"a","type":"t","eventTypes":[]}"#, "eventTypes: at least one is required"),
        (r#"{"id":"a","type":"t","eventTypes":["all"],"retries":0}"#, "retries: must be greater than 0"),
    ] {
        bad("POST", path, body, problem);
    }
}

pub(super) fn listeners() -> Vec<GlobalListener> {
    let completing = GlobalListener {
        event_types: vec![JobListenerEventType::Creating, JobListenerEventType::Completing],
        priority: 100,
        after_non_global: true,
        ..listener(&"b".into())
    };
    let configured = GlobalListener {
        event_types: vec![JobListenerEventType::Completing],
        priority: -7,
        retries: 1,
        source: GlobalListenerSource::Configuration,
        ..listener(&"c".into())
    };
    vec![listener(&"a".into()), completing, configured]
}

#[test]
fn listeners_of_all_tasks_are_searched() {
    let found = |body: &'static str| {
        let gateway = super::gateway(&Arc::default());
        let spec = Operation::SearchGlobalTaskListeners.spec();
        let (status, answer) = super::block_on(async {
            super::text(gateway.answer(super::request("POST", spec.path, body)).await).await
        });
        super::contract::check_response(spec, status, &answer);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(found(""), "abc");
    assert_eq!(found(r#"{"filter":{"id":{"$in":["a","c"]}}}"#), "ac");
    assert_eq!(found(r#"{"filter":{"type":"none"}}"#), "");
    assert_eq!(found(r#"{"filter":{"retries":1}}"#), "c");
    assert_eq!(found(r#"{"filter":{"priority":{"$gt":-10,"$lt":100}}}"#), "ac");
    assert_eq!(found(r#"{"filter":{"afterNonGlobal":true}}"#), "b");
    assert_eq!(found(r#"{"filter":{"source":"API"}}"#), "ab");
    assert_eq!(found(r#"{"filter":{"eventTypes":["completing"]}}"#), "bc");
    assert_eq!(found(r#"{"filter":{"eventTypes":["completing",{"$like":"creat*"}]}}"#), "b");
    assert_eq!(found(r#"{"filter":{"eventTypes":["all"]}}"#), "a");
    assert_eq!(found(r#"{"sort":[{"field":"priority","order":"DESC"}]}"#), "bac");
    assert_eq!(found(r#"{"sort":[{"field":"source"},{"field":"id","order":"DESC"}]}"#), "bac");
}
