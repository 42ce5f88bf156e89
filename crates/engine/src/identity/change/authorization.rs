//! Authorizations. An owner may have several for the same resource, each with other permissions.

use std::sync::Arc;

use protocol::{
    Authorization, AuthorizationRecord, AuthorizationScope, EntityType, Intent, Key, Name, Rejection,
    ResourceType,
};

use super::member::describe;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::row::StoredAuthorization;
use crate::identity::{authorizations_for, place_of};

impl CommandContext<'_> {
    pub(super) fn create_authorization(&mut self, authorization: &Authorization) -> Result<Key, Failure> {
        let authorization = self.check_authorization(authorization, "create")?;
        let Authorization { owner_type, owner_id, resource_type, scope, permissions } = &authorization;
        for stored in authorizations_for(self.tables, *owner_type, owner_id, *resource_type, scope)? {
            if let Some(known) =
                permissions.iter().find(|wanted| stored.authorization.permissions.contains(wanted))
            {
                return Err(Rejection::already_exists(format!(
                    "Expected to create an authorization for {} '{owner_id}', but it has the permission {known} for this \
                     {resource_type} already",
                    describe(*owner_type)
                ))
                .into());
            }
        }
        let key = self.next_key();
        self.store_authorization(key, Intent::Created, authorization);
        Ok(key)
    }

    pub(super) fn update_authorization(
        &mut self,
        key: Key,
        authorization: &Authorization,
    ) -> Result<(), Failure> {
        let stored = self.find_authorization(key, "update")?;
        let authorization = self.check_authorization(authorization, "update")?;
        self.tables.authorization_by_owner.delete(&place_of(&stored.authorization, key));
        self.store_authorization(key, Intent::Updated, authorization);
        Ok(())
    }

    pub(super) fn delete_authorization(&mut self, key: Key) -> Result<(), Failure> {
        self.find_authorization(key, "delete")?;
        self.drop_authorization(key)
    }

    pub(super) fn drop_authorization(&mut self, key: Key) -> Result<(), Failure> {
        let Some(stored) = self.tables.authorizations.get(&key)? else { return Ok(()) };
        self.tables.authorization_by_owner.delete(&place_of(&stored.authorization, key));
        self.tables.authorizations.delete(&key);
        self.record_authorization(key, Intent::Deleted, &stored.authorization);
        Ok(())
    }

    pub(super) fn store_authorization(&mut self, key: Key, intent: Intent, authorization: Authorization) {
        self.record_authorization(key, intent, &authorization);
        self.tables.authorization_by_owner.put(place_of(&authorization, key), ());
        self.tables.authorizations.put(key, StoredAuthorization { authorization });
    }

    fn find_authorization(&self, key: Key, purpose: &str) -> Result<Arc<StoredAuthorization>, Failure> {
        let stored = self.tables.authorizations.get(&key)?;
        Ok(stored.ok_or_else(|| {
            Rejection::not_found(format!(
                "Expected to {purpose} the authorization with key '{key}', but there is no such authorization"
            ))
        })?)
    }

    /// The authorization with its permissions in order, if it makes sense.
    fn check_authorization(
        &self,
        authorization: &Authorization,
        purpose: &str,
    ) -> Result<Authorization, Failure> {
        let mut authorization = authorization.clone();
        authorization.permissions.sort_unstable();
        authorization.permissions.dedup();
        let Authorization { owner_type, owner_id, resource_type, scope, permissions } = &authorization;
        let supported = resource_type.permissions();
        let unknown: Vec<_> =
            permissions.iter().filter(|wanted| !supported.contains(wanted)).map(|it| it.as_str()).collect();
        if permissions.is_empty() || !unknown.is_empty() {
            let known: Vec<_> = supported.iter().map(|permission| permission.as_str()).collect();
            return Err(Rejection::invalid_argument(format!(
                "Expected to {purpose} an authorization with permissions of {resource_type}, which are [{}], but found [{}]",
                known.join(", "),
                unknown.join(", ")
            ))
            .into());
        }
        if let AuthorizationScope::Property(property) = scope
            && *resource_type != ResourceType::UserTask
        {
            return Err(Rejection::invalid_argument(format!(
                "Expected to {purpose} an authorization for the property '{property}' of {}, but found one for {resource_type}",
                ResourceType::UserTask
            ))
            .into());
        }
        self.check_named_id(&format!("{purpose} an authorization of an owner"), owner_id)?;
        self.check_is_there(*owner_type, owner_id, purpose)?;
        if let (AuthorizationScope::Id(id), Some(entity_type)) = (scope, entity_of(*resource_type)) {
            self.check_is_there(entity_type, id, purpose)?;
        }
        Ok(authorization)
    }

    fn check_is_there(&self, entity_type: EntityType, id: &Name, purpose: &str) -> Result<(), Failure> {
        if self.may_name(entity_type, id)? {
            return Ok(());
        }
        let what = describe(entity_type);
        Err(Rejection::not_found(format!(
            "Expected to {purpose} an authorization that names the {what} '{id}', but there is no such {what}"
        ))
        .into())
    }

    fn record_authorization(&mut self, key: Key, intent: Intent, authorization: &Authorization) {
        self.emit(key, intent, |_| {
            let Authorization { owner_type, owner_id, resource_type, scope, permissions } = authorization;
            AuthorizationRecord {
                authorization_key: key,
                owner_type: owner_type.as_str().into(),
                owner_id: owner_id.clone(),
                resource_type: resource_type.as_str().into(),
                resource_matcher: scope.matcher().into(),
                resource_id: scope.resource_id().unwrap_or_default().into(),
                resource_property_name: scope.property_name().unwrap_or_default().into(),
                permission_types: permissions.iter().map(|permission| permission.as_str().into()).collect(),
            }
        });
    }
}

/// Entities that must exist before authorizations for them.
const fn entity_of(resource_type: ResourceType) -> Option<EntityType> {
    match resource_type {
        ResourceType::User => Some(EntityType::User),
        ResourceType::Group => Some(EntityType::Group),
        ResourceType::Role => Some(EntityType::Role),
        ResourceType::MappingRule => Some(EntityType::MappingRule),
        _ => None,
    }
}
