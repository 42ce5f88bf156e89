//! Filters on rows of secondary storage. The match over the entities has no default: whoever adds one says here who
//! may see its rows.

use std::sync::Arc;

use protocol::{AuthorizationScope, PermissionType as P, ResourceType as R, UserTaskProperty};
use search::model::{
    ColumnId, Entity, EntityId, agent_definition, agent_history, agent_instance, audit_log,
    correlated_message_subscription, decision_definition, decision_instance, decision_requirements,
    element_count, element_duration, element_instance, form, incident, instance_step, job, job_metric,
    message_subscription, process_definition, process_instance, sequence_flow, usage_assignee, usage_metric,
    user_task, variable, wait_state,
};
use search::{EntityRef, Filter, Related};
use search::{Operand, Test};

use super::ReadAuthorization;
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Read permission for the rows of an entity.
struct Rule {
    /// Which permission it takes, and the column with the ID that it may be limited to.
    permission: Option<(R, P, Option<ColumnId>)>,
    tenant: Option<ColumnId>,
}

fn rule(entity: EntityId) -> Rule {
    let instances =
        |id, tenant| (Some((R::ProcessDefinition, P::ReadProcessInstance, Some(id))), Some(tenant));
    let (permission, tenant) = match entity {
        EntityId::ProcessInstance => instances(process_instance::PROCESS_ID, process_instance::TENANT),
        EntityId::ElementInstance => instances(element_instance::PROCESS_ID, element_instance::TENANT),
        EntityId::ElementCount => instances(element_count::PROCESS_ID, element_count::TENANT),
        EntityId::ElementDuration => instances(element_duration::PROCESS_ID, element_duration::TENANT),
        EntityId::SequenceFlow => instances(sequence_flow::PROCESS_ID, sequence_flow::TENANT),
        EntityId::Variable => instances(variable::PROCESS_ID, variable::TENANT),
        EntityId::Incident => instances(incident::PROCESS_ID, incident::TENANT),
        EntityId::Job => instances(job::PROCESS_ID, job::TENANT),
        EntityId::MessageSubscription => {
            instances(message_subscription::PROCESS_ID, message_subscription::TENANT)
        }
        EntityId::CorrelatedMessage => {
            instances(correlated_message_subscription::PROCESS_ID, correlated_message_subscription::TENANT)
        }
        EntityId::AgentDefinition => (
            Some((R::ProcessDefinition, P::ReadProcessDefinition, Some(agent_definition::PROCESS_ID))),
            Some(agent_definition::TENANT),
        ),
        EntityId::AgentInstance => instances(agent_instance::PROCESS_ID, agent_instance::TENANT),
        EntityId::AgentHistory => instances(agent_history::PROCESS_ID, agent_history::TENANT),
        EntityId::InstanceStep => instances(instance_step::PROCESS_ID, instance_step::TENANT),
        EntityId::WaitState => instances(wait_state::PROCESS_ID, wait_state::TENANT),
        EntityId::UserTask => (
            Some((R::ProcessDefinition, P::ReadUserTask, Some(user_task::PROCESS_ID))),
            Some(user_task::TENANT),
        ),
        EntityId::ProcessDefinition => (
            Some((R::ProcessDefinition, P::ReadProcessDefinition, Some(process_definition::PROCESS_ID))),
            Some(process_definition::TENANT),
        ),
        EntityId::DecisionDefinition => (
            Some((R::DecisionDefinition, P::ReadDecisionDefinition, Some(decision_definition::DECISION_ID))),
            Some(decision_definition::TENANT),
        ),
        EntityId::DecisionRequirements => (
            Some((R::DecisionRequirementsDefinition, P::Read, Some(decision_requirements::REQUIREMENTS_ID))),
            Some(decision_requirements::TENANT),
        ),
        EntityId::DecisionInstance => (
            Some((R::DecisionDefinition, P::ReadDecisionInstance, Some(decision_instance::DECISION_ID))),
            Some(decision_instance::TENANT),
        ),
        EntityId::BatchOperation | EntityId::BatchItem => (Some((R::Batch, P::Read, None)), None),
        EntityId::AuditLog => {
            (Some((R::AuditLog, P::Read, Some(audit_log::CATEGORY))), Some(audit_log::TENANT))
        }
        // Shown by operations that check who may see what they belong to.
        EntityId::Form => (None, Some(form::TENANT)),
        EntityId::JobMetric => (None, Some(job_metric::TENANT)),
        EntityId::UsageMetric => (None, Some(usage_metric::TENANT)),
        EntityId::UsageAssignee => (None, Some(usage_assignee::TENANT)),
        // Of the sweeper alone.
        EntityId::HistoryDeletion => (None, None),
    };
    Rule { permission, tenant }
}

fn text(text: impl AsRef<str>) -> Operand {
    Operand::Text(text.as_ref().into())
}

impl ReadAuthorization {
    /// The rows of an entity that may be known to exist.
    pub(super) fn tenant_filter(&self, entity: EntityId) -> Filter {
        let Some(column) = rule(entity).tenant.filter(|_| self.tenants) else { return Filter::everything() };
        // Entities without a tenant are open to all. Sorted, as grants are.
        let mut tenants = vec![text("")];
        tenants.extend(self.known.grants.tenants.iter().map(text));
        Filter::Any(vec![
            Filter::Column(column, Test::In(tenants)),
            Filter::Column(column, Test::Exists(false)),
        ])
    }

    /// The rows of an entity that may be seen.
    fn filter(&self, entity: EntityId) -> Filter {
        let of_tenant = self.tenant_filter(entity);
        match self.permitted(entity) {
            permitted if permitted == Filter::everything() => of_tenant,
            permitted => of_tenant.and(permitted),
        }
    }

