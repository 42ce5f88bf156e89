//! Permissions that each command requires. The match has no default, so that a new command has its line.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use protocol::{
    BatchAction, BatchOperationType, Caller, CircleKind, ClusterVariable, ClusterVariableAction, Command,
    DefinitionRef, DeleteHistory, DeleteResource, EvaluateDecision, GlobalListenerCommand, HistoryKind,
    IdentityCommand, Key, MigrateInstance, MigrationPlan, Name, PermissionType as P, ResourceType as R,
    SetVariables, UserTaskOperation, UserTaskProperty,
};
use state::StateError;

use super::need::{Need, RequiredPermissions};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::entity::DefinitionKind;
use crate::user_task::row::UserTask;

/// Most subscriptions that a broadcast's permissions are derived from.
const WAITING_MAX: usize = 100_000;

/// The permission for the clock and for changes of the cluster.
fn update_of_system() -> Need {
    Need::any(R::System, P::Update)
}

impl CommandContext<'_> {
    /// Permissions that a command requires; `None` if it requires none, or if its subject does not exist, which the
    /// command reports itself.
    pub(super) fn required_permissions(
        &mut self,
        command: &Command,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let new = |tenant_id: &Name, need| Ok(Some(RequiredPermissions::to_create(tenant_id, need)));
        let cluster = |need| Ok(Some(RequiredPermissions::new(None, need)));
        let on = |key: &Key, permission| self.of_instance(*key, permission);
        match command.asked() {
            // Of the leader and of operators.
            Command::Tick
            | Command::Continue { .. }
            | Command::YieldJobs { .. }
            | Command::AcknowledgeExport { .. }
            | Command::AcknowledgeMessages { .. }
            | Command::Receive(_)
            | Command::ForgetExporter { .. }
            | Command::ParkRecord(_)
            | Command::UnparkRecords { .. }
            | Command::Unban { .. }
            | Command::Configure { .. }
            | Command::ActivateVersion { .. }
            | Command::AddBatchItems(_)
            | Command::Asked { .. }
            | Command::Idempotent { .. } => Ok(None),
            Command::Deploy(deploy) => new(&deploy.tenant_id, Need::any(R::Resource, P::Create)),
            Command::DeleteResource(delete) => self.demands_of_resource(delete),
            Command::DeleteHistory(delete) => Ok(Some(demands_of_history(delete))),
            Command::CreateInstance(create) => {
                self.demands_of_creation(&create.definition, &create.tenant_id, caller)
            }
            Command::CancelInstance { process_instance_key: key, .. } => on(key, P::CancelProcessInstance),
            Command::SuspendInstance { process_instance_key: key, .. }
            | Command::ResumeInstance { process_instance_key: key, .. } => on(key, P::SuspendProcessInstance),
            Command::AssignBusinessId { process_instance_key: key, .. } => on(key, P::UpdateProcessInstance),
            Command::CompleteJob(complete) => self.demands_of_job(complete.job_key),
            Command::FailJob(fail) => self.demands_of_job(fail.job_key),
            Command::ThrowError(throw) => self.demands_of_job(throw.job_key),
            Command::UpdateJob(update) => self.demands_of_job(update.job_key),
            Command::PublishMessage(publish) => new(&publish.tenant_id, Need::any(R::Message, P::Create)),
            Command::CorrelateMessage(correlate) => {
                new(&correlate.tenant_id, Need::any(R::Message, P::Create))
            }
            Command::BroadcastSignal(broadcast) => {
                self.demands_of_signal(&broadcast.name, &broadcast.tenant_id, caller)
            }
            Command::EvaluateConditionals(evaluate) => {
                self.demands_of_conditionals(&evaluate.tenant_id, evaluate.definition_key, caller)
            }
            Command::ResolveIncident { incident_key, .. } => {
                let Some(incident) = self.tables.incidents.get(incident_key)? else { return Ok(None) };
                self.of_instance(incident.process_instance_key, P::UpdateProcessInstance)
            }
            Command::SetVariables(set) => self.demands_of_variables(set, caller),
            Command::Clock(_) | Command::Purge { .. } | Command::EndChange(_) => cluster(update_of_system()),
            Command::ActivateAdHoc(activate) => {
                self.of_element(activate.element_instance_key, P::UpdateProcessInstance)
            }
            Command::CreateAgentInstance(create) => {
                self.of_element(create.element_instance_key, P::UpdateProcessInstance)
            }
            Command::UpdateAgentInstance(update) => self.demands_of_agent(update.agent_instance_key),
            Command::MigrateInstance(migrate) => self.demands_of_migration(migrate, caller),
            Command::ModifyInstance(modify) => on(&modify.process_instance_key, P::ModifyProcessInstance),
            Command::CreateBatchOperation(create) => self.demands_of_action(&create.action, caller),
            Command::ChangeBatchOperation { .. } => cluster(Need::any(R::Batch, P::Update)),
            Command::ResolveInstanceIncidents { process_instance_key: key } => {
                self.demands_of_resolution(*key)
            }
            Command::EvaluateDecision(evaluate) => self.demands_of_decision(evaluate, caller),
            Command::UserTask(command) => {
                self.demands_of_task(command.user_task_key, &command.operation, caller)
            }
            Command::GlobalListener(command) => Ok(demands_of_listener(command)),
            Command::ClusterVariable(variable) => Ok(Some(demands_of_cluster_variable(variable))),
            Command::Identity(command) => Ok(demands_of_identity(command)),
        }
    }

    fn demands_of_agent(&mut self, agent_instance_key: Key) -> Result<Option<RequiredPermissions>, Failure> {
        let Some(agent) = self.tables.agent_instances.get(&agent_instance_key)? else { return Ok(None) };
        self.of_instance(agent.process_instance_key, P::UpdateProcessInstance)
    }

    /// All incidents of an instance, which are resolved by a batch operation.
    fn demands_of_resolution(
        &mut self,
        process_instance_key: Key,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let instance = self.tables.instances.get(&process_instance_key)?;
        let tenant_id = instance.map(|instance| instance.tenant_id.clone());
        let batch = demands_of_batch(BatchOperationType::ResolveIncident);
        Ok(Some(RequiredPermissions { tenant_id, is_new: false, ..batch }))
    }

    /// The creation of a batch operation; a migration needs the target, too.
    fn demands_of_action(
        &mut self,
        action: &BatchAction,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let mut required = demands_of_batch(action.kind());
        if let BatchAction::Migrate(plan) = action {
            required.permissions.extend(self.needs_of_target(plan, caller)?);
        }
        Ok(Some(required))
    }

    /// A permission for the process of an instance.
    fn of_instance(&self, key: Key, permission: P) -> Result<Option<RequiredPermissions>, Failure> {
        Ok(self.tables.instances.get(&key)?.map(|instance| {
            let need = Need::process(permission, &instance.process_id);
            RequiredPermissions::new(Some(instance.tenant_id.clone()), need)
        }))
    }

    fn demands_of_migration(
        &mut self,
        migrate: &MigrateInstance,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let of_source = self.of_instance(migrate.process_instance_key, P::UpdateProcessInstance)?;
        let Some(mut required) = of_source else { return Ok(None) };
        required.permissions.extend(self.needs_of_target(&migrate.plan, caller)?);
        Ok(Some(required))
    }

    /// A migrated instance requires the permission of the target process, too. Of a definition that is not
    /// there for whoever asks, the migration tells itself.
    fn needs_of_target(
        &mut self,
        plan: &MigrationPlan,
        caller: &Caller,
    ) -> Result<Option<Vec<Need>>, StateError> {
        let Some(target) = self.tables.definitions.get(&plan.target_definition_key)? else { return Ok(None) };
        let is_known = self.knows_tenant(caller, &target.tenant_id)?;
        Ok(is_known.then(|| vec![Need::process(P::UpdateProcessInstance, &target.process_id)]))
    }

    fn of_element(&self, key: Key, permission: P) -> Result<Option<RequiredPermissions>, Failure> {
        match self.tables.element_instances.get(&key)? {
            Some(row) => self.of_instance(row.process_instance_key, permission),
            None => Ok(None),
        }
    }

    fn demands_of_job(&self, key: Key) -> Result<Option<RequiredPermissions>, Failure> {
        match self.tables.jobs.get(&key)? {
            Some(job) => self.of_instance(job.process_instance_key, P::UpdateProcessInstance),
            None => Ok(None),
        }
    }

    /// Histories of instances are deleted one by one for whoever may; here it is enough to be allowed to ask for that.
    fn demands_of_resource(&self, delete: &DeleteResource) -> Result<Option<RequiredPermissions>, Failure> {
        let key = delete.resource_key;
        let required = |tenant_id: &Name, permission, id: &Name| {
            Ok(Some(RequiredPermissions::new(
                Some(tenant_id.clone()),
                Need::of(R::Resource, permission, id.clone()),
            )))
        };
        let with_history = |required: Result<Option<RequiredPermissions>, Failure>, kind| {
            let mut required = required?;
            if let Some(required) = required.as_mut().filter(|_| delete.delete_history) {
                required.permissions.push(needs_of_batch(kind));
            }
            Ok(required)
        };
        if let Some(definition) = self.tables.definitions.get(&key)? {
            let required = required(&definition.tenant_id, P::DeleteProcess, &definition.process_id);
            return with_history(required, BatchOperationType::DeleteProcessDefinition);
        }
        if let Some(graph) = self.tables.decision_requirements.get(&key)? {
            let required = required(&graph.tenant_id, P::DeleteDrd, &graph.id);
            return with_history(required, BatchOperationType::DeleteDecisionDefinition);
        }
        for (kind, permission) in
            [(DefinitionKind::Form, P::DeleteForm), (DefinitionKind::Resource, P::DeleteResource)]
        {
            if let Some(file) = self.stored_file(kind, key)? {
                return required(&file.tenant_id, permission, &file.id);
            }
        }
        Ok(None)
    }

    fn demands_of_creation(
        &mut self,
        reference: &DefinitionRef,
        tenant_id: &Name,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let definition = match self.find_definition(reference, tenant_id) {
            Ok((_, definition)) => definition,
            Err(Failure::Rejected(_)) => {
                return self.nothing_but_tenant(
                    tenant_id,
                    Need::any(R::ProcessDefinition, P::CreateProcessInstance),
                    caller,
                );
            }
            Err(failure) => return Err(failure),
        };
        let need = Need::process(P::CreateProcessInstance, &definition.process_id);
        Ok(Some(RequiredPermissions::new(Some(definition.tenant_id.clone()), need)))
    }

    fn demands_of_decision(
        &mut self,
        evaluate: &EvaluateDecision,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let decision = match self.find_decision(&evaluate.decision, &evaluate.tenant_id) {
            Ok((_, decision)) => decision,
            Err(Failure::Rejected(_)) => {
                return self.nothing_but_tenant(
                    &evaluate.tenant_id,
                    Need::any(R::DecisionDefinition, P::CreateDecisionInstance),
                    caller,
                );
            }
            Err(failure) => return Err(failure),
        };
        let need = Need::of(R::DecisionDefinition, P::CreateDecisionInstance, decision.id.clone());
        Ok(Some(RequiredPermissions::new(Some(decision.tenant_id.clone()), need)))
    }

    /// The subject does not exist. Principals outside of the tenant must not learn even that.
    fn nothing_but_tenant(
        &mut self,
        tenant_id: &Name,
        need: Need,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let mut unchecked = caller.clone();
        unchecked.checks_authorizations = false;
        self.check_permissions(&unchecked, &RequiredPermissions::new(Some(tenant_id.clone()), need))?;
        Ok(None)
    }

    /// A signal starts and goes on with processes; each of them takes a permission. One that reaches none takes
    /// either of these for one process at least.
    fn demands_of_signal(
        &mut self,
        name: &Name,
        tenant_id: &Name,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let all = [P::UpdateProcessInstance, P::CreateProcessInstance];
        let mut permissions = Vec::new();
        for permission in all {
            let need = Need::any(R::ProcessDefinition, permission);
            // A permission for all processes needs no check of each.
            if caller.checks_authorizations && !self.is_allowed(&caller.principal, &need)? {
                let ids = if permission == P::CreateProcessInstance {
                    self.started_by_signal(name, tenant_id)?
                } else {
                    self.waiting_for_signal(name, tenant_id)?
                };
                permissions.extend(ids.iter().map(|id| vec![Need::process(permission, id)]));
            }
        }
        if permissions.is_empty() {
            permissions.push(all.map(|permission| Need::any_one(R::ProcessDefinition, permission)).into());
        }
        Ok(Some(RequiredPermissions { tenant_id: Some(tenant_id.clone()), is_new: true, permissions }))
    }

    fn started_by_signal(&self, name: &Name, tenant_id: &Name) -> Result<BTreeSet<Name>, StateError> {
        let from = (tenant_id.0.clone(), name.0.clone(), std::sync::Arc::from(""), 0);
        let mut ids = BTreeSet::new();
        self.tables.signal_starts.visit(from.., |key, _| {
            if key.0 != tenant_id.0 || key.1 != name.0 {
                return ControlFlow::Break(());
            }
            ids.insert(Name(key.2.clone()));
            ControlFlow::Continue(())
        })?;
        Ok(ids)
    }

    fn waiting_for_signal(&self, name: &Name, tenant_id: &Name) -> Result<BTreeSet<Name>, StateError> {
        let of = |key| (tenant_id.0.clone(), name.0.clone(), key);
        let keys = self.tables.signal_by_name.keys(of(0)..=of(Key::MAX), WAITING_MAX)?;
        let mut ids = BTreeSet::new();
        for (_, _, key) in keys {
            if let Some(row) = self.tables.signal_subscriptions.get(&key)? {
                ids.insert(row.process_id.clone());
            }
        }
        Ok(ids)
    }

    /// All processes whose conditions are evaluated.
    fn demands_of_conditionals(
        &mut self,
        tenant_id: &Name,
        definition_key: Option<Key>,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let any = Need::any(R::ProcessDefinition, P::CreateProcessInstance);
        self.nothing_but_tenant(tenant_id, any, caller)?;
        let range = match definition_key {
            Some(key) => (key, 0)..=(key, u32::MAX),
            None => (0, 0)..=(Key::MAX, u32::MAX),
        };
        let mut ids = BTreeSet::new();
        let mut slices = Slices::of(range);
        while let Some(starts) = slices.keys(&self.tables.condition_starts)? {
            for (key, _) in starts {
                if let Some(definition) = self.tables.definitions.get(&key)?
                    && definition.tenant_id == *tenant_id
                {
                    ids.insert(definition.process_id.clone());
                }
            }
        }
        let permissions = ids.iter().map(|id| vec![Need::process(P::CreateProcessInstance, id)]).collect();
        Ok(Some(RequiredPermissions { tenant_id: Some(tenant_id.clone()), is_new: false, permissions }))
    }

    fn demands_of_variables(
        &mut self,
        set: &SetVariables,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let Some(row) = self.tables.element_instances.get(&set.element_instance_key)? else {
            return Ok(None);
        };
        let Some(mut required) = self.of_instance(row.process_instance_key, P::UpdateProcessInstance)? else {
            return Ok(None);
        };
        if let Some(task_key) = row.user_task_key.filter(|_| set.local)
            && let Some(task) = self.tables.user_tasks.get(&task_key)?
            && let Some(of_task) = self.of_task(task_key, &task, &[(P::UpdateUserTask, P::Update)], caller)?
        {
            for (any_of, more) in required.permissions.iter_mut().zip(of_task.permissions) {
                any_of.extend(more);
            }
        }
        Ok(Some(required))
    }

    fn demands_of_task(
        &mut self,
        key: Key,
        operation: &UserTaskOperation,
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let Some(task) = self.tables.user_tasks.get(&key)? else { return Ok(None) };
        let update = (P::UpdateUserTask, P::Update);
        match operation {
            // A claim is for oneself.
            UserTaskOperation::Assign { assignee, allow_override: false }
                if *assignee == caller.principal.id =>
            {
                self.of_task(key, &task, &[(P::ClaimUserTask, P::Claim), update], caller)
            }
            UserTaskOperation::Assign { .. } | UserTaskOperation::Update(_) => {
                self.of_task(key, &task, &[update], caller)
            }
            UserTaskOperation::Complete { .. } => {
                self.of_task(key, &task, &[(P::CompleteUserTask, P::Complete), update], caller)
            }
        }
    }

    /// One of the permissions for all tasks of the process, or for the task itself.
    fn of_task(
        &mut self,
        key: Key,
        task: &UserTask,
        any_of: &[(P, P)],
        caller: &Caller,
    ) -> Result<Option<RequiredPermissions>, Failure> {
        let Some(instance) = self.tables.instances.get(&task.process_instance_key)? else { return Ok(None) };
        let standing = self.memberships_of(&caller.principal)?;
        let attributes = &task.attributes;
        let user = &caller.principal.id;
        let names = [
            (UserTaskProperty::Assignee, attributes.assignee == *user),
            (UserTaskProperty::CandidateUsers, attributes.candidate_users.contains(user)),
            (
                UserTaskProperty::CandidateGroups,
                attributes.candidate_groups.iter().any(|group| standing.groups.contains(group)),
            ),
        ];
        let properties: Vec<_> = names.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
        let mut needs: Vec<_> =
            any_of.iter().map(|(permission, _)| Need::process(*permission, &instance.process_id)).collect();
        needs.extend(any_of.iter().map(|(_, permission)| Need {
            properties: properties.clone(),
            ..Need::of(R::UserTask, *permission, &*key.to_string())
        }));
        Ok(Some(RequiredPermissions {
            tenant_id: Some(instance.tenant_id.clone()),
            is_new: false,
            permissions: vec![needs],
        }))
    }
}

