//! Read authorization.
//!
//! Rows of secondary storage pass a filter that is made of what somebody may do, once until that changes
//! (`rows.rs`). Views of the engine's state are looked at before they are shown (`views.rs`). Operations whose answers
//! are of neither kind, and which are no command, which the engine checks itself, take the permissions of the table in
//! `checks.rs` (`operations.rs`).
//!
//! A principal without permission for an entity of its own tenant is refused; for entities of other tenants it does
//! not learn that they exist.

mod operations;
mod rows;
mod touches;
mod views;

use std::sync::Arc;

use protocol::{AuthorizationScope, Instances, Name, PermissionType, ResourceType};

use super::call::Call;
use super::problem::Failure;
use super::problem_code::Code;
use crate::access::PrincipalGrants;

/// Checks of the principal.
pub(super) struct ReadAuthorization {
    known: Arc<PrincipalGrants>,
    name: Name,
    authorizations: bool,
    tenants: bool,
}

impl ReadAuthorization {
    /// `None`: everything may be seen.
    pub(super) async fn of(call: &Call<'_>) -> Result<Option<Self>, Failure> {
        let options = call.access_options();
        let name = call.principal.user_name().or(call.principal.client_id());
        let (Some(name), true) = (name, options.authorizations || options.tenants) else { return Ok(None) };
        Ok(Some(Self {
            known: call.known().await?,
            name: name.into(),
            authorizations: options.authorizations,
            tenants: options.tenants,
        }))
    }

    /// Whether the principal may know entities of a tenant. Entities without a tenant are open to all.
    pub(super) fn is_of_tenant(&self, tenant_id: &str) -> bool {
        !self.tenants
            || tenant_id.is_empty()
            || self.known.grants.tenants.iter().any(|assigned| **assigned == *tenant_id)
    }

    /// The tenants of the principal, if they count.
    pub(super) fn tenants(&self) -> Option<&[Name]> {
        self.tenants.then_some(&*self.known.grants.tenants)
    }

    /// Resources that a permission is for.
    fn scopes(
        &self,
        resource: ResourceType,
        permission: PermissionType,
    ) -> impl Iterator<Item = &AuthorizationScope> {
        let authorizations = self.known.grants.authorizations.iter().map(|view| &view.authorization);
        authorizations
            .filter(move |one| one.resource_type == resource && one.permissions.contains(&permission))
            .map(|one| &one.scope)
    }

    /// Whether the principal has any permission.
    fn may_anything(&self) -> bool {
        !self.authorizations || !self.known.grants.authorizations.is_empty()
    }

    /// The process instances that may be seen.
    fn instances(&self) -> Instances {
        let permission = (ResourceType::ProcessDefinition, PermissionType::ReadProcessInstance);
        let process_ids = (!self.may(permission.0, permission.1, None)).then(|| {
            let scopes = self.scopes(permission.0, permission.1);
            scopes.filter_map(AuthorizationScope::resource_id).map(Name::from).collect()
        });
        let tenant_ids = self.tenants.then(|| self.known.grants.tenants.iter().cloned().collect());
        Instances { process_ids, tenant_ids }
    }

    /// Whether there is a permission for a resource; without an ID, for all of them.
    pub(super) fn may(&self, resource: ResourceType, permission: PermissionType, id: Option<&str>) -> bool {
        !self.authorizations
            || self.scopes(resource, permission).any(|scope| match scope {
                AuthorizationScope::Any => true,
                AuthorizationScope::Id(allowed) => id == Some(&**allowed),
                AuthorizationScope::Property(_) => false,
            })
    }
}

fn forbidden(resource: ResourceType, permission: PermissionType) -> Failure {
    let detail = format!("Unauthorized to perform operation '{permission}' on resource '{resource}'");
    Failure::new(Code::Forbidden, detail)
}
