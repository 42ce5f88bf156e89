//! Groups, roles and tenants.

use std::sync::Arc;

use protocol::{
    Circle, CircleKind, DEFAULT_TENANT, EntityType, GroupRecord, Intent, Key, Name, RecordValue, Rejection,
    RejectionType, RoleRecord, TenantRecord,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::Forgotten;
use crate::identity::default_roles;
use crate::identity::row::StoredCircle;

/// Its name in a sentence.
pub(super) const fn noun(kind: CircleKind) -> &'static str {
    match kind {
        CircleKind::Group => "group",
        CircleKind::Role => "role",
        CircleKind::Tenant => "tenant",
    }
}

impl CommandContext<'_> {
    pub(super) fn create_circle(&mut self, kind: CircleKind, circle: &Circle) -> Result<(), Failure> {
        self.check_new_id(noun(kind), &circle.id)?;
        let place = (kind.number(), Arc::clone(&circle.id.0));
        if self.tables.circles.contains(&place)? {
            return Err(Rejection::already_exists(format!(
                "Expected to create a {} with ID '{}', but there is one already",
                noun(kind),
                circle.id
            ))
            .into());
        }
        self.check_forgotten(&Forgotten::circle(kind, 0, &circle.id))?;
        let key = self.next_key();
        self.record_circle(kind, key, Intent::Created, circle, None);
        self.tables.circles.put(place, StoredCircle { key, circle: circle.clone() });
        Ok(())
    }

    pub(super) fn update_circle(&mut self, kind: CircleKind, circle: &Circle) -> Result<(), Failure> {
        let key = self.find_circle(kind, &circle.id, "update")?.key;
        self.record_circle(kind, key, Intent::Updated, circle, None);
        let place = (kind.number(), Arc::clone(&circle.id.0));
        self.tables.circles.put(place, StoredCircle { key, circle: circle.clone() });
        Ok(())
    }

    pub(super) fn delete_circle(&mut self, kind: CircleKind, id: &Name) -> Result<(), Failure> {
        let stored = self.find_circle(kind, id, "delete")?;
        // Without its role, anybody might become the first administrator.
        let is_protected = match kind {
            CircleKind::Group => false,
            CircleKind::Role => default_roles::is_default(id),
            CircleKind::Tenant => &**id == DEFAULT_TENANT,
        };
        if is_protected {
            let reason =
                format!("Expected to delete the {} with ID '{id}', but every cluster has it", noun(kind));
            return Err(Rejection::new(RejectionType::Forbidden, reason).into());
        }
        self.tables.circles.delete(&(kind.number(), Arc::clone(&id.0)));
        self.record_circle(kind, stored.key, Intent::Deleted, &stored.circle, None);
        self.forget(Forgotten::circle(kind, stored.key, id));
        Ok(())
    }

    pub(super) fn find_circle(
        &self,
        kind: CircleKind,
        id: &Name,
        purpose: &str,
    ) -> Result<Arc<StoredCircle>, Failure> {
        let stored = self.tables.circles.get(&(kind.number(), Arc::clone(&id.0)))?;
        Ok(stored.ok_or_else(|| {
            let noun = noun(kind);
            Rejection::not_found(format!(
                "Expected to {purpose} the {noun} with ID '{id}', but there is no such {noun}"
            ))
        })?)
    }

    pub(super) fn record_circle(
        &mut self,
        kind: CircleKind,
        key: Key,
        intent: Intent,
        circle: &Circle,
        member: Option<(EntityType, &Name)>,
    ) {
        self.emit(key, intent, |_| -> RecordValue {
            let Circle { id, name, description } = circle.clone();
            let entity_type =
                member.map_or_else(Name::default, |(entity_type, _)| entity_type.as_str().into());
            let entity_id = member.map(|(_, id)| id.clone()).unwrap_or_default();
            match kind {
                CircleKind::Group => {
                    GroupRecord { group_key: key, group_id: id, name, description, entity_id, entity_type }
                        .into()
                }
                CircleKind::Role => {
                    RoleRecord { role_key: key, role_id: id, name, description, entity_id, entity_type }
                        .into()
                }
                CircleKind::Tenant => {
                    TenantRecord { tenant_key: key, tenant_id: id, name, description, entity_id, entity_type }
                        .into()
                }
            }
        });
    }
}
