//! Commands and records of scripts about users, groups, roles, tenants, mapping rules and authorizations.
//!
//! ```text
//! setup                      administrator NAME
//! user create|update|delete NAME [name=…] [email=…] [hash=…]
//! rule create|update|delete ID [claim=NAME:VALUE] [name=…]
//! group|role|tenant create|update|delete ID [name=…] [description=…]
//! add|drop KIND ID group|role|tenant ID                  (KIND: user, client, group, role, rule)
//! allow KIND ID RESOURCE_TYPE * | ID | .PROPERTY  PERMISSION …      reallow N …      disallow N  (the Nth created)
//! ```

use protocol::{
    Authorization, AuthorizationScope, Circle, CircleKind, Command, EntityType, IdentityCommand, Key,
    MappingRule, Membership, Name, PasswordHash, PermissionType, RecordValue, ResourceType, User, UserChange,
    UserTaskProperty,
};

use super::check::Line;

/// The first words of such commands.
pub const VERBS: &[&str] = &[
    "setup",
    "administrator",
    "user",
    "rule",
    "group",
    "role",
    "tenant",
    "add",
    "drop",
    "allow",
    "reallow",
    "disallow",
];

pub(super) fn command(line: &Line, authorizations: &[Key]) -> Command {
    let key = |at: usize| authorizations[line.word(at).parse::<usize>().expect("a number") - 1];
    let id = || Name::from(line.word(2));
    Command::Identity(match (line.word(0), line.words.get(1).copied().unwrap_or_default()) {
        ("setup", _) => IdentityCommand::SetUp,
        ("administrator", name) => IdentityCommand::CreateAdministrator(user(line, name.into())),
        ("user", "create") => IdentityCommand::CreateUser(user(line, id())),
        ("user", "update") => IdentityCommand::UpdateUser(UserChange {
            username: id(),
            name: line.option("name").map(|_| line.text("name")),
            email: line.option("email").map(|_| line.text("email")),
            password_hash: line.option("hash").map(|hash| PasswordHash(hash.into())),
        }),
        ("user", "delete") => IdentityCommand::DeleteUser { username: id() },
        ("rule", "create") => IdentityCommand::CreateMappingRule(rule(line)),
        ("rule", "update") => IdentityCommand::UpdateMappingRule(rule(line)),
        ("rule", "delete") => IdentityCommand::DeleteMappingRule { id: id() },
        ("add", _) => IdentityCommand::AddMember(membership(line)),
        ("drop", _) => IdentityCommand::RemoveMember(membership(line)),
        ("allow", _) => IdentityCommand::CreateAuthorization(authorization(&line.words[1..])),
        ("reallow", _) => IdentityCommand::UpdateAuthorization {
            authorization_key: key(1),
            authorization: authorization(&line.words[2..]),
        },
        ("disallow", _) => IdentityCommand::DeleteAuthorization { authorization_key: key(1) },
        (kind, "create") => IdentityCommand::CreateCircle { kind: circle_kind(kind), circle: circle(line) },
        (kind, "update") => IdentityCommand::UpdateCircle { kind: circle_kind(kind), circle: circle(line) },
        (kind, _) => IdentityCommand::DeleteCircle { kind: circle_kind(kind), id: id() },
    })
}

fn user(line: &Line, username: Name) -> User {
    User {
        username,
        name: line.text("name"),
        email: line.text("email"),
        password_hash: PasswordHash(line.text("hash")),
    }
}

fn rule(line: &Line) -> MappingRule {
    let (claim_name, claim_value) = line.option("claim").and_then(|it| it.split_once(':')).expect("a claim");
    MappingRule {
        id: line.word(2).into(),
        claim_name: claim_name.into(),
        claim_value: claim_value.into(),
        name: line.text("name"),
    }
}

fn circle(line: &Line) -> Circle {
    Circle { id: line.word(2).into(), name: line.text("name"), description: line.text("description") }
}

fn circle_kind(word: &str) -> CircleKind {
    CircleKind::from_name(&word.to_uppercase()).unwrap_or_else(|| panic!("no such kind: {word}"))
}

pub fn entity_type(word: &str) -> EntityType {
    let name = if word == "rule" { "MAPPING_RULE".to_owned() } else { word.to_uppercase() };
    EntityType::from_name(&name).unwrap_or_else(|| panic!("no such kind: {word}"))
}

fn membership(line: &Line) -> Membership {
    Membership {
        kind: circle_kind(line.word(3)),
        circle_id: line.word(4).into(),
        entity_type: entity_type(line.word(1)),
        entity_id: line.word(2).into(),
    }
}

fn authorization(words: &[&str]) -> Authorization {
    Authorization {
        owner_type: entity_type(words[0]),
        owner_id: words[1].into(),
        resource_type: ResourceType::from_name(words[2]).expect("a resource type"),
        scope: match words[3].strip_prefix('.') {
            Some(name) => {
                AuthorizationScope::Property(UserTaskProperty::from_name(name).expect("a property"))
            }
            None => AuthorizationScope::from_id(words[3]),
        },
        permissions: words[4..]
            .iter()
            .map(|name| PermissionType::from_name(name).expect("a permission"))
            .collect(),
    }
}

/// Subject of a record of these kinds.
pub(super) fn describe(value: &RecordValue) -> String {
    match value {
        RecordValue::User(user) => format!("user {} [{} {}]", user.username, user.name, user.email),
        RecordValue::Group(it) => {
            circle_line("group", &[&it.group_id, &it.name, &it.description, &it.entity_type, &it.entity_id])
        }
        RecordValue::Role(it) => {
            circle_line("role", &[&it.role_id, &it.name, &it.description, &it.entity_type, &it.entity_id])
        }
        RecordValue::Tenant(it) => {
            circle_line("tenant", &[&it.tenant_id, &it.name, &it.description, &it.entity_type, &it.entity_id])
        }
        RecordValue::MappingRule(rule) => {
            format!("rule {} [{}:{} {}]", rule.mapping_rule_id, rule.claim_name, rule.claim_value, rule.name)
        }
        RecordValue::Authorization(it) => {
            let permissions: Vec<&str> = it.permission_types.iter().map(|name| &**name).collect();
            format!(
                "{} {} may {} {} {}{}{}",
                it.owner_type,
                it.owner_id,
                permissions.join(","),
                it.resource_type,
                it.resource_matcher,
                if it.resource_id.is_empty() { String::new() } else { format!(" {}", it.resource_id) },
                if it.resource_property_name.is_empty() {
                    String::new()
                } else {
                    format!(" {}", it.resource_property_name)
                },
            )
        }
        other => panic!("about something else: {other:?}"),
    }
}

/// ID, name, description; kind and ID of the member, if it is about one.
fn circle_line(noun: &str, [id, name, description, entity_type, entity_id]: &[&Name; 5]) -> String {
    let member = if entity_id.is_empty() { String::new() } else { format!(" {entity_type} {entity_id}") };
    format!("{noun} {id} [{name} {description}]{member}")
}
