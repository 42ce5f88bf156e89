//! Users, groups, roles, tenants, mapping rules and authorizations.

use broker::api::SubmitError;
use protocol::{
    Authorization, AuthorizationScope, AuthorizationView, Circle, CircleKind, CircleView, EntityType,
    IdentityQuery, IdentityReply, MappingRule, Name, Page, PasswordHash, PermissionType, Rejection,
    ResourceType, UserTaskProperty, UserView,
};

fn user(username: &str) -> UserView {
    let [name, email] = match username {
        "ann" => ["Ann", "ann@example.com"],
        _ => ["", ""],
    };
    UserView { username: username.into(), name: name.into(), email: email.into() }
}

fn circle(kind: CircleKind, key: u64, id: &str) -> CircleView {
    let name = format!("{} {id}", kind.as_str().to_lowercase()).into();
    let description = if id == "a" { "what for".into() } else { Name::default() };
    CircleView { key, circle: Circle { id: id.into(), name, description } }
}

fn rule(id: &str, claim_value: &str) -> MappingRule {
    let (claim_name, name) = ("groups".into(), format!("Rule {id}").into());
    MappingRule { id: id.into(), claim_name, claim_value: claim_value.into(), name }
}

fn authorization(key: u64, owner_id: &str, scope: AuthorizationScope) -> AuthorizationView {
    let is_task = matches!(scope, AuthorizationScope::Property(_));
    let authorization = Authorization {
        owner_type: if is_task { EntityType::Role } else { EntityType::User },
        owner_id: owner_id.into(),
        resource_type: if is_task { ResourceType::UserTask } else { ResourceType::Message },
        scope,
        permissions: vec![PermissionType::Read],
    };
    AuthorizationView { key, authorization }
}

fn page<T>(items: Vec<T>) -> Page<T> {
    Page { items, has_more: false }
}

/// There is everybody but those called `none`; nobody has the role of administrators.
pub(super) fn answer(query: &IdentityQuery) -> Result<IdentityReply, SubmitError> {
    Ok(match query {
        IdentityQuery::User { username } if &**username == "none" => {
            return Err(Rejection::not_found("User with username 'none' not found").into());
        }
        IdentityQuery::User { username } => IdentityReply::User(user(username)),
        IdentityQuery::Users { .. } => IdentityReply::Users(page(vec![user("ann"), user("bob")])),
        IdentityQuery::PasswordHash { .. } => IdentityReply::PasswordHash(PasswordHash("$x".into())),
        IdentityQuery::Circle { kind, id } => IdentityReply::Circle(circle(*kind, 1, id)),
        IdentityQuery::Circles { kind, .. } | IdentityQuery::CirclesOf { kind, .. } => {
            IdentityReply::Circles(page(vec![circle(*kind, 9, "a"), circle(*kind, 3, "b")]))
        }
        IdentityQuery::MappingRule { id } => IdentityReply::MappingRule(rule(id, "staff")),
        IdentityQuery::Members { entity_type: EntityType::MappingRule, .. }
        | IdentityQuery::MappingRules { .. } => {
            IdentityReply::MappingRules(page(vec![rule("a", "staff"), rule("b", "guests")]))
        }
        IdentityQuery::Members { entity_type: EntityType::Role, .. } => IdentityReply::Circles(page(vec![
            circle(CircleKind::Role, 9, "a"),
            circle(CircleKind::Role, 3, "b"),
        ])),
        IdentityQuery::Members { .. } => IdentityReply::Members(page(vec!["a".into(), "b".into()])),
        IdentityQuery::Authorization { key } => {
            IdentityReply::Authorization(authorization(*key, "ann", AuthorizationScope::from_id("m")))
        }
        IdentityQuery::Authorizations { .. } => IdentityReply::Authorizations(page(vec![
            authorization(1, "ann", AuthorizationScope::Any),
            authorization(2, "ann", AuthorizationScope::from_id("m")),
            authorization(3, "o", AuthorizationScope::Property(UserTaskProperty::Assignee)),
        ])),
        IdentityQuery::HasAdministrator => IdentityReply::HasAdministrator(false),
        IdentityQuery::Grants { .. } => IdentityReply::Grants(Box::default()),
        IdentityQuery::GrantsVersion => IdentityReply::GrantsVersion(1),
    })
}
