//! The roles that every cluster has, with what they may do, as the reference has them.

use protocol::{
    Authorization, AuthorizationScope, EntityType, PermissionType, ResourceType, UserTaskProperty,
};

/// ID of the role of administrators.
pub(crate) const ADMIN: &str = "admin";
pub(crate) const DEFAULT_TENANT_NAME: &str = "Default";

/// A role that every cluster has.
pub(crate) struct DefaultRole {
    pub id: &'static str,
    pub name: &'static str,
    pub is_in_default_tenant: bool,
    permissions: Permissions,
}

enum Permissions {
    All,
    /// All that change nothing.
    Reading,
    /// These, with all resources of the type.
    Of(&'static [(ResourceType, &'static [PermissionType])]),
    /// These, with user tasks that name the one who asks, in whatever way.
    OwnTasks(&'static [PermissionType]),
}

use PermissionType as P;
use ResourceType as R;

pub(crate) const DEFAULT_ROLES: &[DefaultRole] = &[
    DefaultRole { id: ADMIN, name: "Admin", is_in_default_tenant: true, permissions: Permissions::All },
    DefaultRole {
        id: "readonly-admin",
        name: "Readonly Admin",
        is_in_default_tenant: false,
        permissions: Permissions::Reading,
    },
    DefaultRole {
        id: "connectors",
        name: "Connectors",
        is_in_default_tenant: true,
        permissions: Permissions::Of(&[
            (
                R::ProcessDefinition,
                &[
                    P::CreateProcessInstance,
                    P::ReadProcessDefinition,
                    P::ReadProcessInstance,
                    P::UpdateProcessInstance,
                ],
            ),
            (R::Message, &[P::Create]),
            (R::Document, &[P::Create, P::Delete, P::Read]),
        ]),
    },
    DefaultRole {
        id: "app-integrations",
        name: "App Integrations",
        is_in_default_tenant: true,
        permissions: Permissions::Of(&[
            (
                R::ProcessDefinition,
                &[
                    P::CreateProcessInstance,
                    P::ReadProcessDefinition,
                    P::ReadProcessInstance,
                    P::ReadUserTask,
                    P::UpdateProcessInstance,
                    P::UpdateUserTask,
                ],
            ),
            (R::Document, &[P::Create]),
        ]),
    },
    DefaultRole {
        id: "rpa",
        name: "RPA",
        is_in_default_tenant: true,
        permissions: Permissions::Of(&[
            (R::Resource, &[P::Read]),
            (R::ProcessDefinition, &[P::UpdateProcessInstance]),
        ]),
    },
    DefaultRole {
        id: "task-worker",
        name: "Task Worker",
        is_in_default_tenant: true,
        permissions: Permissions::OwnTasks(&[P::Claim, P::Complete, P::Read]),
    },
];

/// Whether a role is one that every cluster has.
pub(crate) fn is_default(id: &str) -> bool {
    DEFAULT_ROLES.iter().any(|role| role.id == id)
}

impl DefaultRole {
    /// Its authorizations, as a version of the engine has them.
    pub fn authorizations(&self, version: u16) -> Vec<Authorization> {
        let authorization = |resource_type, scope, permissions: Vec<PermissionType>| Authorization {
            owner_type: EntityType::Role,
            owner_id: self.id.into(),
            resource_type,
            scope,
            permissions,
        };
        let of_all = |wanted: fn(&PermissionType) -> bool| {
            let of = |resource: &ResourceType| {
                let permissions: Vec<_> = resource.permissions().iter().copied().filter(wanted).collect();
                (!permissions.is_empty())
                    .then(|| authorization(*resource, AuthorizationScope::Any, permissions))
            };
            let known = ResourceType::ALL.iter().filter(|resource| resource.since_version() <= version);
            known.filter_map(of).collect()
        };
        match self.permissions {
            Permissions::All => of_all(|_| true),
            Permissions::Reading => of_all(|permission| permission.is_for_reading()),
            Permissions::Of(list) => list
                .iter()
                .map(|(resource, permissions)| {
                    authorization(*resource, AuthorizationScope::Any, permissions.to_vec())
                })
                .collect(),
            Permissions::OwnTasks(permissions) => UserTaskProperty::ALL
                .iter()
                .map(|property| {
                    let scope = AuthorizationScope::Property(*property);
                    authorization(ResourceType::UserTask, scope, permissions.to_vec())
                })
                .collect(),
        }
    }
}
