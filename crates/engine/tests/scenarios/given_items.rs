//! Batch operations with items from an outside search.

use protocol::{
    AddBatchItems, BatchAction, BatchOperationChange, BatchOperationItem, BatchOperationView, Command,
    CreateBatchOperation, CreateInstance, DefinitionRef, HistoryKind, HistoryOwner, Intent, Key, Name, Query,
    QueryReply, RecordValue, Rejection, Response,
};

use crate::support::Harness;

const MODEL: &str = "process p\nstart s\njob a\nend e\ns -> a -> e";

fn deployed() -> Harness {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    harness
}

fn create(harness: &mut Harness) -> Key {
    let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
    match harness.command(Command::CreateInstance(create)) {
        Some(Ok(Response::InstanceCreated(created))) => created.process_instance_key,
        other => panic!("{other:?}"),
    }
}

fn cancel_all(harness: &mut Harness) -> Key {
    begin(harness, BatchAction::Cancel)
}

fn begin(harness: &mut Harness, action: BatchAction) -> Key {
    let create =
        CreateBatchOperation { action, operation_reference: Some(3), search: Some(Name::from("{}")) };
    match harness.command(Command::CreateBatchOperation(create)) {
        Some(Ok(Response::BatchOperationCreated(created))) => created.batch_operation_key,
        other => panic!("{other:?}"),
    }
}

fn add(
    harness: &mut Harness,
    batch_operation_key: Key,
    keys: &[Key],
    is_last: bool,
) -> Result<(), Rejection> {
    let item = |&key: &Key| BatchOperationItem {
        item_key: key,
        process_instance_key: key,
        root_process_instance_key: key,
    };
    let items = keys.iter().map(item).collect();
    let add = AddBatchItems { batch_operation_key, items, is_last, error: None, owners: Vec::new() };
    harness.command(Command::AddBatchItems(add)).expect("an answer").map(|_| ())
}

fn view(harness: &mut Harness, key: Key) -> BatchOperationView {
    match harness.read(&Query::BatchOperation { key }) {
        Ok(QueryReply::BatchOperation(view)) => view,
        other => panic!("{other:?}"),
    }
}

fn counts(harness: &mut Harness, key: Key) -> String {
    let view = view(harness, key);
    format!("{}: {} of {} done, {} failed", view.state, view.completed, view.total, view.failed)
}

