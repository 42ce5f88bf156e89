//! `/v2/agent-instances`: what agents tell of their runs.

use http::StatusCode;
use protocol::{
    AgentConfiguration, AgentHistoryItem, AgentItemMetrics, AgentJob, AgentLimits, AgentMetrics, AgentRole,
    AgentStatus, Command, CreateAgentInstance, CreatedHistoryItem, Json, Key, Name, Response,
    UpdateAgentInstance,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Call, unexpected};
use crate::rest::moment;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

/// An item of a history, as it stands in the body.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawItem<'a> {
    history_item_id: Name,
    loop_iteration: i32,
    role: Name,
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    metrics: Option<AgentItemMetrics>,
    produced_at: Name,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    model: Option<Name>,
    provider: Option<Name>,
    limits: Option<AgentLimits>,
    #[serde(borrow, default)]
    system_prompt: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDefinition {
    model: Name,
    provider: Name,
    system_prompt: Name,
}

/// `POST /v2/agent-instances`
pub(super) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let history = history(call)?;
    let limits = call.fields.parsed("limits")?;
    let definition: Option<RawDefinition> = call.fields.parsed("definition")?;
    let configuration = match (definition, history.is_empty()) {
        (None, true) => {
            return Err(Failure::invalid(
                "definition: is required, unless an item of history configures the agent",
            ));
        }
        (Some(_), false) => return Err(not_beside_history("definition")),
        (None, false) if limits.is_some() => return Err(not_beside_history("limits")),
        (None, false) => AgentConfiguration::default(),
        (Some(definition), true) => configuration(definition, limits)?,
    };
    let element_instance_key = element_instance_key(call)?;
    let job = job(call, lease(call), &history)?;
    let command = CreateAgentInstance { element_instance_key, configuration, job, history };
    let (key, history) = submit(call, "CREATE", Command::CreateAgentInstance(Box::new(command))).await?;
    let mut out = Vec::with_capacity(128);
    object(&mut out)
        .with("agentInstanceKey", Digits(key))
        .list("createdHistory", &history, write_created)
        .end();
    Ok(Reply::json(out))
}

fn not_beside_history(name: &str) -> Failure {
    Failure::invalid(format!("{name}: must be left out beside history; an item of CONFIGURATION tells it"))
}

fn configuration(
    definition: RawDefinition,
    limits: Option<AgentLimits>,
) -> Result<AgentConfiguration, Failure> {
    let RawDefinition { model, provider, system_prompt } = definition;
    check_not_blank("definition", "model", &model)?;
    check_not_blank("definition", "provider", &provider)?;
    let prompt = serde_json::json!([{"contentType": "TEXT", "text": system_prompt.as_str()}]);
    Ok(AgentConfiguration {
        model: Some(model),
        provider: Some(provider),
        system_prompt: Some(Json::from_written(prompt.to_string().into_bytes())),
        tools: None,
        limits,
    })
}

/// `PATCH /v2/agent-instances/{agentInstanceKey}`
pub(super) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    let history = history(call)?;
    let metrics: Option<AgentMetrics> = call.fields.parsed("metrics")?;
    let command = UpdateAgentInstance {
        agent_instance_key: call.key()?,
        element_instance_key: element_instance_key(call)?,
        status: call.fields.text("status").and_then(|status| AgentStatus::from_name(&status)),
        metrics: metrics.unwrap_or_default(),
        tools: call.fields.raw("tools").map(json),
        job: job(call, lease(call), &history)?,
        history,
    };
    let (_, history) = submit(call, "UPDATE", Command::UpdateAgentInstance(Box::new(command))).await?;
    let mut out = Vec::with_capacity(128);
    object(&mut out).list("createdHistory", &history, write_created).end();
    Ok(Reply::json(out))
}

/// `POST /v2/agent-instances/{agentInstanceKey}/history`
pub(super) async fn create_item(call: &Call<'_>) -> Result<Reply, Failure> {
    let metrics = call.fields.parsed("metrics")?;
    let tool_calls = call.fields.raw("toolCalls");
    let item = AgentHistoryItem {
        id: None,
        loop_iteration: call.fields.int32("loopIteration"),
        role: role(&call.fields.name_or_empty("role")),
        content: json(call.fields.raw("content").unwrap_or("[]")),
        tool_calls: tool_calls.map(json),
        tool_call_count: tool_calls.map_or(0, count),
        metrics,
        produced_at_ms: produced("producedAt", &call.fields.name_or_empty("producedAt"))?,
        configuration: AgentConfiguration::default(),
    };
    let command = UpdateAgentInstance {
        agent_instance_key: call.key()?,
        element_instance_key: element_instance_key(call)?,
        status: None,
        metrics: AgentMetrics::default(),
        tools: None,
        job: job(call, call.fields.name("jobLease"), std::slice::from_ref(&item))?,
        history: vec![item],
    };
    let (_, history) = submit(call, "CREATE", Command::UpdateAgentInstance(Box::new(command))).await?;
    let Some(created) = history.first() else {
        return Err(unexpected(&"no item"));
    };
    let mut out = Vec::with_capacity(64);
    object(&mut out).with("historyItemKey", Digits(created.key)).end();
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(out) })
}

