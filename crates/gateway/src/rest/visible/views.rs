//! Views of the engine's state: those that whoever asks may not see are refused, or left out of lists. The match has no
//! default: whoever adds a query says here who may see the answer.

use protocol::{
    CircleKind, FileView, IdentityQuery, IdentityReply, Instances, Key, Name, PermissionType as P, Query,
    QueryReply, ResourceType as R, SourceOf, UserTaskProperty, UserTaskView,
};

use super::{ReadAuthorization, forbidden};
use crate::rest::call::Call;
use crate::rest::problem::Failure;

fn show_file(sight: &ReadAuthorization, view: &FileView) -> Result<(), Failure> {
    sight.show(R::Resource, P::Read, Some(&view.id), &view.tenant_id)
}

/// Errors were counted over what may be seen.
fn check_errors(sight: &ReadAuthorization, query: &Query) -> Result<(), Failure> {
    let Query::Errors { of, .. } = query else { return Err(unknown(query)) };
    if *of != sight.instances() {
        return Err(forbidden(R::ProcessDefinition, P::ReadProcessInstance));
    }
    Ok(())
}

impl Call<'_> {
    /// The process instances that whoever asks may see.
    pub(in crate::rest) async fn visible_instances(&self) -> Result<Instances, Failure> {
        let sight = ReadAuthorization::of(self).await?;
        Ok(sight.map_or_else(Instances::default, |sight| sight.instances()))
    }

    /// Part of an answer that the principal may read.
    pub(in crate::rest) async fn visible(
        &self,
        query: &Query,
        mut reply: QueryReply,
    ) -> Result<QueryReply, Failure> {
        if let Some(sight) = ReadAuthorization::of(self).await? {
            self.restrict(&sight, query, &mut reply).await?;
        }
        Ok(reply)
    }

    async fn restrict(
        &self,
        sight: &ReadAuthorization,
        query: &Query,
        reply: &mut QueryReply,
    ) -> Result<(), Failure> {
        let instance = |process_id: &Name, tenant_id: &Name| {
            sight.show(R::ProcessDefinition, P::ReadProcessInstance, Some(process_id), tenant_id)
        };
        let of_instance = |process_id: &Name, tenant_id: &Name| {
            sight.may(R::ProcessDefinition, P::ReadProcessInstance, Some(process_id))
                && sight.is_of_tenant(tenant_id)
        };
        match reply {
            QueryReply::BatchOperation(_) => sight.show(R::Batch, P::Read, None, "")?,
            QueryReply::BatchOperations(found) => found.retain(|_| sight.may(R::Batch, P::Read, None)),
            QueryReply::BatchItems { items, .. } => items.retain(|_| sight.may(R::Batch, P::Read, None)),
            QueryReply::ProcessInstance(view) => instance(&view.process_id, &view.tenant_id)?,
            QueryReply::ElementInstance(view) => instance(&view.process_id, &view.tenant_id)?,
            QueryReply::Incident(view) => instance(&view.process_id, &view.tenant_id)?,
            QueryReply::Variable(view) => self.check_instance(sight, view.process_instance_key).await?,
            QueryReply::CallHierarchy(_) => {
                let Query::CallHierarchy { process_instance_key } = query else { return Err(unknown(query)) };
                self.check_instance(sight, *process_instance_key).await?;
            }
            QueryReply::ProcessDefinition(view) => sight.show(
                R::ProcessDefinition,
                P::ReadProcessDefinition,
                Some(&view.process_id),
                &view.tenant_id,
            )?,
            QueryReply::Decision(view) => sight.show(
                R::DecisionDefinition,
                P::ReadDecisionDefinition,
                Some(&view.id),
                &view.requirements.tenant_id,
            )?,
            QueryReply::DecisionRequirements(view) => {
                sight.show(R::DecisionRequirementsDefinition, P::Read, Some(&view.id), &view.tenant_id)?;
            }
            QueryReply::Source(_) => {
                let Query::Source { of, key } = query else { return Err(unknown(query)) };
                let key = *key;
                let of = match of {
                    SourceOf::Process => Query::ProcessDefinition { key },
                    SourceOf::Decision => Query::Decision { key },
                    SourceOf::DecisionRequirements => Query::DecisionRequirements { key },
                };
                self.check_other(sight, of).await?;
            }
            QueryReply::StartForm(_) => {
                let Query::StartForm { process_definition_key } = query else { return Err(unknown(query)) };
                self.check_other(sight, Query::ProcessDefinition { key: *process_definition_key }).await?;
            }
            QueryReply::UserTaskForm(_) => {
                let Query::UserTaskForm { key } = query else { return Err(unknown(query)) };
                self.check_other(sight, Query::UserTask { key: *key }).await?;
            }
            QueryReply::Form(view) | QueryReply::Resource(view) => show_file(sight, view)?,
            QueryReply::Resources { resources: all, .. } => all.retain(|it| show_file(sight, it).is_ok()),
            QueryReply::ClusterVariable(view) => {
                let tenant_id = view.tenant_id.clone().unwrap_or_default();
                sight.show(R::ClusterVariable, P::Read, Some(&view.name), &tenant_id)?;
            }
            QueryReply::ClusterVariables { variables, .. } => variables.retain(|view| {
                sight.may(R::ClusterVariable, P::Read, Some(&view.name))
                    && sight.is_of_tenant(view.tenant_id.as_deref().unwrap_or_default())
            }),
            // For expressions, which take a permission of their own.
            QueryReply::ClusterContext(_) => {}
            QueryReply::Scope(view) => instance(&view.process_id, &view.tenant_id)?,
            QueryReply::UserTask(view) => sight.show_task(view)?,
            QueryReply::GlobalListener(view) => {
                sight.show(R::GlobalListener, P::ReadTaskListener, Some(&view.id), "")?;
            }
            QueryReply::GlobalListeners { listeners, .. } => {
                listeners.retain(|view| sight.may(R::GlobalListener, P::ReadTaskListener, Some(&view.id)));
            }
            QueryReply::RunningDefinitions { definitions, .. } => {
                definitions.retain(|view| of_instance(&view.process_id, &view.tenant_id));
            }
            QueryReply::FailingDefinitions { definitions, .. } => {
                definitions.retain(|view| of_instance(&view.process_id, &view.tenant_id));
            }
            QueryReply::Subscriptions { subscriptions, .. } => {
                subscriptions.retain(|view| of_instance(&view.process_id, &view.tenant_id));
            }
            QueryReply::Errors { .. } => check_errors(sight, query)?,
            // Operators see them, at the management port, or this server itself.
            QueryReply::BannedInstances(_) | QueryReply::BatchSearches(_) => return Err(unknown(query)),
            QueryReply::Identity(reply) => restrict_identity(sight, query, reply)?,
        }
        Ok(())
    }

    async fn check_instance(&self, sight: &ReadAuthorization, key: Key) -> Result<(), Failure> {
        self.check_other(sight, Query::ProcessInstance { key }).await
    }

    /// Whether what an answer belongs to may be seen. It may be gone meanwhile, and the answer with it.
    async fn check_other(&self, sight: &ReadAuthorization, query: Query) -> Result<(), Failure> {
        match self.read_unseen(query).await? {
            QueryReply::ProcessInstance(view) => {
                let id = Some(&*view.process_id);
                sight.show(R::ProcessDefinition, P::ReadProcessInstance, id, &view.tenant_id)
            }
            QueryReply::ProcessDefinition(view) => {
                let id = Some(&*view.process_id);
                sight.show(R::ProcessDefinition, P::ReadProcessDefinition, id, &view.tenant_id)
            }
            QueryReply::Decision(view) => {
                let tenant_id = &view.requirements.tenant_id;
                sight.show(R::DecisionDefinition, P::ReadDecisionDefinition, Some(&view.id), tenant_id)
            }
            QueryReply::DecisionRequirements(view) => {
                sight.show(R::DecisionRequirementsDefinition, P::Read, Some(&view.id), &view.tenant_id)
            }
            QueryReply::UserTask(view) => sight.show_task(&view),
            _ => Err(Failure::internal("an answer of another kind")),
        }
    }
}

