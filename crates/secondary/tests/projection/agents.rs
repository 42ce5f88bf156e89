//! Agents and what they say.

use protocol::{
    AgentDefinitionRecord, AgentDefinitionValues, AgentHistoryRecord, AgentInstanceRecord, AgentLimits,
    AgentMetrics, AgentRole, AgentStatus, Intent, Json, Name,
};
use search::model::{agent_definition, agent_history, agent_instance};
use secondary::AuditSettings;

use super::{record, rows};

fn instance(status: AgentStatus) -> AgentInstanceRecord {
    AgentInstanceRecord {
        agent_instance_key: 9,
        agent_definition_key: 8,
        status,
        element_instance_key: 6,
        element_instance_keys: vec![4, 6],
        element_id: Name::from("a"),
        process_instance_key: 5,
        root_process_instance_key: 5,
        bpmn_process_id: Name::from("p"),
        process_definition_key: 3,
        process_definition_version: 1,
        version_tag: Name::default(),
        tenant_id: Name::default_tenant(),
        definition: AgentDefinitionValues {
            model: Name::from("m"),
            provider: Name::from("p"),
            system_prompt: Json::from_valid("[]"),
        },
        limits: AgentLimits::NONE,
        metrics: AgentMetrics { model_calls: 2, reasoning_token_count: 4, ..AgentMetrics::default() },
        tools: Json::from_valid("[]"),
    }
}

fn item() -> AgentHistoryRecord {
    AgentHistoryRecord {
        history_item_key: 11,
        agent_instance_key: 9,
        element_instance_key: 6,
        job_key: 7,
        job_lease: Name::from("l"),
        history_item_id: Name::from("h"),
        loop_iteration: 1,
        role: AgentRole::User,
        content: Json::from_valid("[1]"),
        tool_calls: Json::from_valid("[]"),
        metrics: None,
        produced_at_ms: 77,
        model: None,
        provider: None,
        system_prompt: Json::from_valid("[]"),
        tools: Json::from_valid("[]"),
        limits: AgentLimits::NONE,
        process_instance_key: 5,
        root_process_instance_key: 5,
        bpmn_process_id: Name::from("p"),
        process_definition_key: 3,
        tenant_id: Name::default_tenant(),
        commit_status: Name::from("PENDING"),
    }
}

#[test]
fn agents_and_what_they_say_become_rows() {
    let none = AuditSettings::none();
    let definition = AgentDefinitionRecord {
        agent_definition_key: 8,
        agent_type: Name::from("AI_AGENT_TASK"),
        name: Name::from("a"),
        element_id: Name::from("a"),
        bpmn_process_id: Name::from("p"),
        process_definition_key: 3,
        process_definition_version: 1,
        version_tag: Name::default(),
        tenant_id: Name::default_tenant(),
        deployment_key: 2,
    };
    let defined = record(1, 8, Intent::Created, definition.clone());
    let row = &rows(&agent_definition::ENTITY, &none, std::slice::from_ref(&defined))[0];
    assert_eq!((row["agentType"].as_str(), row["name"].as_str()), ("AI_AGENT_TASK", "a"));
    let deleted = record(2, 8, Intent::Deleted, definition);
    assert_eq!(rows(&agent_definition::ENTITY, &none, &[defined, deleted])[0].len(), 1);

    let records = [
        record(1, 9, Intent::Created, instance(AgentStatus::Initializing)),
        record(2, 9, Intent::Updated, instance(AgentStatus::Thinking)),
        record(3, 9, Intent::Completed, instance(AgentStatus::Completed)),
    ];
    let row = &rows(&agent_instance::ENTITY, &none, &records)[0];
    for (name, value) in [
        ("status", "COMPLETED"),
        ("creationDate", "1001"),
        ("lastUpdatedDate", "1003"),
        ("completionDate", "1003"),
        ("elementInstanceKeys", r#"["4","6"]"#),
        ("definition", r#"{"model":"m","provider":"p","systemPrompt":[]}"#),
        ("limits", r#"{"maxModelCalls":-1,"maxToolCalls":-1,"maxTokens":-1}"#),
        (
            "metrics",
            concat!(
                r#"{"inputTokens":0,"outputTokens":0,"modelCalls":2,"toolCalls":0,"reasoningTokenCount":4,"#,
                r#""cacheCreationTokenCount":0,"cacheReadTokenCount":0}"#
            ),
        ),
    ] {
        assert_eq!(row[name], value, "{name}");
    }

    let told = record(4, 11, Intent::Created, item());
    let row = &rows(&agent_history::ENTITY, &none, std::slice::from_ref(&told))[0];
    assert_eq!((row["commitStatus"].as_str(), row["content"].as_str()), ("PENDING", "[1]"));
    for (intent, status) in [(Intent::Committed, "COMMITTED"), (Intent::Discarded, "DISCARDED")] {
        let row = &rows(&agent_history::ENTITY, &none, &[told.clone(), record(5, 11, intent, item())])[0];
        assert_eq!(row["commitStatus"], status);
    }
}
