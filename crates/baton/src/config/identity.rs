//! The file with who is there from the start (`security.initialization`).

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use auth::ClaimPath;
use protocol::{
    Authorization, AuthorizationScope, Circle, CircleKind, EntityType, IdentityCommand, MappingRule,
    Membership, Name, PermissionType, ResourceType, UserTaskProperty, is_kept_in_paths, is_path_part,
};
use serde::Deserialize;

/// A file larger than this is none.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The role of administrators.
const ADMINISTRATORS: &str = "admin";

/// Entities of the start.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Identities {
    pub(crate) users: Vec<User>,
    mapping_rules: Vec<Rule>,
    groups: Vec<Members>,
    roles: Vec<Members>,
    tenants: Vec<Members>,
    authorizations: Vec<Grant>,
}

/// A user and its password.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct User {
    pub(crate) username: String,
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) email: String,
}

/// Never with the password.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("username", &self.username).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    #[serde(default)]
    name: String,
    claim_name: String,
    claim_value: String,
}

/// A group, role or tenant, and who is in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    clients: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    mapping_rules: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grant {
    owner_type: String,
    owner_id: String,
    resource_type: String,
    #[serde(default)]
    resource_id: Option<String>,
    #[serde(default)]
    resource_property: Option<String>,
    permissions: Vec<String>,
}

impl Identities {
    /// Reads the file. The error names it, and what is wrong where; never a value.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let fail = |reason: String| format!("{} (security.initialization): {reason}", path.display());
        let mut text = String::new();
        // Devices have more than they say.
        let read = File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text))
            .map_err(|error| fail(error.to_string()))?;
        if read as u64 > FILE_BYTES_MAX {
            return Err(fail(format!("larger than {FILE_BYTES_MAX} bytes")));
        }
        Self::parse(&text).map_err(fail)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let read: Option<Self> =
            serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())?;
        let read = read.unwrap_or_default();
        for (at, user) in read.users.iter().enumerate() {
            if user.username.trim().is_empty() || user.password.trim().is_empty() {
                return Err(format!("users[{at}]: username and password must not be blank"));
            }
        }
        read.check_ids()?;
        // Tells now what is wrong with the rest.
        read.commands()?;
        Ok(read)
    }

    /// IDs stand in paths of addresses, where some would be others.
    fn check_ids(&self) -> Result<(), String> {
        let rule = "must be one part of a path, neither '.' nor '..' and without any of / \\ % ? #";
        let new = |place: String, id: &str| {
            if is_path_part(id) { Ok(()) } else { Err(format!("{place}: {rule}")) }
        };
        // It may be kept elsewhere, where other rules hold.
        let named = |place: String, id: &str| {
            if is_kept_in_paths(id) { Ok(()) } else { Err(format!("{place}: must have no part '.' or '..'")) }
        };
        for (at, user) in self.users.iter().enumerate() {
            new(format!("users[{at}].username"), &user.username)?;
        }
        for (at, rule) in self.mapping_rules.iter().enumerate() {
            new(format!("mapping_rules[{at}].id"), &rule.id)?;
        }
        for (section, circles) in
            [("groups", &self.groups), ("roles", &self.roles), ("tenants", &self.tenants)]
        {
            for (at, circle) in circles.iter().enumerate() {
                new(format!("{section}[{at}].id"), &circle.id)?;
                for (index, id) in circle.clients.iter().enumerate() {
                    new(format!("{section}[{at}].clients[{index}]"), id)?;
                }
                for (list, ids) in [
                    ("users", &circle.users),
                    ("groups", &circle.groups),
                    ("roles", &circle.roles),
                    ("mapping_rules", &circle.mapping_rules),
                ] {
                    for (index, id) in ids.iter().enumerate() {
                        named(format!("{section}[{at}].{list}[{index}]"), id)?;
                    }
                }
            }
        }
        for (at, grant) in self.authorizations.iter().enumerate() {
            named(format!("authorizations[{at}].owner_id"), &grant.owner_id)?;
        }
        Ok(())
    }

    /// Whether it says who may come in: users, or members of the role of administrators.
    pub(crate) fn names_anybody(&self) -> bool {
        let is_administrators = |role: &&Members| role.id == ADMINISTRATORS;
        !self.users.is_empty() || self.roles.iter().filter(is_administrators).any(Members::has_any)
    }

    /// Everything but the users, in an order that can be applied.
    pub(crate) fn commands(&self) -> Result<Vec<IdentityCommand>, String> {
        let mut commands = Vec::new();
        for (at, rule) in self.mapping_rules.iter().enumerate() {
            if ClaimPath::is_expression(&rule.claim_name) {
                ClaimPath::parse(&rule.claim_name)
                    .map_err(|error| format!("mapping_rules[{at}].claim_name: {error}"))?;
            }
            commands.push(IdentityCommand::CreateMappingRule(MappingRule {
                id: rule.id.as_str().into(),
                name: named(&rule.name, &rule.id),
                claim_name: rule.claim_name.as_str().into(),
                claim_value: rule.claim_value.as_str().into(),
            }));
        }
        let circles = [
            (CircleKind::Group, "groups", &self.groups),
            (CircleKind::Role, "roles", &self.roles),
            (CircleKind::Tenant, "tenants", &self.tenants),
        ];
        for (kind, _, circles) in circles {
            for circle in circles {
                let id = Name::from(circle.id.as_str());
                let name = named(&circle.name, &circle.id);
                let description = circle.description.as_str().into();
                let circle = Circle { id, name, description };
                commands.push(IdentityCommand::CreateCircle { kind, circle });
            }
        }
        for (kind, section, circles) in circles {
            for (at, circle) in circles.iter().enumerate() {
                for (entity_type, list, ids) in [
                    (EntityType::User, "users", &circle.users),
                    (EntityType::Client, "clients", &circle.clients),
                    (EntityType::Group, "groups", &circle.groups),
                    (EntityType::Role, "roles", &circle.roles),
                    (EntityType::MappingRule, "mapping_rules", &circle.mapping_rules),
                ] {
                    if !ids.is_empty() && !kind.members().contains(&entity_type) {
                        return Err(format!("{section}[{at}].{list}: they cannot be members"));
                    }
                    commands.extend(ids.iter().map(|id| {
                        IdentityCommand::AddMember(Membership {
                            kind,
                            circle_id: circle.id.as_str().into(),
                            entity_type,
                            entity_id: id.as_str().into(),
                        })
                    }));
                }
            }
        }
        for (at, grant) in self.authorizations.iter().enumerate() {
            let authorization =
                grant.authorization().map_err(|reason| format!("authorizations[{at}].{reason}"))?;
            commands.push(IdentityCommand::CreateAuthorization(authorization));
        }
        Ok(commands)
    }
}

