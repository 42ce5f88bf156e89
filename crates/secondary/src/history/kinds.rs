//! History with a retention: one [`Kind`] for each sort of entity that settings give an age.
//!
//! An entity that shall be forgotten names here when its things end, and what goes with them.

use search::model::{
    ColumnId, Entity, agent_definition, agent_history, agent_instance, audit_log as audit,
    batch_operation as operation, batch_operation_item as item,
    correlated_message_subscription as correlated, decision_instance as decision,
    element_duration as duration, element_instance as element, history_deletion as deletion, incident,
    instance_step as step, job, job_metric, message_subscription as subscription,
    process_definition as definition, process_instance as instance, sequence_flow as flow,
    usage_assignee as assignee, usage_metric as usage, user_task as task, variable, wait_state as wait,
};

/// Things that end and are forgotten together with what belongs to them.
#[derive(Debug)]
pub struct Kind {
    /// Its name in settings and metrics.
    pub name: &'static str,
    /// The entity with one row for each of them.
    pub entity: &'static Entity,
    /// Time of its end. Rows without an end are never removed.
    pub end: ColumnId,
    /// A row in which this is set belongs to another thing and goes with that.
    pub owner: Option<ColumnId>,
    /// Identity of the root of a tree. The tree is removed with its root.
    pub root: Option<ColumnId>,
    /// The ID of its definition.
    pub definition: Option<ColumnId>,
    /// Its tenant.
    pub tenant: Option<ColumnId>,
    /// Rows that go with it: they have its identity in this column.
    pub parts: &'static [(&'static Entity, ColumnId)],
}

/// Process instances; a called one goes with the root of its calls.
pub static PROCESS_INSTANCES: Kind = Kind {
    name: "process_instances",
    entity: &instance::ENTITY,
    end: instance::END,
    owner: Some(instance::PARENT_INSTANCE_KEY),
    root: Some(instance::ROOT_INSTANCE_KEY),
    definition: Some(instance::PROCESS_ID),
    tenant: Some(instance::TENANT),
    parts: &[
        (&element::ENTITY, element::INSTANCE_KEY),
        (&flow::ENTITY, flow::INSTANCE_KEY),
        (&variable::ENTITY, variable::INSTANCE_KEY),
        (&incident::ENTITY, incident::INSTANCE_KEY),
        (&job::ENTITY, job::INSTANCE_KEY),
        (&task::ENTITY, task::INSTANCE_KEY),
        (&subscription::ENTITY, subscription::INSTANCE_KEY),
        (&correlated::ENTITY, correlated::INSTANCE_KEY),
        (&decision::ENTITY, decision::INSTANCE_KEY),
        (&wait::ENTITY, wait::INSTANCE_KEY),
        (&agent_instance::ENTITY, agent_instance::INSTANCE_KEY),
        (&agent_history::ENTITY, agent_history::INSTANCE_KEY),
        (&step::ENTITY, step::INSTANCE_KEY),
    ],
};

/// Decisions that no process instance asked for.
pub static DECISIONS: Kind = Kind {
    owner: Some(decision::INSTANCE_KEY),
    definition: Some(decision::DECISION_ID),
    tenant: Some(decision::TENANT),
    ..moments("decisions", &decision::ENTITY, decision::DATE)
};

/// Batch operations with their items.
pub static BATCH_OPERATIONS: Kind = Kind {
    parts: &[(&item::ENTITY, item::BATCH_KEY)],
    ..moments("batch_operations", &operation::ENTITY, operation::END)
};

/// Entries of the audit log. They outlive what they tell of.
pub static AUDIT_LOG: Kind =
    Kind { tenant: Some(audit::TENANT), ..moments("audit_log", &audit::ENTITY, audit::TIMESTAMP) };

pub static USAGE_METRICS: Kind = moments("usage_metrics", &usage::ENTITY, usage::TIME);

/// Assignees of tasks, as far as usage is counted.
pub static USAGE_ASSIGNEES: Kind = moments("usage_metrics", &assignee::ENTITY, assignee::TIME);

pub static JOB_METRICS: Kind = moments("job_metrics", &job_metric::ENTITY, job_metric::TIME);

/// Durations of elements. They outlive the instances.
pub static DURATIONS: Kind = Kind {
    definition: Some(duration::PROCESS_ID),
    tenant: Some(duration::TENANT),
    ..moments("durations", &duration::ENTITY, duration::TIME)
};

/// Process definitions that were deleted with their histories; they have no age, and go when nothing is left of
/// their instances.
pub(crate) static PROCESS_DEFINITIONS: Kind = Kind {
    parts: &[
        (&subscription::ENTITY, subscription::DEFINITION_KEY),
        (&agent_definition::ENTITY, agent_definition::DEFINITION_KEY),
        (&duration::ENTITY, duration::DEFINITION_KEY),
    ],
    ..moments("process_definitions", &definition::ENTITY, definition::KEY)
};

/// Requests to delete history, once they are met.
pub(crate) static REQUESTS: Kind = moments("history_deletions", &deletion::ENTITY, deletion::TIME);

/// All of them that have an age. Kinds of the same name share their age.
pub static KINDS: &[&Kind] = &[
    &PROCESS_INSTANCES,
    &DECISIONS,
    &BATCH_OPERATIONS,
    &AUDIT_LOG,
    &USAGE_METRICS,
    &USAGE_ASSIGNEES,
    &JOB_METRICS,
    &DURATIONS,
];

/// Rows that stand alone.
const fn moments(name: &'static str, entity: &'static Entity, end: ColumnId) -> Kind {
    Kind { name, entity, end, owner: None, root: None, definition: None, tenant: None, parts: &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::model::{ENTITIES, EntityId};

    #[test]
    fn everything_of_an_instance_goes_with_it() {
        for entity in ENTITIES {
            let Some(column) = entity.column("processInstanceKey") else { continue };
            let stays =
                matches!(entity.id, EntityId::ProcessInstance | EntityId::BatchItem | EntityId::AuditLog);
            let goes = PROCESS_INSTANCES.parts.iter().any(|(part, by)| part.id == entity.id && *by == column);
            assert!(stays != goes, "{}", entity.name);
        }
    }

    #[test]
    fn what_is_searched_for_has_an_index() {
        let is_indexed = |entity: &Entity, column| {
            entity.id_begins_with == Some(column)
                || entity.indexes.iter().any(|index| index.columns[0] == column)
        };
        for (entity, column) in PROCESS_DEFINITIONS.parts {
            assert!(is_indexed(entity, *column), "{}", entity.name);
        }
        for kind in KINDS {
            for column in std::iter::once(kind.end).chain(kind.root) {
                assert!(is_indexed(kind.entity, column), "{}: {column}", kind.name);
            }
            for (entity, column) in kind.parts {
                assert!(is_indexed(entity, *column), "{}: {}", kind.name, entity.name);
            }
        }
    }
}