/// The history of an instance belongs to its definition.
fn demands_of_history(delete: &DeleteHistory) -> RequiredPermissions {
    let id = delete.definition_id.clone();
    let need = match delete.kind {
        HistoryKind::ProcessInstance => Need::process(P::DeleteProcessInstance, &id),
        HistoryKind::DecisionInstance => Need::of(R::DecisionDefinition, P::DeleteDecisionInstance, id),
    };
    RequiredPermissions::new(Some(delete.tenant_id.clone()), need)
}

fn demands_of_batch(kind: BatchOperationType) -> RequiredPermissions {
    RequiredPermissions { tenant_id: None, is_new: true, permissions: vec![needs_of_batch(kind)] }
}

fn needs_of_batch(kind: BatchOperationType) -> Vec<Need> {
    let permission = match kind {
        BatchOperationType::CancelProcessInstance => P::CreateBatchOperationCancelProcessInstance,
        BatchOperationType::SuspendProcessInstance | BatchOperationType::ResumeProcessInstance => {
            P::CreateBatchOperationSuspendProcessInstance
        }
        BatchOperationType::UpdateJob => P::CreateBatchOperationUpdateJob,
        BatchOperationType::ResolveIncident => P::CreateBatchOperationResolveIncident,
        BatchOperationType::MigrateProcessInstance => P::CreateBatchOperationMigrateProcessInstance,
        BatchOperationType::ModifyProcessInstance => P::CreateBatchOperationModifyProcessInstance,
        BatchOperationType::DeleteProcessInstance => P::CreateBatchOperationDeleteProcessInstance,
        BatchOperationType::DeleteDecisionInstance => P::CreateBatchOperationDeleteDecisionInstance,
        BatchOperationType::DeleteProcessDefinition => P::CreateBatchOperationDeleteProcessDefinition,
        BatchOperationType::DeleteDecisionDefinition => P::CreateBatchOperationDeleteDecisionDefinition,
    };
    vec![Need::any(R::Batch, permission), Need::any(R::Batch, P::Create)]
}

