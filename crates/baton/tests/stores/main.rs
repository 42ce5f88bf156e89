//! The program with each store: what looks like a query over REST with all of them (`hostile`); and with a real
//! node of OpenSearch, and then of Elasticsearch, as secondary storage, from deployment to deletion, and as the
//! target of records beside the embedded store. A store is emptied by a purge, and by a loss (`emptied`).
//! Arguments pick stores by their names. Where PostgreSQL, Maven or a JDK is missing, this prints that it was
//! not run. It has no harness, so that not having run never counts as a passed test.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod emptied;
mod hostile;
#[path = "../outage/http.rs"]
mod http;
#[path = "../../../../tests/stores/node.rs"]
mod node;
#[allow(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../../tests/stores/postgres/server.rs"]
mod postgres;
#[path = "../crash/server.rs"]
#[expect(dead_code, reason = "this server is not killed")]
mod server;
mod values;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::{Resource, RestClient, RestOptions};
use node::{Node, Product};
use serde_json::{Value, json};
use server::{Data, Server};

/// How long nothing here may take, whatever else the machine does; what does has hung.
const PATIENCE: Duration = Duration::from_secs(45);

fn main() -> ExitCode {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    if is_wanted("sqlite") {
        runtime.block_on(searches_mean_what_they_say(vec![]));
        runtime.block_on(emptied::a_purge_leaves_nothing(vec![]));
        println!("sqlite: 2 passed, 0 failed");
    }
    if is_wanted("postgres") {
        match postgres::programs() {
            Some(programs) => {
                let server = postgres::Server::start(&programs);
                let settings = vec![
                    "secondary_storage.kind=postgres".to_owned(),
                    format!("secondary_storage.postgres.url={}", server.url()),
                ];
                runtime.block_on(searches_mean_what_they_say(settings));
                let another = server.another(&[], "");
                runtime.block_on(emptied::a_purge_leaves_nothing(vec![
                    "secondary_storage.kind=postgres".to_owned(),
                    format!("secondary_storage.postgres.url={}", another.url()),
                ]));
                println!("postgres: 2 passed, 0 failed");
            }
            None => println!("postgres: not run, no PostgreSQL was found (set POSTGRES_BIN)"),
        }
    }
    for product in [Product::Opensearch, Product::Elasticsearch] {
        let name = product.name();
        if !is_wanted(name) {
            continue;
        }
        let directory = tempfile::tempdir().unwrap();
        match Node::start(product, directory.path()) {
            Ok(node) => {
                runtime.block_on(searches_mean_what_they_say(on(&node, "hostile")));
                runtime.block_on(everything_is_found_until_it_is_removed(&node));
                runtime.block_on(records_go_beside_the_embedded_store(&node));
                runtime.block_on(emptied::a_purge_leaves_nothing(on(&node, "purged")));
                runtime.block_on(emptied::lost_indices_are_told_and_begin_again(&node));
                println!("{name}: 5 passed, 0 failed");
            }
            Err(reason) => println!("{name}: not run, {reason}"),
        }
    }
    ExitCode::SUCCESS
}

/// Settings for a node as secondary storage, with indices of one test.
fn on(node: &Node, prefix: &str) -> Vec<String> {
    vec![
        "secondary_storage.kind=opensearch".to_owned(),
        format!("secondary_storage.opensearch.urls={}", node.url()),
        format!("secondary_storage.opensearch.index_prefix={prefix}"),
        "secondary_storage.opensearch.number_of_replicas=0".to_owned(),
    ]
}

async fn searches_mean_what_they_say(settings: Vec<String>) {
    let data = Data::new();
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.prepared().await;
    hostile::searches_mean_what_they_say(&site).await;
    values::values_are_found_however_they_are_spelled(&site).await;
    server.stop().await;
    assert_eq!(data.logged("panicked") + data.logged("ERROR"), 0);
}

