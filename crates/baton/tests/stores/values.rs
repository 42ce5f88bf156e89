//! Values of variables in searches, however a client spelled them, whole and cut; statistics of elements; and batch
//! operations whose filter says what they set themselves: the same in every store.

use serde_json::{Value, json};

use crate::http;
use crate::{Site, process};

/// As clients send it that escape what is not ASCII and keep zeros.
const SPELLED: &str = r#"{"processDefinitionId":"shown","variables":{"name":"M\u00fcller", "price": 1.50, "count":1e2,
    "zero":-0, "long":12345678901234567.89, "o":{ "b":[1.0], "a":"\/" }, "each":[1,2,3], "blob":"BLOB"}}"#;
/// Each variable as it is shown, and other spellings that find it.
const SHOWN: &[(&str, &str, &[&str])] = &[
    ("name", "\"Müller\"", &["\"M\\u00fcller\"", "\"M\\u00FCller\""]),
    ("price", "1.5", &["1.50", "15e-1"]),
    ("count", "100", &["1e2", "100.0"]),
    ("zero", "0", &["-0", "0.0"]),
    ("long", "12345678901234567.89", &["12345678901234567.890"]),
    ("o", r#"{"a":"/","b":[1]}"#, &[r#"{"b":[1],"a":"/"}"#, r#"{ "b" : [ 1.0 ], "a" : "\/" }"#]),
];

pub(crate) async fn values_are_found_however_they_are_spelled(site: &Site) {
    let element = r#"<userTask id="it"><extensionElements><zeebe:userTask/></extensionElements>
        <multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=each"/></extensionElements></multiInstanceLoopCharacteristics></userTask>"#;
    let model = process("shown", "", element);
    let resource = client::Resource { name: "SHOWN.BPMN", content: model.as_bytes() };
    let deployed = site.client.deploy(&[resource], None).await.unwrap();
    let blob = "ä".repeat(20_000);
    let created = post(site, "/v2/process-instances", &SPELLED.replace("BLOB", &blob)).await;
    let instance = created.good()["processInstanceKey"].as_str().unwrap().to_owned();
    site.expect("user-tasks", json!({ "processInstanceKey": instance }), 3).await;
    for (name, shown, others) in SHOWN {
        let rows = site.expect("variables", json!({ "processInstanceKey": instance, "name": name }), 1).await;
        assert_eq!(rows[0]["value"], *shown);
        let path = format!("/v2/variables/{}", rows[0]["variableKey"].as_str().unwrap());
        let alone = http::ask(&site.rest, "GET", &path, None).await.unwrap().good();
        assert_eq!(alone["value"], *shown);
        for value in others.iter().chain([shown]) {
            let variables = json!([{ "name": name, "value": value }]);
            let of_instance = json!({ "processInstanceKey": instance, "variables": variables });
            site.expect("process-instances", of_instance, 1).await;
            let listed =
                json!({ "processInstanceKey": instance, "name": name, "value": { "$in": ["7", value] } });
            site.expect("variables", listed, 1).await;
        }
    }
    cut_values_alone_are_truncated(site, &instance, &blob).await;
    elements_are_counted(site, &instance, deployed.deployed[0].key).await;
    batches_override_states(site).await;
}

async fn cut_values_alone_are_truncated(site: &Site, instance: &str, blob: &str) {
    let tasks = site.search("user-tasks", &json!({ "processInstanceKey": instance })).await;
    let task = tasks[0]["userTaskKey"].as_str().unwrap();
    for path in [
        "/v2/variables/search".to_owned(),
        format!("/v2/user-tasks/{task}/variables/search"),
        format!("/v2/user-tasks/{task}/effective-variables/search"),
    ] {
        for (query, is_cut) in [("", true), ("?truncateValues=true", true), ("?truncateValues=false", false)]
        {
            let filter = if path.starts_with("/v2/variables") {
                json!({ "processInstanceKey": instance, "name": "blob" })
            } else {
                json!({ "name": "blob" })
            };
            let found = site.post(&format!("{path}{query}"), json!({ "filter": filter })).await;
            let item = &found["items"][0];
            assert_eq!(item["isTruncated"], is_cut, "{path}{query}");
            assert_eq!(item["value"] == format!("\"{blob}\""), !is_cut, "{path}{query}");
        }
    }
}

async fn elements_are_counted(site: &Site, instance: &str, definition: i64) {
    let tasks = site.search("user-tasks", &json!({ "processInstanceKey": instance })).await;
    let task = tasks[0]["userTaskKey"].as_str().unwrap();
    let done = post(site, &format!("/v2/user-tasks/{task}/completion"), "{}").await;
    assert!(done.status < 300, "{}", done.status);
    site.expect("user-tasks", json!({ "processInstanceKey": instance, "state": "COMPLETED" }), 1).await;
    let counts = |answer: Value| {
        let items = answer["items"].as_array().unwrap().clone();
        let item = items.into_iter().find(|item| item["elementId"] == "it").unwrap();
        [item["active"].clone(), item["completed"].clone()]
    };
    let path = format!("/v2/process-instances/{instance}/statistics/element-instances");
    let of_instance = http::ask(&site.rest, "GET", &path, None).await.unwrap().good();
    assert_eq!(counts(of_instance), [2, 1], "the body is no instance of the task");
    for filter in [json!({}), json!({ "processInstanceKey": instance })] {
        let path = format!("/v2/process-definitions/{definition}/statistics/element-instances");
        let of_definition = site.post(&path, json!({ "filter": filter })).await;
        assert_eq!(counts(of_definition), [1, 1], "process instances are counted: {filter}");
    }
}

async fn batches_override_states(site: &Site) {
    let cancel = |state: &str| {
        let filter =
            json!({ "processDefinitionId": "shown", "state": state, "parentProcessInstanceKey": "123" });
        json!({ "filter": filter }).to_string()
    };
    let refused = post(site, "/v2/process-instances/cancellation", &cancel("COMPLETED")).await;
    assert_eq!(refused.status, 400);
    let batch = post(site, "/v2/process-instances/cancellation", &cancel("ACTIVE")).await.good();
    assert!(batch["batchOperationKey"].is_string(), "{batch}");
    site.expect("process-instances", json!({ "processDefinitionId": "shown", "state": "TERMINATED" }), 1)
        .await;
}

async fn post(site: &Site, path: &str, body: &str) -> http::Answer {
    http::send(&site.rest, "POST", path, body).await.unwrap()
}
