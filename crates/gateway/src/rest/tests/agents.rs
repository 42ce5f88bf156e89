//! Commands of agents.

use protocol::{
    AgentConfiguration, AgentHistoryItem, AgentItemMetrics, AgentJob, AgentLimits, AgentMetrics, AgentRole,
    AgentStatus, Command, CreateAgentInstance, CreatedHistoryItem, Json, Key, Name, Response,
    UpdateAgentInstance,
};
use serde_json::json;

use super::super::contract::Operation;
use super::operations::{bad, succeed};

const PATH: &str = "/v2/agent-instances";

/// Each item of a history is new.
pub(super) fn usual(agent_instance_key: Key, history: &[AgentHistoryItem]) -> Response {
    let created = history.iter().enumerate().map(|(at, item)| CreatedHistoryItem {
        id: item.id.clone().unwrap_or_default(),
        key: 70 + at as u64,
        is_duplicate: false,
    });
    Response::AgentInstance { agent_instance_key, history: created.collect() }
}

fn json(text: &'static str) -> Json {
    Json::from_valid(text)
}

#[test]
fn agents_are_told_of_to_the_broker() {
    let body = r#"{"elementInstanceKey":"5","definition":{"model":"m","provider":"p","systemPrompt":"be \"kind\""},
        "limits":{"maxModelCalls":3,"maxToolCalls":-1,"maxTokens":99}}"#;
    let (answer, command) = succeed(Operation::CreateAgentInstance, PATH, body);
    assert_eq!(answer, r#"{"agentInstanceKey":"61","createdHistory":[]}"#);
    let configuration = AgentConfiguration {
        model: Some(Name::from("m")),
        provider: Some(Name::from("p")),
        system_prompt: Some(json(r#"[{"contentType":"TEXT","text":"be \"kind\""}]"#)),
        tools: None,
        limits: Some(AgentLimits { max_model_calls: 3, max_tool_calls: -1, max_tokens: 99 }),
    };
    let create =
        CreateAgentInstance { element_instance_key: 5, configuration, job: None, history: Vec::new() };
    assert_eq!(command, Command::CreateAgentInstance(Box::new(create)));

    let body = r#"{"elementInstanceKey":"5","status":"THINKING","metrics":{"inputTokens":7},"tools":[],"jobKey":"9",
        "jobLeaseToken":"l","history":[{"historyItemId":"h","loopIteration":2,"role":"ASSISTANT","content":[],"toolCalls":
        [{"toolCallId":"1","toolName":"t","elementId":null,"arguments":{"a":1}}],"metrics":
        {"inputTokens":3,"outputTokens":null,"reasoningTokenCount":8,"durationMs":4},
        "producedAt":"1970-01-01T00:00:01Z"}]}"#;
    let (answer, command) = succeed(Operation::UpdateAgentInstance, &format!("{PATH}/61"), body);
    assert_eq!(
        answer,
        r#"{"createdHistory":[{"historyItemId":"h","historyItemKey":"70","isDuplicate":false}]}"#
    );
    let item = AgentHistoryItem {
        id: Some(Name::from("h")),
        loop_iteration: Some(2),
        role: AgentRole::Assistant,
        content: json("[]"),
        tool_calls: Some(json(r#"[{"toolCallId":"1","toolName":"t","elementId":null,"arguments":{"a":1}}]"#)),
        tool_call_count: 1,
        metrics: Some(AgentItemMetrics {
            input_tokens: Some(3),
            reasoning_token_count: Some(8),
            duration_ms: Some(4),
            ..AgentItemMetrics::default()
        }),
        produced_at_ms: 1000,
        configuration: AgentConfiguration::default(),
    };
    let update = UpdateAgentInstance {
        agent_instance_key: 61,
        element_instance_key: 5,
        status: Some(AgentStatus::Thinking),
        metrics: AgentMetrics { input_tokens: 7, ..AgentMetrics::default() },
        tools: Some(json("[]")),
        job: Some(AgentJob { key: 9, lease: Some(Name::from("l")) }),
        history: vec![item],
    };
    assert_eq!(command, Command::UpdateAgentInstance(Box::new(update)));

    let body = r#"{"elementInstanceKey":"5","jobKey":"9","jobLease":"l","role":"USER",
        "content":[{"contentType":"OBJECT","object":[1]}],"producedAt":"1970-01-01T00:00:01Z"}"#;
    let path = format!("{PATH}/61/history");
    let (answer, command) = succeed(Operation::CreateAgentInstanceHistoryItem, &path, body);
    assert_eq!(answer, r#"{"historyItemKey":"70"}"#);
    let Command::UpdateAgentInstance(update) = command else { panic!("{command:?}") };
    assert_eq!(update.history[0].id, None);
    assert_eq!(update.history[0].content, json(r#"[{"contentType":"OBJECT","object":[1]}]"#));
    assert_eq!(update.job, Some(AgentJob { key: 9, lease: Some(Name::from("l")) }));
}

#[test]
fn what_agents_tell_is_checked() {
    let item = |more: serde_json::Value| {
        let mut item = json!({"historyItemId": "h", "loopIteration": 1, "role": "USER", "content": [],
            "producedAt": "1970-01-01T00:00:01Z"});
        for (name, value) in more.as_object().unwrap() {
            item[name] = value.clone();
        }
        item
    };
    let definition = json!({"model": "m", "provider": "p", "systemPrompt": ""});
    let limits = json!({"maxModelCalls": 1, "maxToolCalls": 1, "maxTokens": 1});
    for (more, detail) in [
        (json!({}), "definition: is required, unless an item of history configures the agent"),
        (
            json!({"definition": {"model": " ", "provider": "p", "systemPrompt": ""}}),
            "definition.model: must not be blank",
        ),
        (
            json!({"definition": definition, "jobKey": "9", "history": [item(json!({}))]}),
            "definition: must be left out beside history; an item of CONFIGURATION tells it",
        ),
        (
            json!({"limits": limits, "jobKey": "9", "history": [item(json!({}))]}),
            "limits: must be left out beside history; an item of CONFIGURATION tells it",
        ),
        (json!({"history": [item(json!({}))]}), "jobKey: is required beside history, but missing"),
        (
            json!({"jobKey": "9", "history": [item(json!({"historyItemId": " "}))]}),
            "history[0].historyItemId: must not be blank",
        ),
        (
            json!({"jobKey": "9", "history": [item(json!({})), item(json!({"model": "m"}))]}),
            "history[1].model: only an item of CONFIGURATION has it",
        ),
        (
            json!({"jobKey": "9", "history": [item(json!({"role": "CONFIGURATION", "systemPrompt": []}))]}),
            "history[0].systemPrompt: must not be empty",
        ),
        (
            json!({"jobKey": "9", "history": [item(json!({"role": "CONFIGURATION", "provider": ""}))]}),
            "history[0].provider: must not be blank",
        ),
    ] {
        let mut body = json!({"elementInstanceKey": "5"});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        bad("POST", PATH, &body.to_string(), detail);
    }
}
