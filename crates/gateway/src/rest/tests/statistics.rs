//! Counts of what runs, as clients get them.

use std::sync::Arc;

use protocol::{
    ErrorView, FailingDefinitionView, Name, Query, QueryReply, RunningDefinitionView, SubscriptionView,
    error_hash,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake_storage::FakeStorage;
use super::{Gateway, Options, block_on, gateway, gateway_with, request, text};

fn running(
    key: u64,
    process_id: &str,
    version: u32,
    running: u64,
    with_incidents: u64,
) -> RunningDefinitionView {
    RunningDefinitionView {
        key,
        process_id: process_id.into(),
        name: (version != 2).then(|| Name::from("A name")),
        version,
        tenant_id: Name::default_tenant(),
        running,
        with_incidents,
    }
}

fn subscription(key: u64, definition_key: u64, instance_key: u64, message_name: &str) -> SubscriptionView {
    SubscriptionView {
        key,
        element_id: "wait".into(),
        element_instance_key: key + 100,
        process_instance_key: instance_key,
        process_definition_key: definition_key,
        process_id: "order".into(),
        message_name: message_name.into(),
        correlation_key: "7".into(),
        tenant_id: Name::default_tenant(),
    }
}

/// The fake broker's answers about statistics.
pub(super) fn answer(query: &Query) -> QueryReply {
    match query {
        Query::RunningDefinitions { process_id, .. } => {
            let all =
                [running(5, "order", 1, 12, 2), running(6, "bill", 1, 3, 3), running(7, "order", 2, 1, 0)];
            let is_wanted =
                |it: &RunningDefinitionView| process_id.as_ref().is_none_or(|id| *id == it.process_id);
            let definitions = all.into_iter().filter(is_wanted).collect();
            QueryReply::RunningDefinitions { definitions, has_more: false }
        }
        Query::Errors { of, .. } => {
            let error = |message: &str, instances| ErrorView { message: message.into(), instances };
            let mut errors = vec![error("no", 9), error("polygenelubricants", 10)];
            // The first is of another process.
            if !of.has(&"bill".into(), &Name::default_tenant()) {
                errors.remove(0);
            }
            if !of.has(&"order".into(), &Name::default_tenant()) {
                errors.pop();
            }
            QueryReply::Errors { errors, has_more: true }
        }
        Query::FailingDefinitions { error_hash: hash, .. } => {
            let definition = |key, name: Option<&str>| FailingDefinitionView {
                key,
                process_id: "order".into(),
                name: name.map(Name::from),
                version: 3,
                tenant_id: Name::default_tenant(),
                instances: key * 10,
            };
            let all = vec![definition(5, None), definition(6, Some("Order"))];
            let definitions = if *hash == error_hash("polygenelubricants") { all } else { Vec::new() };
            QueryReply::FailingDefinitions { definitions, has_more: false }
        }
        Query::Subscriptions { .. } => {
            let subscriptions = vec![
                subscription(1, 5, 50, "m"),
                subscription(2, 5, 50, "n"),
                subscription(3, 5, 51, "m"),
                subscription(4, 6, 52, "n"),
            ];
            QueryReply::Subscriptions { subscriptions, has_more: false }
        }
        other => panic!("{other:?} is not about statistics"),
    }
}

/// Sends a request that must be answered as the contract has it, and gives the items and the rest.
fn ask(operation: Operation, body: &'static str) -> (String, serde_json::Value) {
    let gateway = gateway(&Arc::default());
    let spec = operation.spec();
    let path = spec.path;
    let (status, answer) =
        block_on(async { text(gateway.answer(request(spec.method, path, body)).await).await });
    check_response(spec, status, &answer);
    let (items, _) = answer.split_once(r#","page""#).unwrap();
    let page = serde_json::from_str::<serde_json::Value>(&answer).unwrap()["page"].clone();
    (items.strip_prefix(r#"{"items":"#).unwrap().to_owned(), page)
}

fn items(operation: Operation, body: &'static str) -> String {
    ask(operation, body).0
}

#[test]
fn names_of_variables_are_those_of_a_definition() {
    use search::model::variable;
    use search::{Filter, Operand, Test};

    let (broker, storage) = (Arc::default(), Arc::new(FakeStorage::default()));
    let gateway = super::stored_gateway(&broker, &storage);
    let spec = Operation::SearchProcessDefinitionVariableNames.spec();
    let path = "/v2/process-definitions/5/variable-names/search";
    let ask = |body: &'static str| {
        let (status, answer) =
            block_on(async { text(gateway.answer(request("POST", path, body)).await).await });
        check_response(spec, status, &answer);
        serde_json::from_str::<serde_json::Value>(&answer).unwrap()
    };
    let answer = ask("");
    assert_eq!(answer["items"].as_array().unwrap().len(), 1);
    assert_eq!(answer["page"]["hasMoreTotalItems"], false);
    ask(r#"{"filter":{"name":{"$like":"a*"}}}"#);
    let asked = storage.statistics.lock().pop().unwrap();
    assert_eq!(asked.group_by, [variable::NAME]);
    let of_definition = Filter::Column(variable::DEFINITION_KEY, Test::Equal(Operand::Integer(5)));
    let named = Filter::Column(variable::NAME, Test::Like("a*".into()));
    assert_eq!(asked.filter, Filter::All(vec![of_definition, Filter::All(vec![named])]));
    // A page behind the end is empty.
    assert_eq!(ask(r#"{"page":{"from":7}}"#)["items"], serde_json::json!([]));
    let refused = super::gateway(&Arc::default());
    let answer = block_on(async { text(refused.answer(request("POST", path, "")).await).await });
    assert_eq!(answer.0, 403, "{}", answer.1);
}

#[test]
fn processes_with_running_instances_are_counted() {
    let bill = r#"{"processDefinitionId":"bill","tenantId":"<default>","latestProcessDefinitionName":"A name","hasMultipleVersions":false,"activeInstancesWithoutIncidentCount":0,"activeInstancesWithIncidentCount":3}"#;
    let order = r#"{"processDefinitionId":"order","tenantId":"<default>","latestProcessDefinitionName":null,"hasMultipleVersions":true,"activeInstancesWithoutIncidentCount":11,"activeInstancesWithIncidentCount":2}"#;
    let operation = Operation::GetProcessDefinitionInstanceStatistics;
    let (all, page) = ask(operation, "");
    assert_eq!(all, format!("[{bill},{order}]"));
    assert_eq!((&page["totalItems"], &page["hasMoreTotalItems"]), (&2.into(), &false.into()));
    let sorted = r#"{"sort":[{"field":"activeInstancesWithIncidentCount"}],"page":{"from":0,"limit":1}}"#;
    assert_eq!(items(operation, sorted), format!("[{order}]"));
}

#[test]
fn versions_with_running_instances_are_counted() {
    let one = r#"{"processDefinitionId":"order","processDefinitionKey":"5","processDefinitionName":"A name","tenantId":"<default>","processDefinitionVersion":1,"activeInstancesWithIncidentCount":2,"activeInstancesWithoutIncidentCount":10}"#;
    let two = r#"{"processDefinitionId":"order","processDefinitionKey":"7","processDefinitionName":null,"tenantId":"<default>","processDefinitionVersion":2,"activeInstancesWithIncidentCount":0,"activeInstancesWithoutIncidentCount":1}"#;
    let operation = Operation::GetProcessDefinitionInstanceVersionStatistics;
    let all = items(operation, r#"{"filter":{"processDefinitionId":"order"}}"#);
    assert_eq!(all, format!("[{one},{two}]"));
    let sorted = r#"{"filter":{"processDefinitionId":"order","tenantId":"<default>"},"sort":[{"field":"processDefinitionVersion","order":"DESC"}]}"#;
    assert_eq!(items(operation, sorted), format!("[{two},{one}]"));
    assert_eq!(items(operation, r#"{"filter":{"processDefinitionId":"order","tenantId":"t"}}"#), "[]");
}

#[test]
fn instances_are_counted_by_error_and_then_by_definition() {
    let few = r#"{"errorHashCode":3521,"errorMessage":"no","activeInstancesWithErrorCount":9}"#;
    let many = r#"{"errorHashCode":-2147483648,"errorMessage":"polygenelubricants","activeInstancesWithErrorCount":10}"#;
    let operation = Operation::GetProcessInstanceStatisticsByError;
    let (all, page) = ask(operation, "");
    assert_eq!(all, format!("[{few},{many}]"));
    assert_eq!(page["hasMoreTotalItems"], true);
    let sorted = r#"{"sort":[{"field":"activeInstancesWithErrorCount","order":"DESC"}]}"#;
    assert_eq!(items(operation, sorted), format!("[{many},{few}]"));

    let unnamed = r#"{"processDefinitionId":"order","processDefinitionKey":"5","processDefinitionName":"order","processDefinitionVersion":3,"tenantId":"<default>","activeInstancesWithErrorCount":50}"#;
    let named = r#"{"processDefinitionId":"order","processDefinitionKey":"6","processDefinitionName":"Order","processDefinitionVersion":3,"tenantId":"<default>","activeInstancesWithErrorCount":60}"#;
    let operation = Operation::GetProcessInstanceStatisticsByDefinition;
    let of_many = r#"{"filter":{"errorHashCode":-2147483648},"sort":[{"field":"processDefinitionKey","order":"DESC"}]}"#;
    assert_eq!(items(operation, of_many), format!("[{named},{unnamed}]"));
    assert_eq!(items(operation, r#"{"filter":{"errorHashCode":1}}"#), "[]");
}

#[test]
fn what_waits_for_messages_is_counted() {
    let five = |instances, subscriptions| {
        format!(
            r#"{{"processDefinitionId":"order","tenantId":"<default>","processDefinitionKey":"5","processInstancesWithActiveSubscriptions":{instances},"activeSubscriptions":{subscriptions}}}"#
        )
    };
    let six = r#"{"processDefinitionId":"order","tenantId":"<default>","processDefinitionKey":"6","processInstancesWithActiveSubscriptions":1,"activeSubscriptions":1}"#;
    let operation = Operation::GetProcessDefinitionMessageSubscriptionStatistics;
    let (all, page) = ask(operation, "");
    assert_eq!(all, format!("[{},{six}]", five(2, 3)));
    assert_eq!(page["endCursor"], "000000000001");
    assert_eq!(items(operation, r#"{"page":{"after":"000000000000"}}"#), format!("[{six}]"));
    assert_eq!(items(operation, r#"{"filter":{"messageName":"m"}}"#), format!("[{}]", five(2, 2)));
    assert_eq!(items(operation, r#"{"filter":{"processInstanceKey":"50"}}"#), format!("[{}]", five(1, 2)));
    assert_eq!(items(operation, r#"{"filter":{"messageSubscriptionState":"CORRELATED"}}"#), "[]");

    let gateway = gateway(&Arc::default());
    let body = r#"{"filter":{"lastUpdatedDate":"2026-01-01T00:00:00Z"}}"#;
    let path = "/v2/process-definitions/statistics/message-subscriptions";
    let (status, answer) = block_on(async { text(gateway.answer(request("POST", path, body)).await).await });
    assert_eq!(status, 400);
    assert!(answer.contains("filter.lastUpdatedDate"), "{answer}");
}

/// One that has jobs of so many minutes.
fn with_minutes(minutes: i64) -> Gateway {
    let storage = Arc::new(FakeStorage { minutes, ..FakeStorage::default() });
    let options = Options { storage: Some(storage.storage()), ..Options::default() };
    gateway_with(&Arc::default(), options)
}

#[test]
fn a_long_time_is_counted_to_its_end() {
    let ask = |minutes, body: &'static str| {
        let gateway = with_minutes(minutes);
        let path = "/v2/jobs/statistics/time-series";
        block_on(async { text(gateway.answer(request("POST", path, body)).await).await })
    };
    let by_day = r#"{"filter":{"from":"1970-01-01T00:00:00Z","to":"1980-01-01T00:00:00Z","jobType":"t","resolution":"P1D"}}"#;
    let (status, answer) = ask(25_000, by_day);
    assert_eq!(status, 200, "{answer}");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let counts = answer["items"].as_array().unwrap().iter();
    let counts: Vec<_> = counts.map(|item| item["created"]["count"].as_i64().unwrap()).collect();
    assert_eq!(counts.len(), 18);
    assert_eq!(counts.iter().sum::<i64>(), 25_000);
    assert_eq!((counts[0], counts[16], counts[17]), (1440, 1440, 520));
    assert_eq!(answer["page"]["hasMoreTotalItems"], false);
    // There is a limit, and it is told.
    let (status, answer) = ask(1_000_000, by_day);
    assert_eq!(status, 400);
    assert!(answer.contains("600000 minutes"), "{answer}");
    // By the minute, there are more than one answer has.
    let by_minute = r#"{"filter":{"from":"1970-01-01T00:00:00Z","to":"1980-01-01T00:00:00Z","jobType":"t"}}"#;
    let (status, answer) = ask(25_000, by_minute);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains(r#""hasMoreTotalItems":true"#), "{answer}");
}

#[test]
fn metrics_of_jobs_are_told_to_be_there_with_secondary_storage() {
    let ask = |gateway: Gateway| {
        let path = "/v2/system/configuration";
        let (status, answer) = block_on(async { text(gateway.answer(request("GET", path, "")).await).await });
        check_response(Operation::GetSystemConfiguration.spec(), status, &answer);
        serde_json::from_str::<serde_json::Value>(&answer).unwrap()["jobMetrics"].clone()
    };
    let with = ask(with_minutes(1));
    assert_eq!((&with["enabled"], &with["exportInterval"]), (&true.into(), &"PT1M".into()));
    assert_eq!(ask(gateway(&Arc::default()))["enabled"], false);
}