/// Progress of the searches that wait for items.
fn open(harness: &mut Harness) -> Vec<(Key, Key)> {
    match harness.read(&Query::BatchSearches) {
        Ok(QueryReply::BatchSearches(searches)) => {
            searches.into_iter().map(|search| (search.key, search.found_up_to)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn items_are_done_when_all_are_known() {
    let mut harness = deployed();
    let keys: Vec<Key> = (0..4).map(|_| create(&mut harness)).collect();
    let key = cancel_all(&mut harness);
    assert_eq!(counts(&mut harness, key), "CREATED: 0 of 0 done, 0 failed");
    assert_eq!(open(&mut harness), [(key, 0)]);
    add(&mut harness, key, &keys[..2], false).unwrap();
    // The answer may have been lost, so the items are sent again.
    add(&mut harness, key, &keys[..2], false).unwrap();
    assert_eq!(counts(&mut harness, key), "CREATED: 0 of 2 done, 0 failed");
    assert_eq!(open(&mut harness), [(key, keys[1])]);
    // One has ended meanwhile; the fourth does not match.
    let cancel = Command::CancelInstance { process_instance_key: keys[2], operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    add(&mut harness, key, &keys[2..3], true).unwrap();
    assert_eq!(counts(&mut harness, key), "COMPLETED: 3 of 3 done, 0 failed");
    assert_eq!(open(&mut harness), []);
    assert!(harness.engine().tables().instances.contains(&keys[3]).unwrap());
    let told = harness.records().filter(|record| record.intent == Intent::Executed);
    let references: Vec<_> = told.map(|record| record.operation_reference).collect();
    assert_eq!(references, [Some(3); 3]);
    let refused = add(&mut harness, key, &keys[3..], true).unwrap_err();
    assert!(refused.reason.contains("its items are known"), "{refused:?}");
    harness.verify_replay(1);
}

#[test]
fn it_may_be_suspended_resumed_and_canceled_before_its_items_are_known() {
    let mut harness = deployed();
    let keys: Vec<Key> = (0..2).map(|_| create(&mut harness)).collect();
    let change = |harness: &mut Harness, key, change| {
        let change = Command::ChangeBatchOperation { batch_operation_key: key, change };
        harness.command(change).unwrap().unwrap();
    };
    let key = cancel_all(&mut harness);
    change(&mut harness, key, BatchOperationChange::Suspend);
    change(&mut harness, key, BatchOperationChange::Resume);
    // The engine does not search for items.
    assert_eq!(counts(&mut harness, key), "CREATED: 0 of 0 done, 0 failed");
    change(&mut harness, key, BatchOperationChange::Suspend);
    add(&mut harness, key, &keys[..1], true).unwrap();
    assert_eq!(counts(&mut harness, key), "SUSPENDED: 0 of 1 done, 0 failed");
    change(&mut harness, key, BatchOperationChange::Resume);
    assert_eq!(counts(&mut harness, key), "COMPLETED: 1 of 1 done, 0 failed");

    let key = cancel_all(&mut harness);
    add(&mut harness, key, &keys[1..], false).unwrap();
    change(&mut harness, key, BatchOperationChange::Cancel);
    assert_eq!(counts(&mut harness, key), "CANCELED: 0 of 1 done, 0 failed");
    assert!(add(&mut harness, key, &[], true).is_err());
    assert!(harness.engine().tables().instances.contains(&keys[1]).unwrap());
    harness.verify_replay(1);
}

#[test]
fn a_search_that_fails_ends_it_with_the_reason() {
    let mut harness = deployed();
    let key = cancel_all(&mut harness);
    let failed = AddBatchItems {
        batch_operation_key: key,
        items: vec![],
        is_last: true,
        error: Some(Name::from("no disk")),
        owners: Vec::new(),
    };
    harness.command(Command::AddBatchItems(failed)).unwrap().unwrap();
    let view = view(&mut harness, key);
    assert_eq!((view.state.as_str(), view.error), ("FAILED", Some((1, Name::from("no disk")))));
    assert_eq!(open(&mut harness), []);
    let unknown = add(&mut harness, 7, &[], true).unwrap_err();
    assert!(unknown.reason.contains("no such batch operation"), "{unknown:?}");
}

#[test]
fn histories_are_deleted_of_what_has_ended_and_the_rest_says_why_not() {
    let mut harness = deployed();
    let keys: Vec<Key> = (0..2).map(|_| create(&mut harness)).collect();
    let cancel = Command::CancelInstance { process_instance_key: keys[0], operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    let key = begin(&mut harness, BatchAction::DeleteHistory(HistoryKind::ProcessInstance));
    let item = |&key: &Key| BatchOperationItem {
        item_key: key,
        process_instance_key: key,
        root_process_instance_key: key,
    };
    let owner = || HistoryOwner { definition_id: Name::from("p"), tenant_id: Name::default_tenant() };
    let add = AddBatchItems {
        batch_operation_key: key,
        items: keys.iter().map(item).collect(),
        is_last: true,
        error: None,
        owners: vec![owner(), owner()],
    };
    harness.command(Command::AddBatchItems(add)).unwrap().unwrap();
    assert_eq!(counts(&mut harness, key), "COMPLETED: 1 of 2 done, 1 failed");
    let QueryReply::BatchItems { items, .. } =
        harness.read(&Query::BatchItems { batch_operation_key: Some(key), limit: 9 }).unwrap()
    else {
        panic!("no items")
    };
    assert_eq!((items[0].state.as_str(), items[0].error_message.as_deref()), ("COMPLETED", None));
    let reason = items[1].error_message.as_deref().unwrap();
    assert!(items[1].state.as_str() == "FAILED" && reason.contains("it is still active"), "{reason}");
    let deleted: Vec<_> = harness
        .records()
        .filter_map(|record| match &record.value {
            RecordValue::HistoryDeletion(it) => {
                Some((it.resource_key, it.process_id.to_string(), record.batch_operation_reference))
            }
            _ => None,
        })
        .collect();
    assert_eq!(deleted, [(keys[0], "p".to_owned(), Some(key))]);
    harness.verify_replay(1);
}
