//! How many entries a command has: variables, instructions, elements and whatever else a client lists in it. Each is
//! work that no other limit bounds, since an entry may take two bytes.

use super::Command;
use crate::{
    ActivateElement, BatchAction, CreateInstance, Document, ENTRIES_SETTING, GlobalListenerCommand,
    IdentityCommand, JobResult, MigrationPlan, MoveElement, Rejection, ScopeVariables, UserTaskChanges,
    UserTaskOperation,
};

/// Counts entries, and remembers the field with the most of them.
#[derive(Debug, Default)]
struct EntryCounts {
    total: usize,
    longest: Option<(&'static str, usize)>,
}

impl EntryCounts {
    fn add(&mut self, field: &'static str, entries: usize) {
        self.total += entries;
        if self.longest.is_none_or(|(_, most)| entries > most) {
            self.longest = Some((field, entries));
        }
    }

    fn variables(&mut self, variables: &Document) {
        self.add("variables", variables.len());
    }

    fn elements(&mut self, field: &'static str, elements: &[ActivateElement]) {
        self.add(field, elements.iter().map(|element| 1 + element.variables.len()).sum());
    }

    fn moves(&mut self, moves: &[MoveElement]) {
        self.add("moveInstructions", moves.iter().map(|one| 1 + scopes(&one.variables)).sum());
    }

    fn changes(&mut self, changes: &UserTaskChanges) {
        self.add("candidateUsers", changes.candidate_users.as_ref().map_or(0, Vec::len));
        self.add("candidateGroups", changes.candidate_groups.as_ref().map_or(0, Vec::len));
    }

    fn creation(&mut self, create: &CreateInstance) {
        self.add("tags", create.tags.len());
        self.add("startInstructions", create.start_before.len());
        self.add("runtimeInstructions", create.terminate_after.len());
        let fetched = create.await_result.as_ref().map_or(0, |wait| wait.fetch_variables.len());
        self.add("fetchVariables", fetched);
    }

    fn result(&mut self, result: Option<&JobResult>) {
        match result {
            None => {}
            Some(JobResult::UserTask { corrections, .. }) => self.changes(corrections),
            Some(JobResult::AdHocSubProcess { activate_elements, .. }) => {
                self.elements("result.activateElements", activate_elements);
            }
        }
    }

    fn plan(&mut self, plan: &MigrationPlan) {
        self.add("mappingInstructions", plan.mappings.len());
    }

    fn action(&mut self, action: &BatchAction) {
        match action {
            BatchAction::Migrate(plan) => self.plan(plan),
            BatchAction::Modify(moves) => self.moves(moves),
            BatchAction::Cancel
            | BatchAction::Resolve
            | BatchAction::DeleteHistory(_)
            | BatchAction::DeleteWithResource(_)
            | BatchAction::Suspend
            | BatchAction::Resume
            | BatchAction::UpdateJobs(_) => {}
        }
    }

    fn listener(&mut self, command: &GlobalListenerCommand) {
        match command {
            GlobalListenerCommand::Create(one) | GlobalListenerCommand::Update(one) => {
                self.add("eventTypes", one.event_types.len());
            }
            // The second is of the configuration.
            GlobalListenerCommand::Delete { .. } | GlobalListenerCommand::Configure(_) => {}
        }
    }

    fn identity(&mut self, command: &IdentityCommand) {
        match command {
            IdentityCommand::CreateAuthorization(authorization)
            | IdentityCommand::UpdateAuthorization { authorization, .. } => {
                self.add("permissionTypes", authorization.permissions.len());
            }
            IdentityCommand::SetUp
            | IdentityCommand::CreateAdministrator(_)
            | IdentityCommand::CreateUser(_)
            | IdentityCommand::UpdateUser(_)
            | IdentityCommand::DeleteUser { .. }
            | IdentityCommand::CreateMappingRule(_)
            | IdentityCommand::UpdateMappingRule(_)
            | IdentityCommand::DeleteMappingRule { .. }
            | IdentityCommand::CreateCircle { .. }
            | IdentityCommand::UpdateCircle { .. }
            | IdentityCommand::DeleteCircle { .. }
            | IdentityCommand::AddMember(_)
            | IdentityCommand::RemoveMember(_)
            | IdentityCommand::DeleteAuthorization { .. }
            | IdentityCommand::SavedView(_) => {}
        }
    }
}

fn scopes(variables: &[ScopeVariables]) -> usize {
    variables.iter().map(|scope| 1 + scope.variables.len()).sum()
}

impl Command {
    /// Entries of all its lists.
    pub fn entries(&self) -> usize {
        self.tally().total
    }

    /// Refuses a command with more entries than this.
    pub fn check_entries(&self, limit: usize) -> Result<(), Rejection> {
        let EntryCounts { total, longest } = self.tally();
        match longest.filter(|_| total > limit) {
            None => Ok(()),
            Some((field, entries)) => Err(Rejection::invalid_argument(format!(
                "Expected at most {limit} variables, instructions and other entries in one command \
                 ({ENTRIES_SETTING}), but '{field}' has {entries} of {total}"
            ))),
        }
    }