fn demands_of_listener(command: &GlobalListenerCommand) -> Option<RequiredPermissions> {
    let permission = match command {
        // Entities of the configuration.
        GlobalListenerCommand::Configure(_) => return None,
        GlobalListenerCommand::Create(_) => P::CreateTaskListener,
        GlobalListenerCommand::Update(_) => P::UpdateTaskListener,
        GlobalListenerCommand::Delete { .. } => P::DeleteTaskListener,
    };
    Some(RequiredPermissions::new(None, Need::any(R::GlobalListener, permission)))
}

fn demands_of_cluster_variable(variable: &ClusterVariable) -> RequiredPermissions {
    let permission = match variable.action {
        ClusterVariableAction::Create => P::Create,
        ClusterVariableAction::Update => P::Update,
        ClusterVariableAction::Delete => P::Delete,
    };
    let need = Need::of(R::ClusterVariable, permission, variable.name.clone());
    RequiredPermissions::new(variable.tenant_id.clone(), need)
}

fn demands_of_identity(command: &IdentityCommand) -> Option<RequiredPermissions> {
    let circle = |kind: CircleKind| match kind {
        CircleKind::Group => R::Group,
        CircleKind::Role => R::Role,
        CircleKind::Tenant => R::Tenant,
    };
    let need = match command {
        // The first administrator needs no permission: there is none yet. Views are changed by their owner alone.
        IdentityCommand::SetUp | IdentityCommand::CreateAdministrator(_) | IdentityCommand::SavedView(_) => {
            return None;
        }
        IdentityCommand::CreateUser(_) => Need::any(R::User, P::Create),
        IdentityCommand::UpdateUser(change) => Need::of(R::User, P::Update, change.username.clone()),
        IdentityCommand::DeleteUser { username } => Need::of(R::User, P::Delete, username.clone()),
        IdentityCommand::CreateMappingRule(_) => Need::any(R::MappingRule, P::Create),
        IdentityCommand::UpdateMappingRule(rule) => Need::of(R::MappingRule, P::Update, rule.id.clone()),
        IdentityCommand::DeleteMappingRule { id } => Need::of(R::MappingRule, P::Delete, id.clone()),
        IdentityCommand::CreateCircle { kind, .. } => Need::any(circle(*kind), P::Create),
        IdentityCommand::UpdateCircle { kind, circle: change } => {
            Need::of(circle(*kind), P::Update, change.id.clone())
        }
        IdentityCommand::DeleteCircle { kind, id } => Need::of(circle(*kind), P::Delete, id.clone()),
        IdentityCommand::AddMember(membership) | IdentityCommand::RemoveMember(membership) => {
            Need::of(circle(membership.kind), P::Update, membership.circle_id.clone())
        }
        IdentityCommand::CreateAuthorization(_) => Need::any(R::Authorization, P::Create),
        IdentityCommand::UpdateAuthorization { authorization_key, .. } => {
            Need::of(R::Authorization, P::Update, &*authorization_key.to_string())
        }
        IdentityCommand::DeleteAuthorization { authorization_key } => {
            Need::of(R::Authorization, P::Delete, &*authorization_key.to_string())
        }
    };
    Some(RequiredPermissions::new(None, need))
}
