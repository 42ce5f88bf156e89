//! Read authorization of changes: a caller may know of changes of rows that it may see.

use protocol::{PermissionType as P, ResourceType as R};
use search::{List, Touch};

use super::ReadAuthorization;

impl ReadAuthorization {
    /// Whether a change is of something that may be seen.
    pub(in crate::rest) fn may_know(&self, touch: &Touch) -> bool {
        if !self.is_of_tenant(&touch.tenant_id) {
            return false;
        }
        let id = Some(&*touch.definition_id);
        match touch.list {
            // A task may be seen for itself, which only its row tells; that there was some task is no secret then.
            Some(List::UserTasks) => {
                self.may(R::ProcessDefinition, P::ReadUserTask, id) || self.may_some(R::UserTask, P::Read)
            }
            Some(List::DecisionInstances) => self.may(R::DecisionDefinition, P::ReadDecisionInstance, id),
            Some(List::DecisionDefinitions) => self.may(R::DecisionDefinition, P::ReadDecisionDefinition, id),
            Some(List::ProcessDefinitions) => self.may(R::ProcessDefinition, P::ReadProcessDefinition, id),
            Some(List::BatchOperations) => self.may(R::Batch, P::Read, None),
            // A touch does not name the user or the like: that some of them changed is no secret to its readers.
            Some(List::Users) => self.may_some(R::User, P::Read),
            Some(List::Groups) => self.may_some(R::Group, P::Read),
            Some(List::Roles) => self.may_some(R::Role, P::Read),
            Some(List::Tenants) => self.may_some(R::Tenant, P::Read),
            Some(List::MappingRules) => self.may_some(R::MappingRule, P::Read),
            Some(List::Authorizations) => self.may_some(R::Authorization, P::Read),
            Some(List::ClusterVariables) => self.may_some(R::ClusterVariable, P::Read),
            Some(List::GlobalTaskListeners) => self.may_some(R::GlobalListener, P::ReadTaskListener),
            Some(
                List::ProcessInstances | List::Incidents | List::Jobs | List::Variables | List::Messages,
            )
            | None => self.may(R::ProcessDefinition, P::ReadProcessInstance, id),
        }
    }

    /// Whether there is a permission for any resource at all.
    pub(in crate::rest) fn may_some(&self, resource: R, permission: P) -> bool {
        !self.authorizations || self.scopes(resource, permission).next().is_some()
    }
}