    fn permitted(&self, entity: EntityId) -> Filter {
        let Some((resource, permission, column)) = rule(entity).permission else {
            return Filter::everything();
        };
        if self.may(resource, permission, None) {
            return Filter::everything();
        }
        let mut any = Vec::new();
        let mut ids: Vec<_> =
            self.scopes(resource, permission).filter_map(AuthorizationScope::resource_id).map(text).collect();
        ids.sort_unstable();
        ids.dedup();
        if let Some(column) = column.filter(|_| !ids.is_empty()) {
            any.push(Filter::Column(column, Test::In(ids)));
        }
        match entity {
            EntityId::UserTask => match self.tasks_for_themselves(user_task::KEY) {
                None => return Filter::everything(),
                Some((of_keys, named)) => any.extend(of_keys.into_iter().chain(named)),
            },
            EntityId::AuditLog => any.extend(self.log_of_visible()),
            _ => {}
        }
        Filter::Any(any)
    }

    /// User tasks that may be seen for themselves: those of some keys, which are in a column, and those that name
    /// whoever asks. `None`: all.
    fn tasks_for_themselves(&self, key_column: ColumnId) -> Option<(Vec<Filter>, Vec<Filter>)> {
        let (mut of_keys, mut named) = (Vec::new(), Vec::new());
        for scope in self.scopes(R::UserTask, P::Read) {
            match scope {
                AuthorizationScope::Any => return None,
                AuthorizationScope::Id(key) => of_keys.extend(
                    key.parse()
                        .ok()
                        .map(|key| Filter::Column(key_column, Test::Equal(Operand::Integer(key)))),
                ),
                AuthorizationScope::Property(property) => named.extend(self.named_by(*property)),
            }
        }
        Some((of_keys, named))
    }

    /// Entries of the audit log about what may be seen: whoever sees an instance sees what was done with it and its
    /// tasks, whoever sees a task what was done with that.
    fn log_of_visible(&self) -> Vec<Filter> {
        let is = |column, value: &str| Filter::Column(column, Test::Equal(text(value)));
        let of_tasks = || is(audit_log::CATEGORY, "USER_TASKS");
        let of_instances = || {
            let categories = vec![text("DEPLOYED_RESOURCES"), text("USER_TASKS")];
            Filter::Column(audit_log::CATEGORY, Test::In(categories))
                .and(Filter::Column(audit_log::INSTANCE_KEY, Test::Exists(true)))
        };
        let mut any = Vec::new();
        let mut of_processes = |permission, entries: Filter| {
            let mut ids = Vec::new();
            for scope in self.scopes(R::ProcessDefinition, permission) {
                match scope {
                    AuthorizationScope::Any => return any.push(entries),
                    AuthorizationScope::Id(id) => ids.push(text(id)),
                    AuthorizationScope::Property(_) => {}
                }
            }
            ids.sort_unstable();
            ids.dedup();
            if !ids.is_empty() {
                any.push(entries.and(Filter::Column(audit_log::PROCESS_ID, Test::In(ids))));
            }
        };
        of_processes(P::ReadProcessInstance, of_instances());
        of_processes(P::ReadUserTask, of_tasks());
        match self.tasks_for_themselves(audit_log::USER_TASK_KEY) {
            None => any.push(of_tasks()),
            Some((of_keys, named)) => {
                any.extend(of_keys);
                if !named.is_empty() {
                    any.push(Filter::Related(Box::new(Related {
                        column: audit_log::USER_TASK_KEY,
                        entity: EntityRef(&user_task::ENTITY),
                        other: user_task::KEY,
                        filter: Filter::Any(named),
                        exists: true,
                    })));
                }
            }
        }
        any
    }

    /// User tasks whose property names whoever asks.
    fn named_by(&self, property: UserTaskProperty) -> Vec<Filter> {
        let is = |column, name: &str| Filter::Column(column, Test::Equal(text(name)));
        match property {
            UserTaskProperty::Assignee => vec![is(user_task::ASSIGNEE, &self.name)],
            UserTaskProperty::CandidateUsers => vec![is(user_task::CANDIDATE_USERS, &self.name)],
            UserTaskProperty::CandidateGroups => {
                let groups = self.known.grants.groups.iter();
                groups.map(|group| is(user_task::CANDIDATE_GROUPS, group)).collect()
            }
        }
    }
}

impl Call<'_> {
    /// The rows of an entity that whoever asks may see.
    pub(in crate::rest) async fn visible_rows(&self, entity: &Entity) -> Result<Filter, Failure> {
        let Some(sight) = ReadAuthorization::of(self).await? else { return Ok(Filter::everything()) };
        let filter = sight.known.filter(entity.id, || sight.filter(entity.id));
        Ok(Arc::unwrap_or_clone(filter))
    }

    /// The rows of an entity that are of tenants of whoever asks.
    pub(in crate::rest) async fn rows_of_tenants(&self, entity: &Entity) -> Result<Filter, Failure> {
        let sight = ReadAuthorization::of(self).await?;
        Ok(sight.map_or_else(Filter::everything, |sight| sight.tenant_filter(entity.id)))
    }

    /// The rows of an entity that whoever asks may know to exist, if it may not see them all.
    pub(in crate::rest) async fn known_rows(
        &self,
        entity: &Entity,
    ) -> Result<Option<(Filter, Failure)>, Failure> {
        let Some(sight) = ReadAuthorization::of(self).await?.filter(|sight| sight.authorizations) else {
            return Ok(None);
        };
        let Some((resource, permission, _)) = rule(entity.id).permission else { return Ok(None) };
        Ok(Some((sight.tenant_filter(entity.id), super::forbidden(resource, permission))))
    }
}
