//! Every search of the contract: each filter, each order, pages, and answers that validate strictly.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker_api::{Positions, Recorded};
use search::model::{process_instance as instance, user_task as task};
use search::{EntityRef, Filter, Position, Progress};
use search::{Operand, Test};
use serde_json::{Value, json};

use super::contract::{check_response, example, json_body, path_of, problem};
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::{Options, block_on, gateway_with, request, stored_gateway, text};
use crate::rest::Storage;
use crate::rest::contract::{Kind, Operation, Schema};
use crate::rest::operation::served;
use crate::rest::query;

fn searches() -> impl Iterator<Item = Operation> {
    served().into_iter().filter(|operation| query::of(*operation).is_some())
}

fn ask(storage: &Arc<FakeStorage>, operation: Operation, body: &Value) -> (u16, String) {
    let gateway = stored_gateway(&Arc::default(), storage);
    let spec = operation.spec();
    let body = if spec.body.is_some() { body.to_string() } else { String::new() };
    block_on(async { text(gateway.answer(request(spec.method, &path_of(spec), body)).await).await })
}

fn property(schema: &'static Schema, name: &str) -> Option<&'static Schema> {
    let Kind::Object(object) = &schema.kind else { return None };
    object.properties.iter().find(|property| property.name == name).map(|property| property.schema)
}

#[test]
fn every_property_of_every_filter_is_understood() {
    let mut count = 0;
    for operation in searches() {
        let Some(filter) = json_body(operation.spec()).and_then(|body| property(body, "filter")) else {
            continue;
        };
        let Kind::Object(object) = &filter.kind else { panic!("{}", operation.spec().id) };
        for property in object.properties {
            for alternative in 0..2 {
                let value = example(property.schema, alternative);
                let body = json!({"filter": {property.name: value}});
                let storage = Arc::new(FakeStorage::default());
                let (status, answer) = ask(&storage, operation, &body);
                assert_eq!(status, 200, "{} {body}: {answer}", operation.spec().id);
                let search = storage.searches.lock().pop();
                // Engine state answers a few.
                let Some(search) = search else { continue };
                let is_open = property.name == "isLatestVersion" || value == json!([]);
                assert!(
                    is_open || search.filter != Filter::everything(),
                    "{} {body}: the filter is lost",
                    operation.spec().id
                );
                count += 1;
            }
        }
    }
    assert!(count > 200, "only {count} cases");
}

#[test]
fn every_order_is_understood() {
    let mut count = 0;
    for operation in searches() {
        let Some(sort) = json_body(operation.spec()).and_then(|body| property(body, "sort")) else {
            continue;
        };
        let Kind::Array(array) = &sort.kind else { panic!("{}", operation.spec().id) };
        let Kind::Enum(fields) = &property(array.items, "field").unwrap().kind else { continue };
        for field in *fields {
            let body = json!({"sort": [{"field": field, "order": "DESC"}]});
            let storage = Arc::new(FakeStorage::default());
            let (status, answer) = ask(&storage, operation, &body);
            assert_eq!(status, 200, "{} {body}: {answer}", operation.spec().id);
            if let Some(search) = storage.searches.lock().pop() {
                assert!(
                    search.sort.len() == 1 && search.sort[0].descending,
                    "{} {field}",
                    operation.spec().id
                );
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} cases");
}

#[test]
fn full_and_sparse_rows_are_answered_as_the_contract_has_it() {
    for operation in searches() {
        let shown = query::result_object(operation, true).properties.iter();
        let nullable = shown.filter(|property| property.schema.nullable).map(|property| property.name);
        for empty in [Vec::new(), nullable.collect()] {
            let storage = Arc::new(FakeStorage { empty, ..FakeStorage::default() });
            let (status, answer) = ask(&storage, operation, &json!({}));
            check_response(operation.spec(), status, &answer);
        }
    }
}

#[tokio::test]
async fn a_search_waits_for_the_store_to_open() {
    let progress = Arc::new(Progress::default());
    let fake = Arc::new(FakeStorage::default());
    let storage = Storage::new(Arc::<FakeStorage>::clone(&fake), Arc::clone(&progress), Duration::ZERO);
    let options = Options { storage: Some(storage), ..Options::default() };
    let gateway = gateway_with(&Arc::default(), options);
    let spec = Operation::SearchProcessInstances.spec();
    let opens = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(fake.searches.lock().is_empty());
        progress.reached(1, 0);
    };
    let (answer, ()) = tokio::join!(gateway.answer(request(spec.method, spec.path, "{}")), opens);
    assert_eq!(text(answer).await.0, 200);
    assert_eq!(fake.searches.lock().len(), 1);
}

/// Asks once, with records up to 8, while something happens to the store. Returns the lag that is told.
async fn lag_of(recorded: Recorded, storage: Storage, progress: &Progress, shown: u64) -> Option<String> {
    let broker = Arc::new(FakeBroker { recorded: Mutex::new(recorded), ..FakeBroker::default() });
    let options = Options { storage: Some(storage), ..Options::default() };
    let gateway = gateway_with(&broker, options);
    let spec = Operation::SearchUserTaskEffectiveVariables.spec();
    let flushes = async {
        while broker.hastened.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        progress.reached(1, shown);
    };
    let ask = gateway.answer(request(spec.method, &path_of(spec), "{}"));
    let (answer, ()) = tokio::join!(ask, flushes);
    let lag = answer.headers().get("baton-lag").map(|lag| lag.to_str().unwrap().to_owned());
    assert_eq!(answer.status(), 200);
    lag
}

#[tokio::test(start_paused = true)]
async fn a_search_shows_what_was_answered_before_it_or_tells_how_far_it_is_behind() {
    let second = Duration::from_secs(1);
    let fresh = |fake: &Arc<FakeStorage>| fake.storage().fresh_within(second);
    let behind = Recorded { positions: Positions::at(1, 8), lag: second * 3, is_stalled: false };
    for (shown, lag, waited) in
        [(8, None, Duration::ZERO), (9, None, Duration::ZERO), (7, Some("3000"), second)]
    {
        let fake = Arc::new(FakeStorage::default());
        let began = tokio::time::Instant::now();
        assert_eq!(lag_of(behind.clone(), fresh(&fake), &fake.progress, shown).await.as_deref(), lag);
        assert_eq!(began.elapsed().as_secs(), waited.as_secs(), "several questions to the store wait once");
        assert!(fake.searches.lock().len() > 1);
    }
    // One that does not get on is not waited for.
    let stalled = Recorded { is_stalled: true, ..behind };
    let fake = Arc::new(FakeStorage::default());
    let began = tokio::time::Instant::now();
    assert_eq!(lag_of(stalled, fresh(&fake), &fake.progress, 0).await.as_deref(), Some("3000"));
    assert!(began.elapsed().is_zero());
}

#[tokio::test]
async fn a_search_that_is_not_to_wait_hastens_nobody() {
    let fake = Arc::new(FakeStorage::default());
    let broker = Arc::<FakeBroker>::default();
    let gateway = stored_gateway(&broker, &fake);
    let spec = Operation::SearchProcessInstances.spec();
    let answer = gateway.answer(request(spec.method, spec.path, "{}")).await;
    assert_eq!(text(answer).await.0, 200);
    assert_eq!(broker.hastened.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_search_behind_a_hint_takes_the_store_as_it_is() {
    let fake = Arc::new(FakeStorage::default());
    let recorded = Recorded { positions: Positions::at(1, 8), lag: Duration::ZERO, is_stalled: false };
    let broker = Arc::new(FakeBroker { recorded: Mutex::new(recorded), ..FakeBroker::default() });
    let storage = fake.storage().fresh_within(Duration::from_secs(1));
    let gateway = gateway_with(&broker, Options { storage: Some(storage), ..Options::default() });
    let spec = Operation::SearchProcessInstances.spec();
    let changes = &fake.progress.changes;
    let told = changes.name_of(changes.place());
    let later = changes.name_of(changes.place() + 1);
    for (after, waits) in [(told.as_str(), false), (&later, true), ("7-0", true), ("", true)] {
        let began = tokio::time::Instant::now();
        let mut search = request(spec.method, spec.path, "{}");
        search.headers_mut().insert("Baton-After-Change", after.parse().expect("a header"));
        let answer = gateway.answer(search).await;
        assert_eq!(answer.headers().contains_key("baton-lag"), waits, "{after}");
        assert_eq!((answer.status().as_u16(), began.elapsed().as_secs() > 0), (200, waits), "{after}");
        assert_eq!(broker.hastened.swap(0, Ordering::SeqCst) > 0, waits, "{after}");
    }
}

#[tokio::test]
async fn searches_behind_hints_share_an_answer_until_something_changes() {
    let fake = Arc::new(FakeStorage::default());
    let gateway = stored_gateway(&Arc::default(), &fake);
    let changes = &fake.progress.changes;
    let ask = async |body: &str, headers: &[(&'static str, &str)]| {
        let spec = Operation::SearchProcessInstances.spec();
        let mut search = request(spec.method, spec.path, body.to_owned());
        for (name, value) in headers {
            search.headers_mut().insert(*name, value.parse().expect("a header"));
        }
        assert_eq!(text(gateway.answer(search).await).await.0, 200);
        fake.searches.lock().len()
    };
    let hint = changes.name_of(changes.place());
    let behind = [("baton-after-change", hint.as_str())];
    assert_eq!(ask("{}", &behind).await, 1);
    assert_eq!(ask("{}", &behind).await, 1, "another page");
    assert_eq!(ask(r#"{"filter": {"state": "ACTIVE"}}"#, &behind).await, 2);
    assert_eq!(ask("{}", &[]).await, 3, "no hint");
    fake.progress.reached(1, 5);
    assert_eq!(
        ask("{}", &[behind[0], ("baton-await-position", "1:5")]).await,
        4,
        "behind a write of its own"
    );
    changes.flushed(1, 5, None);
    assert_eq!(ask("{}", &behind).await, 5, "it may have been shown something later");
}

#[test]
fn without_storage_a_search_says_so() {
    let gateway = super::gateway(&Arc::default());
    let spec = Operation::SearchProcessInstances.spec();
    let (status, answer) =
        block_on(async { text(gateway.answer(request(spec.method, spec.path, "{}")).await).await });
    assert_eq!(status, 403, "{answer}");
    assert!(problem(status, &answer).contains("secondary storage"), "{answer}");
}

#[test]
fn a_page_that_is_too_large_is_the_fault_of_the_request_and_names_the_limit() {
    let storage = Arc::new(FakeStorage { is_too_large: true, ..FakeStorage::default() });
    let (status, answer) = ask(&storage, Operation::SearchVariables, &json!({"page": {"limit": 10_000}}));
    assert_eq!(status, 400, "{answer}");
    let detail = problem(status, &answer);
    assert!(
        detail.contains("67108864 bytes, which is the limit") && detail.contains("page.limit"),
        "{detail}"
    );
}

#[test]
fn pages_and_cursors() {
    let storage = Arc::new(FakeStorage::default());
    let (_, answer) =
        ask(&storage, Operation::SearchProcessInstances, &json!({"sort": [{"field": "startDate"}]}));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let cursor = answer["page"]["endCursor"].as_str().unwrap().to_owned();
    let page = |body: Value| {
        let (status, answer) = ask(&storage, Operation::SearchProcessInstances, &body);
        let search = storage.searches.lock().pop();
        (status, answer, search.unwrap())
    };
    let body = json!({"sort": [{"field": "startDate"}], "page": {"after": cursor, "limit": 3}});
    let (status, answer, search) = page(body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(search.position, Position::After(vec![0_i64.into(), 7_i64.into()]));
    assert_eq!(search.limit, 3);
    assert_eq!(search.entity, EntityRef(&instance::ENTITY));
    // A cursor of another order is refused.
    let body = json!({"sort": [{"field": "endDate"}], "page": {"after": cursor}});
    let (status, answer) = ask(&storage, Operation::SearchProcessInstances, &body);
    assert_eq!(status, 400, "{answer}");
    assert!(problem(status, &answer).starts_with("page.after: "), "{answer}");
    let (_, _, search) = page(json!({"page": {"from": 5}}));
    assert_eq!((search.position, search.limit), (Position::Offset(5), 100));
}

#[test]
fn what_is_said_about_elements_is_said_about_one() {
    let storage = Arc::new(FakeStorage::default());
    let body = json!({"filter": {"elementId": "e", "elementInstanceState": "ACTIVE"}});
    ask(&storage, Operation::SearchProcessInstances, &body);
    let search = storage.searches.lock().pop().unwrap();
    let Filter::All(all) = search.filter else { panic!("a list") };
    let [Filter::Related(related)] = all.as_slice() else { panic!("{all:?}") };
    assert!(matches!(&related.filter, Filter::All(tests) if tests.len() == 2), "{related:?}");
}

#[test]
fn a_variable_without_a_value_is_one_that_is_not_there() {
    let storage = Arc::new(FakeStorage::default());
    for (value, exists, tests) in [
        (json!({"$exists": false}), false, 1),
        (json!({"$exists": true}), true, 2),
        (json!("1"), true, 2),
        // Nothing is there and not there.
        (json!({"$exists": false, "$eq": "1"}), true, 3),
    ] {
        let body = json!({"filter": {"variables": [{"name": "x", "value": value}]}});
        let (status, answer) = ask(&storage, Operation::SearchProcessInstances, &body);
        assert_eq!(status, 200, "{answer}");
        let search = storage.searches.lock().pop().unwrap();
        let Filter::All(all) = search.filter else { panic!("a list") };
        let [Filter::Related(related)] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(related.exists, exists, "{value}");
        assert!(matches!(&related.filter, Filter::All(all) if all.len() == tests), "{related:?}");
    }
}

#[test]
fn candidates_are_looked_for_in_lists() {
    let storage = Arc::new(FakeStorage::default());
    ask(&storage, Operation::SearchUserTasks, &json!({"filter": {"candidateGroup": "g"}}));
    let search = storage.searches.lock().pop().unwrap();
    let wanted = Filter::Column(task::CANDIDATE_GROUPS, Test::Equal(Operand::Text("g".into())));
    assert_eq!(search.filter, Filter::All(vec![wanted]));
}

/// The official Java client sends every list that it has.
#[test]
fn empty_lists_say_nothing() {
    let storage = Arc::new(FakeStorage::default());
    let lists = json!({
        "tags": [], "variables": [], "$or": [],
        "state": {"$eq": "ACTIVE", "$in": []},
        "processInstanceKey": {"$eq": "7", "$in": [], "$notIn": []},
    });
    let (status, answer) =
        ask(&storage, Operation::SearchProcessInstances, &json!({"sort": [], "filter": lists}));
    assert_eq!(status, 200, "{answer}");
    let of_lists = storage.searches.lock().pop().unwrap().filter;
    let plain = json!({"state": "ACTIVE", "processInstanceKey": "7"});
    ask(&storage, Operation::SearchProcessInstances, &json!({"filter": plain}));
    assert_eq!(of_lists, storage.searches.lock().pop().unwrap().filter);
}

#[test]
fn too_many_values_are_refused() {
    let storage = Arc::new(FakeStorage::default());
    let keys = |from: u32, to: u32| json!({"$in": (from..to).map(|key| key.to_string()).collect::<Vec<_>>()});
    let ask = |filter: Value| ask(&storage, Operation::SearchProcessInstances, &json!({"filter": filter}));
    let (status, answer) = ask(json!({"processInstanceKey": keys(0, 5000)}));
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = ask(json!({"processInstanceKey": keys(0, 5001)}));
    assert_eq!(problem(status, &answer), "filter.processInstanceKey.$in: has more than 5000 values");
    let half = json!({"processInstanceKey": keys(0, 2501)});
    let (status, answer) = ask(json!({"$or": [half, half]}));
    let expected = "filter.$or[1].processInstanceKey: with it, the filter has more than 5000 values in lists";
    assert_eq!(problem(status, &answer), expected);
}

#[test]
fn too_many_conditions_are_refused() {
    let storage = Arc::new(FakeStorage::default());
    let tags: Vec<String> = (0..10).map(|number| format!("t{number}")).collect();
    let alternatives = vec![json!({"tags": tags}); 101];
    let body = json!({"filter": {"$or": alternatives}});
    let (status, answer) = ask(&storage, Operation::SearchProcessInstances, &body);
    assert_eq!(status, 400, "{answer}");
    assert!(problem(status, &answer).starts_with("filter: "), "{answer}");
}