impl Members {
    fn has_any(&self) -> bool {
        let lists = [&self.users, &self.clients, &self.groups, &self.roles, &self.mapping_rules];
        lists.iter().any(|list| !list.is_empty())
    }
}

impl Grant {
    fn authorization(&self) -> Result<Authorization, String> {
        let scope = match (&self.resource_id, &self.resource_property) {
            (Some(id), None) => AuthorizationScope::from_id(id),
            (None, Some(property)) => AuthorizationScope::Property(
                UserTaskProperty::from_name(property)
                    .ok_or_else(|| format!("resource_property: there is no '{property}'"))?,
            ),
            _ => return Err("resource_id: expected it or resource_property, and not both".to_owned()),
        };
        let permission = |name: &String| {
            PermissionType::from_name(name).ok_or_else(|| format!("permissions: there is no '{name}'"))
        };
        Ok(Authorization {
            owner_type: EntityType::from_name(&self.owner_type)
                .ok_or_else(|| format!("owner_type: there is no '{}'", self.owner_type))?,
            owner_id: self.owner_id.as_str().into(),
            resource_type: ResourceType::from_name(&self.resource_type)
                .ok_or_else(|| format!("resource_type: there is no '{}'", self.resource_type))?,
            scope,
            permissions: self.permissions.iter().map(permission).collect::<Result<_, _>>()?,
        })
    }
}