/// A process of one element between its start and its end.
fn process(id: &str, before: &str, element: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test">
  {before}<process id="{id}" name="Process {id}" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="in" sourceRef="start" targetRef="it"/>
    {element}
    <sequenceFlow id="out" sourceRef="it" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>"#
    )
}

fn models() -> Vec<(String, String)> {
    let extended = |kind: &str, elements: &str| {
        format!(r#"<{kind} id="it"><extensionElements>{elements}</extensionElements></{kind}>"#)
    };
    let message = r#"<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>"#;
    let catch = r#"<intermediateCatchEvent id="it"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>"#;
    let decision = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rules" name="Rules" namespace="test">
  <decision id="discount" name="Discount"><decisionTable id="t" hitPolicy="FIRST">
    <input id="i"><inputExpression id="e" typeRef="number"><text>total</text></inputExpression></input>
    <output id="o" name="discount" typeRef="number"/>
    <rule id="large"><inputEntry id="a"><text>&gt;= 100</text></inputEntry><outputEntry id="b"><text>10</text></outputEntry></rule>
  </decisionTable></decision>
</definitions>"#;
    let file = |name: &str, content: String| (name.to_owned(), content);
    vec![
        file(
            "errand.bpmn",
            process("errand", "", &extended("serviceTask", r#"<zeebe:taskDefinition type="errand"/>"#)),
        ),
        file("brief.bpmn", process("brief", "", r#"<manualTask id="it"/>"#)),
        file(
            "review.bpmn",
            process(
                "review",
                "",
                &extended("userTask", r#"<zeebe:userTask/><zeebe:assignmentDefinition assignee="ann"/>"#),
            ),
        ),
        file("wait.bpmn", process("wait", message, catch)),
        file(
            "decide.bpmn",
            process(
                "decide",
                "",
                &extended(
                    "businessRuleTask",
                    r#"<zeebe:calledDecision decisionId="discount" resultVariable="discount"/>"#,
                ),
            ),
        ),
        file("rules.dmn", decision.to_owned()),
    ]
}

struct Site {
    rest: String,
    client: RestClient,
}

impl Site {
    fn of(server: &Server) -> Self {
        let rest = server.address("rest").to_owned();
        let options = RestOptions { address: format!("http://{rest}"), ..RestOptions::default() };
        Self { client: RestClient::new(options).unwrap(), rest }
    }

    /// Until the indices are made, searches are told to wait.
    async fn prepared(&self) {
        let search = json!({ "filter": { "processDefinitionId": "errand" } });
        let ask = || http::ask(&self.rest, "POST", "/v2/process-definitions/search", Some(&search));
        let end = Instant::now() + PATIENCE;
        while ask().await.unwrap().status != 200 {
            assert!(Instant::now() < end, "the indices are not made");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn deploy(&self) {
        let models = models();
        let resources: Vec<_> =
            models.iter().map(|(name, content)| Resource { name, content: content.as_bytes() }).collect();
        self.client.deploy(&resources, None).await.unwrap();
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        http::ask(&self.rest, "POST", path, Some(&body)).await.unwrap().good()
    }

    /// Starts an instance; returns its key.
    async fn run(&self, process: &str, variables: Value) -> String {
        let create = json!({ "processDefinitionId": process, "variables": variables });
        let created = self.post("/v2/process-instances", create).await;
        created["processInstanceKey"].as_str().unwrap().to_owned()
    }

    async fn search(&self, kind: &str, filter: &Value) -> Vec<Value> {
        let found = self.post(&format!("/v2/{kind}/search"), json!({ "filter": filter })).await;
        found["items"].as_array().unwrap().clone()
    }

    /// Waits until so many are found.
    async fn expect(&self, kind: &str, filter: Value, count: usize) -> Vec<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.search(kind, &filter).await;
            if found.len() == count {
                return found;
            }
            assert!(Instant::now() < end, "{kind} {filter}: {count} expected, but found {found:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Takes a job, and does something with it.
    async fn job(&self, action: &str, body: Value) {
        let ask =
            json!({ "type": "errand", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 10_000 });
        let taken = self.post("/v2/jobs/activation", ask).await;
        let key = taken["jobs"][0]["jobKey"].as_str().unwrap_or_else(|| panic!("no job: {taken}"));
        self.post(&format!("/v2/jobs/{key}/{action}"), body).await;
    }
}

async fn everything_is_found_until_it_is_removed(node: &Node) {
    let data = Data::new();
    let mut settings = on(node, "baton");
    settings.extend([
        "secondary_storage.retention.enabled=true".to_owned(),
        "secondary_storage.retention.interval=1s".to_owned(),
        "secondary_storage.retention.rules=process_instances definition=brief keep=3s".to_owned(),
    ]);
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.deploy().await;
    site.prepared().await;

    let errand = site.run("errand", json!({ "who": "ann", "text": "x".repeat(20_000) })).await;
    let of_errand = json!({ "processInstanceKey": errand });
    site.job("failure", json!({ "retries": 0, "errorMessage": "no shoes" })).await;
    let incident = site.expect("incidents", of_errand.clone(), 1).await.remove(0);
    assert_eq!((&incident["errorMessage"], &incident["state"]), (&json!("no shoes"), &json!("ACTIVE")));
    let wait = site.run("wait", json!({ "order": "A-1" })).await;
    site.run("review", json!({})).await;
    site.run("decide", json!({ "total": 150 })).await;
    let brief = site.run("brief", json!({ "soon": "gone" })).await;

    for (kind, filter, count) in [
        ("process-instances", json!({ "state": "ACTIVE" }), 3),
        ("process-instances", json!({ "hasIncident": true }), 1),
        ("process-instances", json!({ "variables": [{ "name": "who", "value": "\"ann\"" }] }), 1),
        ("element-instances", json!({ "processInstanceKey": errand, "state": "ACTIVE" }), 1),
        ("variables", of_errand.clone(), 2),
        ("jobs", json!({ "type": "errand", "state": "FAILED" }), 1),
        ("jobs", json!({ "type": "errand", "hasFailedWithRetriesLeft": false }), 1),
        ("user-tasks", json!({ "assignee": "ann", "state": "CREATED" }), 1),
        ("message-subscriptions", json!({ "messageName": "paid", "correlationKey": "A-1" }), 1),
        ("process-definitions", json!({}), 5),
        ("decision-definitions", json!({ "decisionDefinitionId": "discount" }), 1),
        (
            "decision-definitions",
            json!({ "decisionRequirementsName": "Rules", "decisionRequirementsVersion": 1 }),
            1,
        ),
        ("decision-requirements", json!({}), 1),
        ("decision-instances", json!({ "decisionDefinitionId": "discount" }), 1),
    ] {
        site.expect(kind, filter, count).await;
    }
    let path = format!("/v2/process-instances/{brief}");
    let found = http::ask(&site.rest, "GET", &path, None).await.unwrap();
    assert!(found.status == 200 || found.status == 404, "{found:?}");

    // On it goes: a message, a batch operation, the job that failed.
    site.post(
        "/v2/messages/publication",
        json!({ "name": "paid", "correlationKey": "A-1", "timeToLive": 60_000 }),
    )
    .await;
    site.expect("correlated-message-subscriptions", json!({ "processInstanceKey": wait }), 1).await;
    site.expect("process-instances", json!({ "processInstanceKey": wait, "state": "COMPLETED" }), 1).await;
    let batch = site
        .post("/v2/process-instances/cancellation", json!({ "filter": { "processDefinitionId": "review" } }))
        .await;
    let batch = json!({ "batchOperationKey": batch["batchOperationKey"], "state": "COMPLETED" });
    site.expect("batch-operations", batch, 1).await;
    site.expect("process-instances", json!({ "processDefinitionId": "review", "state": "TERMINATED" }), 1)
        .await;
    let failed = site.search("jobs", &of_errand).await[0]["jobKey"].as_str().unwrap().to_owned();
    let retries = json!({ "changeset": { "retries": 1 } });
    http::ask(&site.rest, "PATCH", &format!("/v2/jobs/{failed}"), Some(&retries)).await.unwrap().good();
    let incident = incident["incidentKey"].as_str().unwrap();
    site.post(&format!("/v2/incidents/{incident}/resolution"), json!({})).await;
    site.job("completion", json!({ "variables": { "done": true } })).await;
    let ended = site
        .expect("process-instances", json!({ "processInstanceKey": errand, "state": "COMPLETED" }), 1)
        .await;
    assert!(ended[0]["endDate"].is_string(), "{}", ended[0]);
    site.expect("incidents", json!({ "processInstanceKey": errand, "state": "RESOLVED" }), 1).await;
    assert!(!site.search("audit-logs", &json!({})).await.is_empty());
    let statistics = site.post("/v2/process-definitions/statistics/process-instances", json!({})).await;
    assert!(statistics["items"].is_array(), "{statistics}");

    // Retention: what was short has gone by itself, and nothing else.
    let of_brief = json!({ "processInstanceKey": brief });
    for kind in ["process-instances", "element-instances", "variables"] {
        site.expect(kind, of_brief.clone(), 0).await;
    }
    site.expect("process-instances", json!({}), 4).await;

    // Deletion, which stays when the server comes back.
    site.post(&format!("/v2/process-instances/{errand}/deletion"), json!({})).await;
    for kind in ["process-instances", "element-instances", "variables", "jobs", "incidents"] {
        site.expect(kind, of_errand.clone(), 0).await;
    }
    server.stop().await;
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.run("decide", json!({ "total": 1 })).await;
    site.expect("process-instances", json!({ "processDefinitionId": "decide" }), 2).await;
    assert!(site.search("process-instances", &of_errand).await.is_empty());
    assert_eq!(site.search("process-instances", &json!({ "processInstanceKey": wait })).await.len(), 1);
    server.stop().await;
}

async fn records_go_beside_the_embedded_store(node: &Node) {
    let data = Data::new();
    let settings = [
        "export.opensearch.enabled=true".to_owned(),
        format!("export.opensearch.urls={}", node.url()),
        "export.opensearch.delay=0s".to_owned(),
    ];
    let mut server = Server::spawn(&data, &settings);
    server.ready().await;
    let site = Site::of(&server);
    site.deploy().await;
    for _ in 0..20 {
        site.run("brief", json!({ "a": { "b": [1] } })).await;
    }
    site.expect("process-instances", json!({ "state": "COMPLETED" }), 20).await;
    let address = node.url().replace("http://", "");
    let query = json!({ "query": { "bool": { "filter": [
        { "term": { "intent": "ELEMENT_COMPLETED" } }, { "term": { "value.bpmnElementType": "PROCESS" } },
    ] } }, "size": 100 });
    // An index that was made a moment ago may have no shard yet that can answer.
    let end = Instant::now() + PATIENCE;
    let hits = loop {
        http::ask(&address, "POST", "/_refresh", None).await.unwrap();
        let found = http::ask(&address, "POST", "/zeebe-record*/_search", Some(&query)).await.unwrap();
        let hits = if found.status == 200 { found.json()["hits"]["hits"].clone() } else { json!([]) };
        let hits = hits.as_array().unwrap().clone();
        if hits.len() >= 20 {
            break hits;
        }
        assert!(Instant::now() < end, "{found:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    // Each instance once, and the same as in the embedded store.
    let mut ended: Vec<_> =
        hits.iter().map(|hit| hit["_source"]["value"]["processInstanceKey"].to_string()).collect();
    let found = site.search("process-instances", &json!({})).await;
    let mut known: Vec<_> =
        found.iter().map(|one| one["processInstanceKey"].as_str().unwrap().to_owned()).collect();
    ended.sort_unstable();
    known.sort_unstable();
    assert_eq!(ended, known);
    server.stop().await;
    data.assert_quiet_log();
}