fn unknown(query: &Query) -> Failure {
    Failure::internal(format!("no read authorization is defined for the query {query:?}"))
}

impl ReadAuthorization {
    /// Refuses what may not be seen.
    fn show(&self, resource: R, permission: P, id: Option<&str>, tenant_id: &str) -> Result<(), Failure> {
        if !self.is_of_tenant(tenant_id) {
            return Err(Failure::not_found(format!(
                "Expected to perform operation '{permission}' on resource '{resource}', but no such resource was found"
            )));
        }
        if self.may(resource, permission, id) { Ok(()) } else { Err(forbidden(resource, permission)) }
    }

    fn show_task(&self, task: &UserTaskView) -> Result<(), Failure> {
        let refused =
            self.show(R::ProcessDefinition, P::ReadUserTask, Some(&task.process_id), &task.tenant_id);
        if refused.is_ok() || !self.is_of_tenant(&task.tenant_id) {
            return refused;
        }
        let key = task.key.to_string();
        let names = |property: &UserTaskProperty| match property {
            UserTaskProperty::Assignee => task.assignee == self.name,
            UserTaskProperty::CandidateUsers => task.candidate_users.contains(&self.name),
            UserTaskProperty::CandidateGroups => {
                task.candidate_groups.iter().any(|group| self.known.grants.groups.contains(group))
            }
        };
        let is_named = self.scopes(R::UserTask, P::Read).any(|scope| match scope {
            protocol::AuthorizationScope::Any => true,
            protocol::AuthorizationScope::Id(id) => **id == *key,
            protocol::AuthorizationScope::Property(property) => names(property),
        });
        if is_named { Ok(()) } else { refused }
    }
}