/// A name, or else the ID.
fn named(name: &str, id: &str) -> Name {
    if name.is_empty() { id.into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
users:
  - { username: ann, password: very-secret, name: Ann }
mapping_rules:
  - { id: devs, claim_name: groups, claim_value: developers }
groups:
  - { id: clerks, name: Clerks, users: [ann], mapping_rules: [devs] }
roles:
  - { id: admin, users: [ann], groups: [clerks] }
tenants:
  - { id: north, roles: [admin], clients: [robot] }
authorizations:
  - { owner_type: GROUP, owner_id: clerks, resource_type: PROCESS_DEFINITION, resource_id: '*', permissions: [READ_PROCESS_INSTANCE] }
  - { owner_type: USER, owner_id: ann, resource_type: USER_TASK, resource_property: assignee, permissions: [READ, COMPLETE] }
";

    #[test]
    fn whoever_is_named_comes_after_those_that_name_nobody() {
        let read = Identities::parse(FILE).unwrap();
        let shown: Vec<_> = read
            .commands()
            .unwrap()
            .iter()
            .map(|command| match command {
                IdentityCommand::CreateMappingRule(rule) => format!("rule {}", rule.id),
                IdentityCommand::CreateCircle { kind, circle } => format!("{} {}", kind.as_str(), circle.id),
                IdentityCommand::AddMember(one) => format!("{} has {}", one.circle_id, one.entity_id),
                IdentityCommand::CreateAuthorization(one) => {
                    format!("{} may {:?}", one.owner_id, one.permissions)
                }
                other => panic!("unexpected {other:?}"),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "rule devs",
                "GROUP clerks",
                "ROLE admin",
                "TENANT north",
                "clerks has ann",
                "clerks has devs",
                "admin has ann",
                "admin has clerks",
                "north has robot",
                "north has admin",
                "clerks may [ReadProcessInstance]",
                "ann may [Read, Complete]",
            ]
        );
        assert!(!format!("{read:?}").contains("secret"));
        assert!(Identities::parse("").unwrap().commands().unwrap().is_empty());
    }

    #[test]
    fn a_file_that_says_who_may_come_in_is_told_from_others() {
        let names_anybody = |text| Identities::parse(text).unwrap().names_anybody();
        assert!(names_anybody(FILE));
        assert!(names_anybody("roles: [{id: admin, clients: [robot]}]"));
        assert!(names_anybody("users: [{username: ann, password: secret}]"));
        for text in ["", "tenants: [{id: north}]", "roles: [{id: admin}, {id: clerk, clients: [robot]}]"] {
            assert!(!names_anybody(text), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_its_place_and_no_password_is() {
        for (text, mention) in [
            ("users: [{username: ann, password: ' '}]", "users[0]: username and password must not be blank"),
            ("users: [{username: ann, password: hush, colour: red}]", "colour"),
            ("users: [{username: .., password: secret}]", "users[0].username: must be one part of a path"),
            (
                "mapping_rules: [{id: ., claim_name: a, claim_value: x}]",
                "mapping_rules[0].id: must be one part",
            ),
            ("groups: [{id: 'a/b'}]", "groups[0].id: must be one part"),
            ("roles: [{id: ''}]", "roles[0].id: must be one part"),
            ("tenants: [{id: '%2e%2e'}]", "tenants[0].id: must be one part"),
            ("roles: [{id: r, clients: ['..']}]", "roles[0].clients[0]: must be one part"),
            ("roles: [{id: r, groups: ['/sales/..']}]", "roles[0].groups[0]: must have no part '.' or '..'"),
            (
                "authorizations: [{owner_type: USER, owner_id: .., resource_type: USER, resource_id: '*', permissions: [READ]}]",
                "authorizations[0].owner_id: must have no part",
            ),
            ("roles: [{id: r, roles: [x]}]", "roles[0].roles: they cannot be members"),
            (
                "mapping_rules: [{id: r, claim_name: '$.a[', claim_value: x}]",
                "mapping_rules[0].claim_name: '$.a[' is no path to a claim",
            ),
            (
                "authorizations: [{owner_type: USER, owner_id: a, resource_type: CAR, resource_id: '*', permissions: []}]",
                "authorizations[0].resource_type: there is no 'CAR'",
            ),
            (
                "authorizations: [{owner_type: USER, owner_id: a, resource_type: USER, permissions: []}]",
                "authorizations[0].resource_id: expected it or resource_property",
            ),
        ] {
            let error = Identities::parse(text).unwrap_err();
            assert!(error.contains(mention), "{error}\ndoes not mention\n{mention}");
            assert!(!error.contains("hush"), "{error}");
        }
    }
}