async fn submit(
    call: &Call<'_>,
    intent: &str,
    command: Command,
) -> Result<(Key, Vec<CreatedHistoryItem>), Failure> {
    match call.submit(intent, command).await?.response {
        Response::AgentInstance { agent_instance_key, history } => Ok((agent_instance_key, history)),
        other => Err(unexpected(&other)),
    }
}

fn write_created(item: &CreatedHistoryItem, out: &mut Vec<u8>) {
    object(out)
        .with("historyItemId", &item.id)
        .with("historyItemKey", Digits(item.key))
        .with("isDuplicate", item.is_duplicate)
        .end();
}

fn element_instance_key(call: &Call<'_>) -> Result<Key, Failure> {
    let key = call.fields.key("elementInstanceKey")?;
    Ok(key.expect("validated as required"))
}

/// The lease of the body, by the name of clients of 8.10 or by that of its published contract.
fn lease(call: &Call<'_>) -> Option<Name> {
    call.fields.name("jobLeaseToken").or_else(|| call.fields.name("jobLease"))
}

/// The activation of a job that the body names; a history needs one.
fn job(
    call: &Call<'_>,
    lease: Option<Name>,
    history: &[AgentHistoryItem],
) -> Result<Option<AgentJob>, Failure> {
    match call.fields.key("jobKey")? {
        Some(key) => Ok(Some(AgentJob { key, lease })),
        None if history.is_empty() => Ok(None),
        None => Err(Failure::invalid("jobKey: is required beside history, but missing")),
    }
}

fn history(call: &Call<'_>) -> Result<Vec<AgentHistoryItem>, Failure> {
    let items: Vec<RawItem<'_>> = call.fields.list("history")?;
    items.into_iter().enumerate().map(|(at, item)| read_item(&format!("history[{at}]"), item)).collect()
}

fn read_item(place: &str, item: RawItem<'_>) -> Result<AgentHistoryItem, Failure> {
    let role = role(&item.role);
    check_not_blank(place, "historyItemId", &item.history_item_id)?;
    let given = [
        ("model", item.model.is_some()),
        ("provider", item.provider.is_some()),
        ("systemPrompt", item.system_prompt.is_some()),
        ("tools", item.tools.is_some()),
        ("limits", item.limits.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given && role != AgentRole::Configuration)
    {
        return Err(Failure::invalid(format!("{place}.{name}: only an item of CONFIGURATION has it")));
    }
    if item.system_prompt.is_some_and(|prompt| count(prompt.get()) == 0) {
        return Err(Failure::invalid(format!("{place}.systemPrompt: must not be empty")));
    }
    for (name, text) in [("model", &item.model), ("provider", &item.provider)] {
        text.as_ref().map_or(Ok(()), |text| check_not_blank(place, name, text))?;
    }
    Ok(AgentHistoryItem {
        id: Some(item.history_item_id),
        loop_iteration: Some(item.loop_iteration),
        role,
        content: json(item.content.get()),
        tool_calls: item.tool_calls.map(|calls| json(calls.get())),
        tool_call_count: item.tool_calls.map_or(0, |calls| count(calls.get())),
        metrics: item.metrics,
        produced_at_ms: produced(&format!("{place}.producedAt"), &item.produced_at)?,
        configuration: AgentConfiguration {
            model: item.model,
            provider: item.provider,
            system_prompt: item.system_prompt.map(|prompt| json(prompt.get())),
            tools: item.tools.map(|tools| json(tools.get())),
            limits: item.limits,
        },
    })
}

fn role(name: &str) -> AgentRole {
    AgentRole::from_name(name).expect("validated as a role")
}

fn produced(place: &str, text: &str) -> Result<i64, Failure> {
    moment::parse(text)
        .ok_or_else(|| Failure::invalid(format!("{place}: expected a date and time with offset")))
}

/// How many elements a list has.
fn count(raw: &str) -> i32 {
    let list: Vec<&RawValue> = serde_json::from_str(raw).expect("validated as a list");
    i32::try_from(list.len()).unwrap_or(i32::MAX)
}

fn json(raw: &str) -> Json {
    Json::from_valid(raw.as_bytes().to_vec())
}

fn check_not_blank(place: &str, name: &str, text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(Failure::invalid(format!("{place}.{name}: must not be blank")));
    }
    Ok(())
}