const fn resource_of(kind: CircleKind) -> R {
    match kind {
        CircleKind::Group => R::Group,
        CircleKind::Role => R::Role,
        CircleKind::Tenant => R::Tenant,
    }
}

fn restrict_identity(
    sight: &ReadAuthorization,
    query: &Query,
    reply: &mut IdentityReply,
) -> Result<(), Failure> {
    let Query::Identity(query) = query else { return Err(unknown(query)) };
    let show = |resource, id: &str| sight.show(resource, P::Read, Some(id), "");
    let sees = |resource, id: &str| sight.may(resource, P::Read, Some(id));
    // Members of a group, role or tenant are readable with the group, role or tenant.
    if let IdentityQuery::Members { kind, circle_id, .. } = query
        && !sees(resource_of(*kind), circle_id)
    {
        match reply {
            IdentityReply::Members(page) => page.items.clear(),
            IdentityReply::Circles(page) => page.items.clear(),
            IdentityReply::MappingRules(page) => page.items.clear(),
            _ => return Err(forbidden(resource_of(*kind), P::Read)),
        }
        return Ok(());
    }
    match reply {
        IdentityReply::User(view) => show(R::User, &view.username),
        IdentityReply::Users(page) => {
            page.items.retain(|view| sees(R::User, &view.username));
            Ok(())
        }
        IdentityReply::Circle(view) => {
            let IdentityQuery::Circle { kind, .. } = query else { return Err(forbidden(R::Group, P::Read)) };
            show(resource_of(*kind), &view.circle.id)
        }
        IdentityReply::Circles(page) => {
            if let IdentityQuery::Circles { kind, .. } | IdentityQuery::CirclesOf { kind, .. } = query {
                page.items.retain(|view| sees(resource_of(*kind), &view.circle.id));
            }
            Ok(())
        }
        IdentityReply::MappingRule(rule) => show(R::MappingRule, &rule.id),
        IdentityReply::MappingRules(page) => {
            if matches!(query, IdentityQuery::MappingRules { .. }) {
                page.items.retain(|rule| sees(R::MappingRule, &rule.id));
            }
            Ok(())
        }
        IdentityReply::Authorization(view) => show(R::Authorization, &view.key.to_string()),
        IdentityReply::Authorizations(page) => {
            page.items.retain(|view| sees(R::Authorization, &view.key.to_string()));
            Ok(())
        }
        // The circle was looked at already; whether there is an administrator everybody may know; whose views are asked
        // for, the gateway says.
        IdentityReply::Members(_) | IdentityReply::HadAdministrator(_) | IdentityReply::SavedViews(_) => {
            Ok(())
        }
        IdentityReply::PasswordHash(_) | IdentityReply::Grants(_) | IdentityReply::GrantsVersion(_) => {
            Err(forbidden(R::User, P::Read))
        }
    }
}
