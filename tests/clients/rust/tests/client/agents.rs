//! Agents, as the client of 8.10 tells of them.

use camunda_orchestration_sdk::apis::agent_instance_api as api;
use rust_client_suite::{body, client, create, deployed, leased, seen};
use serde_json::{Value, json};

fn item(id: &str, role: &str, more: Value) -> Value {
    let mut item = json!({"historyItemId": id, "loopIteration": 1, "role": role, "content": [],
        "producedAt": "2031-03-01T00:00:00Z"});
    for (name, value) in more.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

#[tokio::test]
async fn an_agent_tells_its_history_and_its_tokens() {
    let client = client();
    let model = deployed(&client, &["agent.bpmn"]).await;
    create(&client, &format!("{}-agent", model.id), json!({})).await;
    let job = leased(&client, &format!("{}-think", model.id)).await;
    let (job_key, token) = (job.job_key.to_string(), job.job_lease_token.unwrap().to_string());
    let told = |history: Value| {
        json!({"elementInstanceKey": job.element_instance_key.to_string(), "jobKey": job_key,
            "jobLeaseToken": token, "history": history})
    };
    let configuration = item("c", "CONFIGURATION", json!({"model": "m", "provider": "p"}));
    let create = api::CreateAgentInstanceParams {
        agent_instance_creation_request: body(told(json!([configuration]))),
    };
    let agent_instance_key =
        client.create_agent_instance(create).await.unwrap().agent_instance_key.to_string();
    let metrics = json!({"inputTokens": 5, "reasoningTokenCount": 7, "cacheCreationTokenCount": 8, "cacheReadTokenCount": 9});
    let update = api::UpdateAgentInstanceParams {
        agent_instance_key: agent_instance_key.clone(),
        agent_instance_update_request: body(told(json!([item(
            "a",
            "ASSISTANT",
            json!({"metrics": metrics})
        )]))),
    };
    assert_eq!(client.update_agent_instance(update).await.unwrap().created_history.len(), 1);
    client.complete_job(&job_key, body(json!({"jobLeaseToken": token}))).await.unwrap();
    let history = seen(|| async {
        let params = api::SearchAgentInstanceHistoryParams {
            agent_instance_key: agent_instance_key.clone(),
            agent_instance_history_search_query: body(json!({"sort": [{"field": "producedAt"}]})),
        };
        client
            .search_agent_instance_history(params)
            .await
            .unwrap()
            .items
            .into_iter()
            .find(|item| item.history_item_id.to_string() == "a")
    });
    let history = serde_json::to_value(history.await).unwrap();
    assert_eq!((&history["historyItemId"], &history["jobLeaseToken"]), (&json!("a"), &json!(token)));
    assert_eq!(
        (&history["metrics"]["reasoningTokenCount"], &history["metrics"]["outputTokens"]),
        (&json!(7), &json!(null))
    );
    let agent = client.get_agent_instance(api::GetAgentInstanceParams { agent_instance_key }).await.unwrap();
    let metrics = serde_json::to_value(agent.metrics).unwrap();
    let names = [
        "inputTokens",
        "outputTokens",
        "reasoningTokenCount",
        "cacheCreationTokenCount",
        "cacheReadTokenCount",
    ];
    assert_eq!(names.map(|name| metrics[name].as_i64()), [Some(5), Some(0), Some(7), Some(8), Some(9)]);
}
