//! Batch operations.

use parking_lot::Mutex;
use std::sync::Arc;

use broker_api::SubmitError;
use protocol::{
    AddBatchItems, AncestorScope, BatchAction, BatchOperationChange, BatchOperationCreated,
    BatchOperationItem, BatchOperationType, BatchSearch, Command, CreateBatchOperation, DeleteResource,
    ElementMapping, ElementSource, HistoryKind, HistoryOwner, MigrationPlan, MoveElement, Rejection,
    Response,
};
use search::model::{decision_instance as decision, incident, process_instance as instance};
use search::{Filter, Search, Sort};
use search::{Operand, Test};

use super::contract::check_response;
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::operations::{bad, fail, succeed};
use super::{Gateway, block_on, gateway, request, stored_gateway, text};
use crate::rest::batch_searches;
use crate::rest::contract::Operation;

/// Answer to a request where there is secondary storage, and the command that it became.
fn ask_stored(path: &str, body: &str) -> (u16, String, Option<Command>) {
    let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
    let gateway = stored_gateway(&broker, &storage);
    let request = request("POST", path, body.to_owned());
    let (status, answer) = block_on(async { text(gateway.answer(request).await).await });
    let command = broker.commands.lock().pop();
    (status, answer, command)
}

#[test]
fn batch_operations_are_created() {
    let plan = MigrationPlan {
        target_definition_key: 7,
        mappings: vec![ElementMapping { source_element_id: "a".into(), target_element_id: "b".into() }],
    };
    let moves = vec![MoveElement {
        source: ElementSource::Id("a".into()),
        target_id: "b".into(),
        ancestor: AncestorScope::Inferred,
        variables: vec![],
    }];
    for (operation, path, more, action) in [
        (Operation::CancelProcessInstancesBatchOperation, "cancellation", "", BatchAction::Cancel),
        (Operation::ResolveIncidentsBatchOperation, "incident-resolution", "", BatchAction::Resolve),
        (
            Operation::MigrateProcessInstancesBatchOperation,
            "migration",
            r#","migrationPlan":{"targetProcessDefinitionKey":"7","mappingInstructions":[{"sourceElementId":"a","targetElementId":"b"}]}"#,
            BatchAction::Migrate(plan),
        ),
        (
            Operation::ModifyProcessInstancesBatchOperation,
            "modification",
            r#","moveInstructions":[{"sourceElementId":"a","targetElementId":"b"}]"#,
            BatchAction::Modify(moves),
        ),
    ] {
        let path = format!("/v2/process-instances/{path}");
        let body = format!(r#"{{"filter":{{"processDefinitionId":"order"}},"operationReference":4{more}}}"#);
        let kind = action.kind();
        let (status, answer, command) = ask_stored(&path, &body);
        check_response(operation.spec(), status, &answer);
        let search = Some(r#"{"processDefinitionId":"order"}"#.into());
        let wanted = CreateBatchOperation { action, operation_reference: Some(4), search };
        assert_eq!(*command.unwrap().asked(), Command::CreateBatchOperation(wanted));
        assert_eq!(answer, format!(r#"{{"batchOperationKey":"12","batchOperationType":"{kind}"}}"#));
        let without = format!("{{{}}}", more.trim_start_matches(','));
        bad("POST", &path, &without, "filter: is required, but missing");
        let reason = "this operation needs secondary storage, and none is configured";
        fail("POST", &path, &body, 403, "FORBIDDEN", reason);
    }
    let body = r#"{"filter":{"state":"ACTIVE"},"moveInstructions":[]}"#;
    bad("POST", "/v2/process-instances/modification", body, "moveInstructions: at least one is required");
    let (answer, command) = succeed(
        Operation::ResolveProcessInstanceIncidents,
        "/v2/process-instances/5/incident-resolution",
        "",
    );
    assert_eq!(command, Command::ResolveInstanceIncidents { process_instance_key: 5 });
    assert_eq!(answer, r#"{"batchOperationKey":"12","batchOperationType":"RESOLVE_INCIDENT"}"#);
}

#[test]
fn batch_operations_are_changed() {
    for (operation, path, change) in [
        (Operation::SuspendBatchOperation, "suspension", BatchOperationChange::Suspend),
        (Operation::ResumeBatchOperation, "resumption", BatchOperationChange::Resume),
        (Operation::CancelBatchOperation, "cancellation", BatchOperationChange::Cancel),
    ] {
        let (_, command) = succeed(operation, &format!("/v2/batch-operations/12/{path}"), "");
        assert_eq!(command, Command::ChangeBatchOperation { batch_operation_key: 12, change });
        let path = format!("/v2/batch-operations/8b0f/{path}");
        fail("POST", &path, "", 404, "NOT_FOUND", "there is no batch operation with key '8b0f'");
    }
}

fn ask(operation: Operation, method: &str, path: &str, body: &str) -> serde_json::Value {
    let gateway = gateway(&Arc::default());
    let (status, answer) =
        block_on(async { text(gateway.answer(request(method, path, body.to_owned())).await).await });
    check_response(operation.spec(), status, &answer);
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn batch_operations_are_looked_at() {
    let one = ask(Operation::GetBatchOperation, "GET", "/v2/batch-operations/1", "");
    assert_eq!(
        one,
        serde_json::json!({
            "batchOperationKey": "1", "state": "FAILED", "batchOperationType": "CANCEL_PROCESS_INSTANCE",
            "startDate": "1970-01-01T00:00:00.000Z", "endDate": null, "actorType": "USER", "actorId": "ann",
            "operationsTotalCount": 3, "operationsFailedCount": 1, "operationsCompletedCount": 1,
            "errors": [{"partitionId": 1, "type": "QUERY_FAILED", "message": "no"}],
        })
    );
    let keys = |body: &str, operation, path: &str, name: &str| {
        let answer = ask(operation, "POST", path, body);
        let items = answer["items"].as_array().unwrap().iter();
        let keys: Vec<_> = items.map(|item| item[name].as_str().unwrap().to_owned()).collect();
        (keys.join(" "), answer["page"].to_string())
    };
    let search = |body: &str| {
        keys(body, Operation::SearchBatchOperations, "/v2/batch-operations/search", "batchOperationKey").0
    };
    assert_eq!(search(""), "1 12");
    assert_eq!(search(r#"{"sort":[{"field":"batchOperationKey","order":"DESC"}]}"#), "12 1");
    assert_eq!(search(r#"{"filter":{"state":{"$in":["ACTIVE","COMPLETED"]}}}"#), "12");
    assert_eq!(search(r#"{"filter":{"actorType":"USER","actorId":{"$like":"a*"}}}"#), "1 12");
    assert_eq!(search(r#"{"filter":{"actorType":"CLIENT"}}"#), "");
    let items = |body: &str| {
        keys(body, Operation::SearchBatchOperationItems, "/v2/batch-operation-items/search", "itemKey")
    };
    let page = r#"{"totalItems":3,"hasMoreTotalItems":true,"startCursor":"000000000001","endCursor":"000000000001"}"#;
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap().to_string();
    let second = ("2".to_owned(), value(page));
    assert_eq!(items(r#"{"page":{"from":1,"limit":1}}"#), second);
    assert_eq!(items(r#"{"page":{"after":"000000000000","limit":1}}"#), second);
    assert_eq!(items(r#"{"page":{"before":"000000000002","limit":1}}"#), second);
    assert_eq!(items(r#"{"filter":{"state":"FAILED","batchOperationKey":"12"}}"#).0, "2");
    let (none, page) = items(r#"{"page":{"from":9}}"#);
    assert_eq!(none, "");
    assert!(page.contains(r#""startCursor":null"#), "{page}");
    let path = "/v2/batch-operation-items/search";
    bad("POST", path, r#"{"page":{"after":"AAAA"}}"#, "page.after: is no cursor of an earlier answer");
}

#[test]
fn with_secondary_storage_the_whole_filter_goes_with_the_operation() {
    let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
    let gateway = stored_gateway(&broker, &storage);
    let ask = |filter: &str| {
        let body = format!(r#"{{"filter":{filter}}}"#);
        let request = request("POST", "/v2/process-instances/cancellation", body);
        block_on(async { text(gateway.answer(request).await).await })
    };
    let filter = r#"{"hasRetriesLeft":true,"$or":[{"elementId":"a"},{"batchOperationKey":"7"}]}"#;
    let (status, answer) = ask(filter);
    check_response(Operation::CancelProcessInstancesBatchOperation.spec(), status, &answer);
    let wanted = CreateBatchOperation {
        action: BatchAction::Cancel,
        operation_reference: None,
        search: Some(filter.into()),
    };
    assert_eq!(*broker.last().asked(), Command::CreateBatchOperation(wanted));
    for bad in ["{}", r#"{"$or":[{}]}"#] {
        let (status, answer) = ask(bad);
        assert_eq!(status, 400, "{bad}: {answer}");
        assert!(answer.contains("filter: at least one condition is required"), "{answer}");
    }
    assert!(broker.commands.lock().is_empty());
}

fn search(kind: BatchOperationType) -> BatchSearch {
    let filter = r#"{"processDefinitionId":"order"}"#.into();
    BatchSearch { key: 50, kind, filter, found_up_to: 5, position: 0 }
}

#[test]
fn items_are_found_among_what_was_there_and_handed_over() {
    for kind in [BatchOperationType::CancelProcessInstance, BatchOperationType::ResolveIncident] {
        let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
        let gateway = stored_gateway(&broker, &storage);
        block_on(batch_searches::work_on(&gateway, &storage.storage(), search(kind)));
        let found = storage.searches.lock().pop().unwrap();
        let is_incident = kind == BatchOperationType::ResolveIncident;
        assert_eq!(found.entity.0.name, if is_incident { "incident" } else { "process_instance" });
        let Filter::All(all) = &found.filter else { panic!("{found:?}") };
        let range = |test: fn(Operand) -> Test, key| Filter::Column(0, test(Operand::Integer(key)));
        // Of several partitions: keys of the others tell nothing of when.
        let of_others = i64::try_from(protocol::compose_key(1, 0)).unwrap();
        let earlier = Filter::Any(vec![range(Test::Less, 50), range(Test::Greater, of_others)]);
        assert!(all.contains(&range(Test::Greater, 5)) && all.contains(&earlier), "{all:?}");
        let active = if is_incident {
            Test::Equal(Operand::Text("ACTIVE".into()))
        } else {
            Test::In(vec![Operand::Text("ACTIVE".into()), Operand::Text("SUSPENDED".into())])
        };
        let state = if is_incident { incident::STATE } else { instance::STATE };
        assert!(all.contains(&Filter::Column(state, active)), "{all:?}");
        let of_definition = Test::Equal(Operand::Text("order".into()));
        let wanted = Filter::Column(instance::PROCESS_ID, of_definition);
        // Incidents of called instances are those of their root, too.
        let of_instances = |filter: &Filter, column| match filter {
            Filter::Related(related) => {
                related.column == column && related.filter == Filter::All(vec![wanted.clone()])
            }
            _ => false,
        };
        let is_wanted = |filter: &Filter| match filter {
            Filter::Any(any) => {
                of_instances(&any[0], incident::INSTANCE_KEY)
                    && of_instances(&any[1], incident::ROOT_INSTANCE_KEY)
            }
            filter => *filter == wanted,
        };
        assert!(all.iter().any(is_wanted), "{all:?}");
        let item = BatchOperationItem { item_key: 7, process_instance_key: 7, root_process_instance_key: 7 };
        let items = AddBatchItems {
            batch_operation_key: 50,
            items: vec![item],
            is_last: true,
            error: None,
            // Other partitions know no owner of the item.
            owners: vec![HistoryOwner { definition_id: "a".into(), tenant_id: "a".into() }],
        };
        assert_eq!(broker.last(), Command::AddBatchItems(items));
    }
}

#[test]
fn deletions_of_histories_are_created() {
    for (operation, path, filter, unknown, kind) in [
        (
            Operation::DeleteProcessInstancesBatchOperation,
            "/v2/process-instances/deletion",
            r#"{"processDefinitionId":"order","endDate":{"$lt":"2026-01-01T00:00:00Z"}}"#,
            r#"{"evaluationDate":"2026-01-01T00:00:00Z"}"#,
            HistoryKind::ProcessInstance,
        ),
        (
            Operation::DeleteDecisionInstancesBatchOperation,
            "/v2/decision-instances/deletion",
            r#"{"decisionDefinitionId":"dish","evaluationDate":{"$lt":"2026-01-01T00:00:00Z"}}"#,
            r#"{"endDate":"2026-01-01T00:00:00Z"}"#,
            HistoryKind::DecisionInstance,
        ),
    ] {
        let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
        let stored = stored_gateway(&broker, &storage);
        let ask = |gateway: &Gateway, body: &str| {
            let request = request("POST", path, body.to_owned());
            block_on(async { text(gateway.answer(request).await).await })
        };
        let body = format!(r#"{{"filter":{filter},"operationReference":4}}"#);
        let (status, answer) = ask(&stored, &body);
        check_response(operation.spec(), status, &answer);
        let wanted = CreateBatchOperation {
            action: BatchAction::DeleteHistory(kind),
            operation_reference: Some(4),
            search: Some(filter.into()),
        };
        assert_eq!(*broker.last().asked(), Command::CreateBatchOperation(wanted));
        for bad in [r#"{"filter":{}}"#, "{}", &format!(r#"{{"filter":{unknown}}}"#)] {
            let (status, answer) = ask(&stored, bad);
            assert_eq!(status, 400, "{bad}: {answer}");
            assert!(answer.contains("filter"), "{answer}");
        }
        // Ended instances are nowhere else.
        assert_eq!(ask(&gateway(&broker), &body).0, 403);
        assert!(broker.commands.lock().is_empty());
    }
}

#[test]
fn a_resource_is_deleted_with_the_histories_of_its_instances() {
    let created =
        BatchOperationCreated { batch_operation_key: 13, kind: BatchOperationType::DeleteProcessDefinition };
    let broker = Arc::new(FakeBroker {
        scripted: Mutex::new([Ok(Response::BatchOperationCreated(created))].into()),
        ..FakeBroker::default()
    });
    let ask = |gateway: &Gateway| {
        let body = r#"{"deleteHistory":true,"operationReference":4}"#;
        let request = request("POST", "/v2/resources/12/deletion", body.to_owned());
        block_on(async { text(gateway.answer(request).await).await })
    };
    // Without a store nothing is deleted, not even the resource.
    assert_eq!(ask(&gateway(&broker)).0, 403);
    assert!(broker.commands.lock().is_empty());
    let gateway = stored_gateway(&broker, &Arc::default());
    let (status, answer) = ask(&gateway);
    check_response(Operation::DeleteResource.spec(), status, &answer);
    assert_eq!(
        answer,
        r#"{"resourceKey":"12","batchOperation":{"batchOperationKey":"13","batchOperationType":"DELETE_PROCESS_DEFINITION"}}"#
    );
    let delete = DeleteResource { resource_key: 12, operation_reference: Some(4), delete_history: true };
    assert_eq!(broker.last(), Command::DeleteResource(delete.clone()));
    // A form has no history.
    let (status, answer) = ask(&gateway);
    assert_eq!((status, &*answer), (200, r#"{"resourceKey":"12","batchOperation":null}"#));
    assert_eq!(broker.last(), Command::DeleteResource(delete));
}

/// Items handed over, and their search.
fn deletion(kind: BatchOperationType, filter: &str) -> (AddBatchItems, Search) {
    let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
    let gateway = stored_gateway(&broker, &storage);
    let search = BatchSearch { key: 50, kind, filter: filter.into(), found_up_to: 5, position: 0 };
    block_on(batch_searches::work_on(&gateway, &storage.storage(), search));
    let Command::AddBatchItems(added) = broker.last() else { panic!("no items") };
    (added, storage.searches.lock().pop().unwrap())
}

#[test]
fn items_of_deletions_tell_whose_they_are() {
    let owner = HistoryOwner { definition_id: "a".into(), tenant_id: "a".into() };
    let (added, question) =
        deletion(BatchOperationType::DeleteProcessDefinition, r#"{"processDefinitionKey":"7"}"#);
    assert_eq!((added.items[0].item_key, added.owners), (7, vec![owner.clone()]));
    assert_eq!(question.entity.0.name, "process_instance");
    // Those that still run are items, too: each says why nothing was deleted.
    let is_state =
        |filter: &Filter| matches!(filter, Filter::Column(column, _) if *column == instance::STATE);
    let Filter::All(all) = &question.filter else { panic!("{question:?}") };
    assert!(!all.iter().any(is_state), "{all:?}");
    let owners = 1 << instance::PROCESS_ID | 1 << instance::TENANT;
    assert_eq!(question.columns & owners, owners);

    let (added, question) =
        deletion(BatchOperationType::DeleteDecisionDefinition, r#"{"decisionRequirementsKey":"7"}"#);
    assert_eq!((added.items[0].item_key, added.owners), (7, vec![owner]));
    assert_eq!(question.entity.0.name, "decision_instance");
    // An evaluation has a row for each decision: pages follow its key.
    assert_eq!(question.sort, [Sort { column: decision::EVALUATION_KEY, descending: false }]);
    let Filter::All(all) = &question.filter else { panic!("{question:?}") };
    let after = Filter::Column(decision::EVALUATION_KEY, Test::Greater(Operand::Integer(5)));
    assert!(all.contains(&after), "{all:?}");
}

#[test]
fn an_evaluation_is_one_item() {
    let (broker, storage) =
        (Arc::new(FakeBroker::default()), Arc::new(FakeStorage { copies: 3, ..FakeStorage::default() }));
    let gateway = stored_gateway(&broker, &storage);
    let filter = r#"{"decisionDefinitionId":"dish"}"#.into();
    let kind = BatchOperationType::DeleteDecisionInstance;
    let search = BatchSearch { key: 50, kind, filter, found_up_to: 5, position: 0 };
    block_on(batch_searches::work_on(&gateway, &storage.storage(), search));
    let Command::AddBatchItems(added) = broker.last() else { panic!("no items") };
    assert_eq!((added.items.len(), added.owners.len(), added.is_last), (1, 1, true));
}

#[test]
fn a_search_that_was_ended_meanwhile_is_given_up() {
    let refusal: fn() -> SubmitError = || Rejection::invalid_state("it has ended").into();
    let broker = Arc::new(FakeBroker { refusal: Some(refusal), ..FakeBroker::default() });
    let storage = Arc::new(FakeStorage::default());
    let gateway = stored_gateway(&broker, &storage);
    let search = search(BatchOperationType::CancelProcessInstance);
    block_on(batch_searches::work_on(&gateway, &storage.storage(), search));
    assert_eq!(broker.commands.lock().len(), 1);
}
