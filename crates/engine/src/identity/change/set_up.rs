//! Set-up of a cluster: the default tenant, the default roles, and later the first administrator.

use protocol::{
    Circle, CircleKind, EntityType, FIRST_ACTIVE_VERSION, Intent, Membership, Name, Rejection, RejectionType,
    User, UserView,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::default_roles::{ADMIN, DEFAULT_ROLES, DEFAULT_TENANT_NAME, DefaultRole};
use crate::identity::{circle_exists, has_administrator};

impl CommandContext<'_> {
    /// Creates missing entities. Existing ones stay as they are.
    pub(super) fn set_up_identity(&mut self) -> Result<(), Failure> {
        let default_tenant = Name::default_tenant();
        if !circle_exists(self.tables, CircleKind::Tenant, &default_tenant)? {
            self.create_circle(CircleKind::Tenant, &circle(&default_tenant, DEFAULT_TENANT_NAME))?;
        }
        let granted = self.meta.granted_version.unwrap_or(FIRST_ACTIVE_VERSION);
        for role in DEFAULT_ROLES {
            if !circle_exists(self.tables, CircleKind::Role, &role.id.into())? {
                self.create_default_role(role, &default_tenant)?;
            } else if granted < self.version {
                // Once: what is taken from a role afterwards is not given back.
                self.authorize_default_role(role, granted + 1);
            }
        }
        self.meta.granted_version = Some(self.version);
        Ok(())
    }

    /// Gives a default role the permissions that versions have from one on.
    fn authorize_default_role(&mut self, role: &DefaultRole, from: u16) {
        for authorization in role.authorizations(from..=self.version.max(FIRST_ACTIVE_VERSION)) {
            let key = self.next_key();
            self.store_authorization(key, Intent::Created, authorization);
        }
    }

    fn create_default_role(&mut self, role: &DefaultRole, default_tenant: &Name) -> Result<(), Failure> {
        let id = Name::from(role.id);
        self.create_circle(CircleKind::Role, &circle(&id, role.name))?;
        self.authorize_default_role(role, 0);
        if role.is_in_default_tenant {
            self.add_member(&Membership {
                kind: CircleKind::Tenant,
                circle_id: default_tenant.clone(),
                entity_type: EntityType::Role,
                entity_id: id,
            })?;
        }
        Ok(())
    }

    pub(super) fn create_administrator(&mut self, user: &User) -> Result<UserView, Failure> {
        let refused = |reason: String| {
            let reason = format!("Expected to create the first administrator, but {reason}");
            Rejection::new(RejectionType::Forbidden, reason)
        };
        if has_administrator(self.tables)? {
            return Err(refused(format!("another user has the role '{ADMIN}' already")).into());
        }
        if self.meta.had_administrator {
            // Otherwise the deletion of the last one would hand the cluster to whoever asks first.
            return Err(refused(format!("another user had the role '{ADMIN}' before")).into());
        }
        if self.tables.users.contains(&user.username.0)? {
            return Err(refused(format!("there is a user with username '{}' already", user.username)).into());
        }
        self.set_up_identity()?;
        let view = self.create_user(user)?;
        self.add_member(&Membership {
            kind: CircleKind::Role,
            circle_id: ADMIN.into(),
            entity_type: EntityType::User,
            entity_id: user.username.clone(),
        })?;
        Ok(view)
    }
}

fn circle(id: &Name, name: &str) -> Circle {
    Circle { id: id.clone(), name: name.into(), description: Name::default() }
}