    fn tally(&self) -> EntryCounts {
        let mut tally = EntryCounts::default();
        if let Some(variables) = self.facts().variables() {
            tally.variables(variables);
        }
        match self.asked() {
            Self::Deploy(deploy) => tally.add("resources", deploy.resources.len()),
            Self::CreateInstance(create) => tally.creation(create),
            Self::CompleteJob(complete) => tally.result(complete.result.as_deref()),
            Self::UserTask(command) => match &command.operation {
                UserTaskOperation::Update(changes) => tally.changes(changes),
                UserTaskOperation::Assign { .. } | UserTaskOperation::Complete { .. } => {}
            },
            Self::ActivateAdHoc(activate) => tally.elements("elements", &activate.elements),
            Self::MigrateInstance(migrate) => tally.plan(&migrate.plan),
            Self::ModifyInstance(modify) => {
                let activate = modify.activate.iter().map(|one| 1 + scopes(&one.variables));
                tally.add("activateInstructions", activate.sum());
                tally.moves(&modify.moves);
                tally.add("terminateInstructions", modify.terminate.len());
            }
            Self::CreateBatchOperation(create) => tally.action(&create.action),
            Self::CreateAgentInstance(create) => tally.add("history", create.history.len()),
            Self::UpdateAgentInstance(update) => tally.add("history", update.history.len()),
            Self::GlobalListener(command) => tally.listener(command),
            Self::ClusterVariable(variable) => {
                tally.add("metadata", variable.metadata.as_ref().map_or(0, Document::len));
            }
            Self::Identity(command) => tally.identity(command),
            Self::FailJob(_)
            | Self::ThrowError(_)
            | Self::PublishMessage(_)
            | Self::CorrelateMessage(_)
            | Self::BroadcastSignal(_)
            | Self::EvaluateConditionals(_)
            | Self::EvaluateDecision(_)
            | Self::SetVariables(_)
            | Self::DeleteResource(_)
            | Self::DeleteHistory(_)
            | Self::CancelInstance { .. }
            | Self::SuspendInstance { .. }
            | Self::ResumeInstance { .. }
            | Self::AssignBusinessId { .. }
            | Self::UpdateJob(_)
            | Self::ResolveIncident { .. }
            | Self::Clock(_)
            | Self::ChangeBatchOperation { .. }
            | Self::ResolveInstanceIncidents { .. }
            | Self::Unban { .. }
            | Self::Purge { .. }
            | Self::EndChange(_)
            // The rest is written by the leader, within bounds of its own.
            | Self::YieldJobs { .. }
            | Self::AddBatchItems(_)
            | Self::Tick
            | Self::Continue { .. }
            | Self::AcknowledgeExport { .. }
            | Self::ForgetExporter { .. }
            | Self::ParkRecord(_)
            | Self::UnparkRecords { .. }
            | Self::Configure { .. }
            | Self::ActivateVersion { .. }
            | Self::Receive(_)
            | Self::AcknowledgeMessages { .. } => {}
            Self::Asked { .. } | Self::Idempotent { .. } => {
                unreachable!("what is asked for is neither of them")
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ActivationInstruction, BroadcastSignal, Caller, DefinitionRef, Json, ModifyInstance, Name, Principal,
    };

    fn variables(count: usize) -> Document {
        (0..count).map(|at| (Name::from(format!("v{at}")), Json::null())).collect()
    }

    #[test]
    fn a_refusal_names_the_longest_list_and_the_setting() {
        let mut create = CreateInstance::of(DefinitionRef::Key(1));
        create.variables = variables(5);
        create.start_before = vec![Name::from("a"), Name::from("b")];
        let command =
            Command::CreateInstance(create).asked_by(Some(Caller::unchecked(Principal::user("ann"))));
        assert_eq!(command.check_entries(7), Ok(()));
        let reason = command.check_entries(6).unwrap_err().reason;
        assert!(reason.contains(ENTRIES_SETTING) && reason.contains("'variables' has 5 of 7"), "{reason}");
    }

    #[test]
    fn variables_of_each_instruction_count() {
        let mut modify = ModifyInstance::of(1);
        modify.activate = (0..3)
            .map(|_| ActivationInstruction {
                element_id: Name::from("a"),
                ancestor_key: None,
                variables: vec![ScopeVariables { scope_id: Name::from(""), variables: variables(4) }],
            })
            .collect();
        assert_eq!(Command::ModifyInstance(modify).entries(), 3 * (1 + 1 + 4));
        let signal =
            BroadcastSignal { name: "s".into(), variables: variables(9), tenant_id: Name::default_tenant() };
        assert_eq!(Command::BroadcastSignal(signal).entries(), 9);
        assert_eq!(Command::Tick.entries(), 0);
    }
}
