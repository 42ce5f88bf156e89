//! Commands about users, groups, roles, tenants, mapping rules and authorizations.

#![expect(missing_docs, reason = "names say what is held")]

use std::fmt;

use minicbor::{Decode, Encode};

use super::entity_type::EntityType;
use super::saved_view::SavedViewCommand;
use crate::intent::named;
use crate::{Authorization, FIRST_ACTIVE_VERSION, Key, Name};

named! {
    /// Groups, roles and tenants.
    CircleKind { Group = 0 "GROUP", Role = 1 "ROLE", Tenant = 2 "TENANT" }
}

impl CircleKind {
    pub const fn members(self) -> &'static [EntityType] {
        use EntityType::{Client, Group, MappingRule, Role, User};
        match self {
            Self::Group => &[User, Client, MappingRule],
            Self::Role => &[User, Client, Group, MappingRule],
            Self::Tenant => &[User, Client, Group, Role, MappingRule],
        }
    }

    /// Its type as a member of others and as an owner of authorizations.
    pub const fn as_entity(self) -> Option<EntityType> {
        match self {
            Self::Group => Some(EntityType::Group),
            Self::Role => Some(EntityType::Role),
            Self::Tenant => None,
        }
    }
}

/// See [`crate::Command::Identity`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum IdentityCommand {
    /// Creates the default tenant and the default roles that are not there.
    #[n(0)]
    SetUp,
    /// Creates a user with the role of administrators, unless there is one, and what [`Self::SetUp`] does.
    #[n(1)]
    CreateAdministrator(#[n(0)] User),
    #[n(2)]
    CreateUser(#[n(0)] User),
    #[n(3)]
    UpdateUser(#[n(0)] UserChange),
    /// Deletes a user with its memberships and authorizations.
    #[n(4)]
    DeleteUser {
        #[n(0)]
        username: Name,
    },
    #[n(5)]
    CreateMappingRule(#[n(0)] MappingRule),
    /// Replaces a mapping rule.
    #[n(6)]
    UpdateMappingRule(#[n(0)] MappingRule),
    /// Deletes a mapping rule with its memberships and authorizations.
    #[n(7)]
    DeleteMappingRule {
        #[n(0)]
        id: Name,
    },
    /// Creates a group, role or tenant.
    #[n(8)]
    CreateCircle {
        #[n(0)]
        kind: CircleKind,
        #[n(1)]
        circle: Circle,
    },
    /// Replaces what is known about a group, role or tenant.
    #[n(9)]
    UpdateCircle {
        #[n(0)]
        kind: CircleKind,
        #[n(1)]
        circle: Circle,
    },
    /// Deletes a group, role or tenant with its members, memberships and authorizations.
    #[n(10)]
    DeleteCircle {
        #[n(0)]
        kind: CircleKind,
        #[n(1)]
        id: Name,
    },
    /// Adds a member to a group, role or tenant.
    #[n(11)]
    AddMember(#[n(0)] Membership),
    /// Takes a member out of a group, role or tenant.
    #[n(12)]
    RemoveMember(#[n(0)] Membership),
    #[n(13)]
    CreateAuthorization(#[n(0)] Authorization),
    #[n(14)]
    UpdateAuthorization {
        #[n(0)]
        authorization_key: Key,
        #[n(1)]
        authorization: Authorization,
    },
    #[n(15)]
    DeleteAuthorization {
        #[n(0)]
        authorization_key: Key,
    },
    /// Creates, changes or deletes a view. Everybody may, of its own.
    #[n(16)]
    SavedView(#[n(0)] SavedViewCommand),
}

impl IdentityCommand {
    /// The first version of the engine that knows it, and the permissions in it.
    pub fn since_version(&self) -> u16 {
        match self {
            Self::CreateAuthorization(authorization) | Self::UpdateAuthorization { authorization, .. } => {
                let permissions =
                    authorization.permissions.iter().map(|permission| permission.since_version());
                permissions.fold(authorization.resource_type.since_version(), u16::max)
            }
            Self::SetUp
            | Self::CreateAdministrator(_)
            | Self::CreateUser(_)
            | Self::UpdateUser(_)
            | Self::DeleteUser { .. }
            | Self::CreateMappingRule(_)
            | Self::UpdateMappingRule(_)
            | Self::DeleteMappingRule { .. }
            | Self::CreateCircle { .. }
            | Self::UpdateCircle { .. }
            | Self::DeleteCircle { .. }
            | Self::AddMember(_)
            | Self::RemoveMember(_)
            | Self::DeleteAuthorization { .. }
            | Self::SavedView(_) => FIRST_ACTIVE_VERSION,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct User {
    #[n(0)]
    pub username: Name,
    /// Display name; may be empty.
    #[n(1)]
    pub name: Name,
    /// Where it gets mail; may be empty.
    #[n(2)]
    pub email: Name,
    #[n(3)]
    pub password_hash: PasswordHash,
}

/// Changes to a user. `None` leaves a property as it is.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct UserChange {
    #[n(0)]
    pub username: Name,
    #[n(1)]
    pub name: Option<Name>,
    /// Where it gets mail.
    #[n(2)]
    pub email: Option<Name>,
    #[n(3)]
    pub password_hash: Option<PasswordHash>,
}

/// A hash of a password with its salt and parameters, in the PHC string format. Not shown by accident.
#[derive(Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct PasswordHash(#[n(0)] pub Name);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// A rule that tells tokens by a claim.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct MappingRule {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub claim_name: Name,
    /// Its value, or one of its values.
    #[n(2)]
    pub claim_value: Name,
    /// Display name of the rule.
    #[n(3)]
    pub name: Name,
}

/// Properties of a group, role or tenant.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Circle {
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub name: Name,
    /// Description; may be empty.
    #[n(2)]
    pub description: Name,
}

/// A member of a group, role or tenant.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Membership {
    /// Of what kind the group, role or tenant is.
    #[n(0)]
    pub kind: CircleKind,
    #[n(1)]
    pub circle_id: Name,
    /// Of what kind the member is.
    #[n(2)]
    pub entity_type: EntityType,
    /// ID of the member; the name of a user.
    #[n(3)]
    pub entity_id: Name,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_not_shown() {
        let user = User {
            username: "ann".into(),
            name: Name::default(),
            email: Name::default(),
            password_hash: PasswordHash("$secret".into()),
        };
        assert!(!format!("{user:?}").contains("secret"));
        let bytes = minicbor::to_vec(&user).unwrap();
        assert_eq!(minicbor::decode::<User>(&bytes).unwrap(), user);
    }

    #[test]
    fn names_and_numbers_lead_back() {
        for entity_type in EntityType::ALL {
            assert_eq!(EntityType::from_name(entity_type.as_str()), Some(*entity_type));
            assert_eq!(EntityType::from_number(entity_type.number()), Some(*entity_type));
        }
        assert_eq!(EntityType::from_name("UNSPECIFIED"), None);
        assert_eq!(EntityType::from_number(5), None);
        assert_eq!(EntityType::MappingRule.number(), 4);
    }
}
