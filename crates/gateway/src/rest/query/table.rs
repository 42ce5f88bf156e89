//! Search operations and where they look.

use protocol::Name;
use search::Filter;
use search::model::{
    ColumnId, Entity, agent_definition, agent_history, agent_instance, audit_log, batch_operation,
    batch_operation_item, correlated_message_subscription, decision_definition, decision_instance,
    decision_requirements, element_instance, incident, job, message_subscription, process_definition,
    process_instance, sequence_flow, user_task, variable, wait_state,
};
use search::{Operand, Test};

use super::super::call::Call;
use super::super::contract::Operation;
use super::super::problem::Failure;
use super::scopes;

/// Rows that the path of a call is about.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    Rows(fn(&Call<'_>) -> Result<Filter, Failure>),
    /// Incidents of a thing and of all below it.
    Incidents(&'static scopes::Holder),
}

/// Special cases of an operation.
pub(crate) struct Spec {
    pub(crate) operation: Operation,
    pub(crate) entity: &'static Entity,
    pub(crate) scope: Option<Scope>,
    /// Sort fields that have another name than their column.
    pub(crate) sort_names: &'static [(&'static str, &'static str)],
    /// A column with long texts.
    pub(crate) cut: Option<ColumnId>,
}

const fn plain(operation: Operation, entity: &'static Entity) -> Spec {
    Spec { operation, entity, scope: None, sort_names: &[], cut: None }
}

/// The key in the path, in a column.
fn scoped(call: &Call<'_>, column: ColumnId) -> Result<Filter, Failure> {
    Ok(Filter::Column(column, Test::Equal(Operand::Integer(call.key()?.cast_signed()))))
}

/// The history of an agent: what holds of it, unless the request says otherwise.
fn of_agent(call: &Call<'_>) -> Result<Filter, Failure> {
    let of_agent = scoped(call, agent_history::AGENT_KEY)?;
    if call.fields.object("filter").get("commitStatus").is_some_and(|status| !status.is_null()) {
        return Ok(of_agent);
    }
    let committed = Test::Equal(Operand::Text(Name::from("COMMITTED")));
    Ok(of_agent.and(Filter::Column(agent_history::COMMIT_STATUS, committed)))
}

/// Variables, also for operations that find out by themselves which.
pub(crate) const VARIABLES: Spec =
    Spec { cut: Some(variable::VALUE), ..plain(Operation::SearchVariables, &variable::ENTITY) };

pub(crate) static SPECS: &[Spec] = &[
    plain(Operation::SearchProcessInstances, &process_instance::ENTITY),
    plain(Operation::SearchAgentDefinitions, &agent_definition::ENTITY),
    plain(Operation::SearchAgentInstances, &agent_instance::ENTITY),
    Spec {
        scope: Some(Scope::Rows(of_agent)),
        ..plain(Operation::SearchAgentInstanceHistory, &agent_history::ENTITY)
    },
    plain(Operation::SearchElementInstances, &element_instance::ENTITY),
    plain(Operation::SearchElementInstanceWaitStates, &wait_state::ENTITY),
    plain(Operation::SearchIncidents, &incident::ENTITY),
    Spec {
        scope: Some(Scope::Incidents(&scopes::INSTANCE)),
        ..plain(Operation::SearchProcessInstanceIncidents, &incident::ENTITY)
    },
    Spec {
        scope: Some(Scope::Incidents(&scopes::ELEMENT)),
        ..plain(Operation::SearchElementInstanceIncidents, &incident::ENTITY)
    },
    plain(Operation::SearchJobs, &job::ENTITY),
    plain(Operation::SearchUserTasks, &user_task::ENTITY),
    VARIABLES,
    plain(Operation::SearchMessageSubscriptions, &message_subscription::ENTITY),
    plain(Operation::SearchCorrelatedMessageSubscriptions, &correlated_message_subscription::ENTITY),
    plain(Operation::SearchProcessDefinitions, &process_definition::ENTITY),
    plain(Operation::SearchDecisionDefinitions, &decision_definition::ENTITY),
    plain(Operation::SearchDecisionRequirements, &decision_requirements::ENTITY),
    plain(Operation::SearchDecisionInstances, &decision_instance::ENTITY),
    Spec {
        sort_names: &[("operationType", "batchOperationType")],
        ..plain(Operation::SearchBatchOperations, &batch_operation::ENTITY)
    },
    plain(Operation::SearchBatchOperationItems, &batch_operation_item::ENTITY),
    plain(Operation::SearchAuditLogs, &audit_log::ENTITY),
    Spec {
        scope: Some(Scope::Rows(|call| scoped(call, audit_log::USER_TASK_KEY))),
        ..plain(Operation::SearchUserTaskAuditLogs, &audit_log::ENTITY)
    },
    Spec {
        scope: Some(Scope::Rows(|call| scoped(call, sequence_flow::INSTANCE_KEY))),
        ..plain(Operation::GetProcessInstanceSequenceFlows, &sequence_flow::ENTITY)
    },
];

/// The entry of an operation.
pub(crate) fn of(operation: Operation) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.operation == operation)
}

/// A thing that is found by its key.
pub(crate) struct Get {
    operation: Operation,
    pub(crate) entity: &'static Entity,
    /// If it answers with the content of a column: which, of what media type, and how names of
    /// such files end.
    pub(crate) content: Option<(ColumnId, &'static str, &'static str)>,
}

const fn by_key(operation: Operation, entity: &'static Entity) -> Get {
    Get { operation, entity, content: None }
}

static GETS: &[Get] = &[
    by_key(Operation::GetProcessInstance, &process_instance::ENTITY),
    by_key(Operation::GetElementInstance, &element_instance::ENTITY),
    by_key(Operation::GetAgentDefinition, &agent_definition::ENTITY),
    by_key(Operation::GetAgentInstance, &agent_instance::ENTITY),
    by_key(Operation::GetIncident, &incident::ENTITY),
    by_key(Operation::GetUserTask, &user_task::ENTITY),
    by_key(Operation::GetVariable, &variable::ENTITY),
    by_key(Operation::GetProcessDefinition, &process_definition::ENTITY),
    by_key(Operation::GetDecisionDefinition, &decision_definition::ENTITY),
    by_key(Operation::GetDecisionRequirements, &decision_requirements::ENTITY),
    by_key(Operation::GetDecisionInstance, &decision_instance::ENTITY),
    by_key(Operation::GetBatchOperation, &batch_operation::ENTITY),
    by_key(Operation::GetAuditLog, &audit_log::ENTITY),
    Get {
        content: Some((process_definition::XML, "text/xml", "bpmn")),
        ..by_key(Operation::GetProcessDefinitionXML, &process_definition::ENTITY)
    },
];

/// The entry of an operation.
pub(crate) fn get_of(operation: Operation) -> Option<&'static Get> {
    GETS.iter().find(|get| get.operation == operation)
}
