//! Users, groups, roles, tenants, mapping rules and authorizations.

use std::sync::Arc;

use broker_api::SubmitError;
use protocol::{
    Authorization, AuthorizationScope, AuthorizationView, Circle, CircleKind, CircleView, Command,
    EntityType, IdentityCommand, IdentityQuery, IdentityReply, MappingRule, Membership, Name, Page,
    PasswordHash, PermissionType, Rejection, RejectionType, ResourceType, Response, SavedViewCommand, User,
    UserTaskProperty, UserView,
};
use serde_json::{Value, json};

use super::super::contract::{OPERATIONS, Operation};
use super::super::{Options, SetUp};
use super::contract::check_response;
use super::fake::FakeBroker;
use super::operations::{bad, fail_with, succeed};
use super::{block_on, gateway, gateway_with, request, text, views};

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

/// The fake broker's answer to a command.
pub(super) fn usual(command: &IdentityCommand) -> Response {
    match command {
        IdentityCommand::CreateUser(user) | IdentityCommand::CreateAdministrator(user) => {
            let User { username, name, email, .. } = user.clone();
            Response::User(UserView { username, name, email })
        }
        IdentityCommand::UpdateUser(change) => {
            let known = user(&change.username);
            Response::User(UserView {
                username: known.username,
                name: change.name.clone().unwrap_or(known.name),
                email: change.email.clone().unwrap_or(known.email),
            })
        }
        IdentityCommand::CreateAuthorization(_) => Response::AuthorizationCreated { authorization_key: 5 },
        IdentityCommand::SavedView(SavedViewCommand::Create(view) | SavedViewCommand::Update(view)) => {
            Response::SavedView(view.clone())
        }
        _ => Response::Done,
    }
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
        IdentityQuery::HadAdministrator => IdentityReply::HadAdministrator(false),
        // Asked by the gateway itself only.
        IdentityQuery::Grants { .. } => IdentityReply::Grants(Box::default()),
        IdentityQuery::GrantsVersion => IdentityReply::GrantsVersion(1),
        IdentityQuery::SavedViews { .. } => IdentityReply::SavedViews(vec![]),
    })
}

fn sent(operation: Operation, path: &str, body: &str) -> (String, IdentityCommand) {
    match succeed(operation, path, body) {
        (answer, Command::Identity(command)) => (answer, command),
        (_, other) => panic!("{other:?}"),
    }
}

#[test]
fn users_are_created_with_a_hash_of_their_password() {
    let path = "/v2/users";
    let body = r#"{"username":"ann","password":"hunter 2","name":"Ann","email":"ann@example.com"}"#;
    let (answer, command) = sent(Operation::CreateUser, path, body);
    assert_eq!(answer, r#"{"username":"ann","name":"Ann","email":"ann@example.com"}"#);
    let IdentityCommand::CreateUser(user) = command else { panic!("{command:?}") };
    assert_eq!([&*user.username, &*user.name, &*user.email], ["ann", "Ann", "ann@example.com"]);
    assert!(user.password_hash.0.starts_with("$argon2id$"), "{}", user.password_hash.0);
    let (answer, _) = sent(Operation::CreateUser, path, r#"{"username":"bob","password":"p"}"#);
    assert_eq!(answer, r#"{"username":"bob","name":null,"email":null}"#);
    bad("POST", path, r#"{"username":"ann","password":" "}"#, "password: must not be blank");
    for email in ["ann", "@b", "a@", "a b@c", "a@b@c"] {
        let body = json!({"username": "ann", "password": "p", "email": email}).to_string();
        bad("POST", path, &body, "email: must be an address such as name@example.com");
    }
    bad(
        "POST",
        path,
        r#"{"username":"ann !","password":"p"}"#,
        r#"username: "ann !" does not match ^[A-Za-z0-9_@.+-]+$"#,
    );
}

#[test]
fn users_keep_what_a_change_does_not_say() {
    let path = "/v2/users/ann";
    let change = |body: &str| match sent(Operation::UpdateUser, path, body) {
        (answer, IdentityCommand::UpdateUser(change)) => (answer, change),
        other => panic!("{other:?}"),
    };
    let (answer, found) = change("{}");
    assert_eq!(answer, r#"{"username":"ann","name":"Ann","email":"ann@example.com"}"#);
    assert_eq!((found.name, found.email, found.password_hash), (None, None, None));
    let (answer, found) = change(r#"{"name":"Anna","email":"","password":" "}"#);
    assert_eq!(answer, r#"{"username":"ann","name":"Anna","email":null}"#);
    assert_eq!((found.name, found.email), (Some("Anna".into()), Some(Name::default())));
    assert_eq!(found.password_hash, None, "a blank password changes nothing");
    let (_, found) = change(r#"{"password":"new"}"#);
    assert!(found.password_hash.is_some_and(|hash| hash.0.starts_with("$argon2id$")));
    bad("PUT", path, r#"{"email":"x"}"#, "email: must be an address such as name@example.com");
    let (_, command) = sent(Operation::DeleteUser, path, "");
    assert_eq!(command, IdentityCommand::DeleteUser { username: "ann".into() });
}

#[test]
fn the_first_administrator_is_created_by_anybody() {
    let path = "/v2/setup/user";
    let body = r#"{"username":"ann","password":"p"}"#;
    let (_, command) = sent(Operation::CreateAdminUser, path, body);
    let IdentityCommand::CreateAdministrator(user) = command else { panic!("{command:?}") };
    assert_eq!(&*user.username, "ann");
    // Another request was faster.
    let broker = Arc::new(FakeBroker::default());
    let reason = Rejection::new(RejectionType::Forbidden, "there is one");
    broker.scripted.lock().push_back(Err(reason.into()));
    let detail = "Command 'CREATE_INITIAL_ADMIN' rejected with code 'FORBIDDEN': there is one";
    fail_with(&broker, "POST", path, body, 403, "FORBIDDEN", detail);
    // There was one for long: nothing is hashed or submitted.
    let broker = Arc::new(FakeBroker { has_administrator: true, ..FakeBroker::default() });
    let detail = "Command 'CREATE_INITIAL_ADMIN' rejected with code 'FORBIDDEN': Expected to create the first administrator, \
                  but there is or was one already";
    fail_with(&broker, "POST", path, body, 403, "FORBIDDEN", detail);
    assert!(broker.commands.lock().is_empty());
    // Where users are not kept here, nobody comes in that way, even if there is none.
    let broker = Arc::new(FakeBroker::default());
    let options = Options { set_up: SetUp::Closed("it is closed"), ..Options::default() };
    let gateway = gateway_with(&broker, options);
    let answer = block_on(async { text(gateway.answer(request("POST", path, body)).await).await });
    let detail = "Command 'CREATE_INITIAL_ADMIN' rejected with code 'FORBIDDEN': Expected to create the first administrator, \
                  but it is closed";
    assert_eq!(answer.0, 403);
    assert!(answer.1.contains(detail), "{}", answer.1);
    assert!(broker.commands.lock().is_empty());
}

const CIRCLES: [(CircleKind, &str, &str, [Operation; 5]); 3] = [
    (
        CircleKind::Group,
        "/v2/groups",
        "groupId",
        [
            Operation::CreateGroup,
            Operation::GetGroup,
            Operation::UpdateGroup,
            Operation::DeleteGroup,
            Operation::SearchGroups,
        ],
    ),
    (
        CircleKind::Role,
        "/v2/roles",
        "roleId",
        [
            Operation::CreateRole,
            Operation::GetRole,
            Operation::UpdateRole,
            Operation::DeleteRole,
            Operation::SearchRoles,
        ],
    ),
    (
        CircleKind::Tenant,
        "/v2/tenants",
        "tenantId",
        [
            Operation::CreateTenant,
            Operation::GetTenant,
            Operation::UpdateTenant,
            Operation::DeleteTenant,
            Operation::SearchTenants,
        ],
    ),
];

#[test]
fn groups_roles_and_tenants_are_created_read_changed_and_deleted() {
    for (kind, path, id_name, [create, get, update, delete, _]) in CIRCLES {
        let circle = |name: &str, description: &str| Circle {
            id: "a".into(),
            name: name.into(),
            description: description.into(),
        };
        let body = format!(r#"{{"{id_name}":"a","name":"n","description":"d"}}"#);
        let (answer, command) = sent(create, path, &body);
        assert_eq!(answer, body);
        assert_eq!(command, IdentityCommand::CreateCircle { kind, circle: circle("n", "d") });
        let one = format!("{path}/a");
        let (answer, command) = sent(update, &one, r#"{"name":"m"}"#);
        assert_eq!(answer, format!(r#"{{"{id_name}":"a","name":"m","description":null}}"#));
        assert_eq!(command, IdentityCommand::UpdateCircle { kind, circle: circle("m", "") });
        let (_, command) = sent(delete, &one, "");
        assert_eq!(command, IdentityCommand::DeleteCircle { kind, id: "a".into() });
        let noun = kind.as_str().to_lowercase();
        let expected = format!(r#"{{"{id_name}":"a","name":"{noun} a","description":"what for"}}"#);
        views::succeed(get, &one, &expected);
        let body = format!(r#"{{"{id_name}":"a","name":" "}}"#);
        bad("POST", path, &body, "name: must not be blank");
        bad("PUT", &one, r#"{"name":" "}"#, "name: must not be blank");
    }
}

#[test]
fn mapping_rules_are_created_read_changed_and_deleted() {
    let (path, one) = ("/v2/mapping-rules", "/v2/mapping-rules/a");
    let rule = MappingRule {
        id: "a".into(),
        claim_name: "groups".into(),
        claim_value: "staff".into(),
        name: "Rule a".into(),
    };
    let body = r#"{"mappingRuleId":"a","claimName":"groups","claimValue":"staff","name":"Rule a"}"#;
    let (answer, command) = sent(Operation::CreateMappingRule, path, body);
    assert_eq!((answer.as_str(), command), (body, IdentityCommand::CreateMappingRule(rule.clone())));
    let change = r#"{"claimName":"groups","claimValue":"staff","name":"Rule a"}"#;
    let (answer, command) = sent(Operation::UpdateMappingRule, one, change);
    assert_eq!((answer.as_str(), command), (body, IdentityCommand::UpdateMappingRule(rule)));
    let (_, command) = sent(Operation::DeleteMappingRule, one, "");
    assert_eq!(command, IdentityCommand::DeleteMappingRule { id: "a".into() });
    views::succeed(Operation::GetMappingRule, one, body);
    for field in ["claimName", "claimValue", "name"] {
        let body = change.replace(&format!(r#""{field}":""#), &format!(r#""{field}":" ","x":""#));
        let mut body: Value = serde_json::from_str(&body).unwrap();
        body.as_object_mut().unwrap().remove("x");
        bad("PUT", one, &body.to_string(), &format!("{field}: must not be blank"));
    }
}

#[test]
fn the_claim_of_a_mapping_rule_may_be_a_jsonpath() {
    let rule = |claim: &str| {
        format!(r#"{{"mappingRuleId":"a","claimName":"{claim}","claimValue":"staff","name":"A"}}"#)
    };
    let good = rule("$.realm_access.roles[?@ != 'x']");
    let (answer, command) = sent(Operation::CreateMappingRule, "/v2/mapping-rules", &good);
    assert_eq!(answer, good);
    let IdentityCommand::CreateMappingRule(MappingRule { claim_name, .. }) = command else {
        panic!("{command:?}")
    };
    assert_eq!(&*claim_name, "$.realm_access.roles[?@ != 'x']");
    bad(
        "POST",
        "/v2/mapping-rules",
        &rule("$.roles["),
        "claimName: '$.roles[' is no path to a claim: at position 7, parser error",
    );
    let reason = "claimName: '$..a..b' is no path to a claim: it has '..' more than once";
    let body = rule("$..a..b").replace(r#""mappingRuleId":"a","#, "");
    bad("PUT", "/v2/mapping-rules/a", &body, reason);
}

/// Each operation that adds or removes a member, by its path: a group, role or tenant, and then the member.
#[test]
fn members_come_and_go() {
    let mut count = 0;
    for spec in OPERATIONS.iter().filter(|spec| ["PUT", "DELETE"].contains(&spec.method)) {
        let parts: Vec<_> = spec.path.trim_start_matches("/v2/").split('/').collect();
        let [circle, _, member, _] = parts[..] else { continue };
        let kind = match circle {
            "groups" => CircleKind::Group,
            "roles" => CircleKind::Role,
            "tenants" => CircleKind::Tenant,
            _ => continue,
        };
        let entity_type = match member {
            "users" => EntityType::User,
            "clients" => EntityType::Client,
            "groups" => EntityType::Group,
            "roles" => EntityType::Role,
            "mapping-rules" => EntityType::MappingRule,
            other => panic!("{other}"),
        };
        let broker = Arc::new(FakeBroker::default());
        let gateway = gateway(&broker);
        let path = format!("/v2/{circle}/a/{member}/b");
        let (status, answer) =
            block_on(async { text(gateway.answer(request(spec.method, &path, "")).await).await });
        check_response(spec, status, &answer);
        let membership = Membership { kind, circle_id: "a".into(), entity_type, entity_id: "b".into() };
        let expected = match spec.method {
            "PUT" => IdentityCommand::AddMember(membership),
            _ => IdentityCommand::RemoveMember(membership),
        };
        assert_eq!(broker.last(), Command::Identity(expected), "{}", spec.id);
        count += 1;
    }
    let kinds = CircleKind::ALL.iter().map(|kind| kind.members().len());
    assert_eq!(count, 2 * kinds.sum::<usize>(), "each kind of member can be added and removed");
    bad("PUT", "/v2/groups/g/clients/a%20b", "", r#"clientId: "a b" does not match ^[A-Za-z0-9_~@.+-]+$"#);
}

#[test]
fn authorizations_are_created_read_changed_and_deleted() {
    let (path, one) = ("/v2/authorizations", "/v2/authorizations/5");
    let authorization = |scope, permissions| Authorization {
        owner_type: EntityType::MappingRule,
        owner_id: "m".into(),
        resource_type: ResourceType::UserTask,
        scope,
        permissions,
    };
    let body = |scope: &str, permissions: &str| {
        format!(
            r#"{{"ownerType":"MAPPING_RULE","ownerId":"m","resourceType":"USER_TASK",{scope},"permissionTypes":{permissions}}}"#
        )
    };
    let by_id = body(r#""resourceId":"7""#, r#"["READ","CLAIM"]"#);
    let (answer, command) = sent(Operation::CreateAuthorization, path, &by_id);
    assert_eq!(answer, r#"{"authorizationKey":"5"}"#);
    let expected =
        authorization(AuthorizationScope::Id("7".into()), vec![PermissionType::Read, PermissionType::Claim]);
    assert_eq!(command, IdentityCommand::CreateAuthorization(expected.clone()));
    let (_, command) = sent(Operation::UpdateAuthorization, one, &by_id);
    let update = IdentityCommand::UpdateAuthorization { authorization_key: 5, authorization: expected };
    assert_eq!(command, update);
    for (scope, expected) in [
        (r#""resourceId":"*""#, AuthorizationScope::Any),
        (
            r#""resourcePropertyName":"candidateGroups""#,
            AuthorizationScope::Property(UserTaskProperty::CandidateGroups),
        ),
    ] {
        let (_, command) = sent(Operation::CreateAuthorization, path, &body(scope, r#"["READ"]"#));
        let expected = authorization(expected, vec![PermissionType::Read]);
        assert_eq!(command, IdentityCommand::CreateAuthorization(expected));
    }
    let (_, command) = sent(Operation::DeleteAuthorization, one, "");
    assert_eq!(command, IdentityCommand::DeleteAuthorization { authorization_key: 5 });
    views::succeed(
        Operation::GetAuthorization,
        one,
        r#"{"authorizationKey":"5","ownerType":"USER","ownerId":"ann","resourceType":"MESSAGE","resourceId":"m","resourcePropertyName":null,"permissionTypes":["READ"]}"#,
    );
    bad(
        "POST",
        path,
        &body(r#""resourcePropertyName":"name""#, r#"["READ"]"#),
        "resourcePropertyName: expected one of assignee, candidateUsers, candidateGroups",
    );
    bad(
        "POST",
        path,
        &by_id.replace("MAPPING_RULE", "UNSPECIFIED"),
        "ownerType: expected one of USER, CLIENT, GROUP, ROLE, MAPPING_RULE",
    );
    bad("POST", path, &by_id.replace(r#""7""#, r#"" ""#), "resourceId: must not be blank");
    bad("POST", path, &by_id.replace(r#""m""#, r#"" ""#), "ownerId: must not be blank");
}

/// Results of a search, by one of their properties.
fn found(operation: Operation, path: &str, body: &str, property: &str) -> String {
    let gateway = gateway(&Arc::default());
    let spec = operation.spec();
    let (status, answer) =
        block_on(async { text(gateway.answer(request("POST", path, body.to_owned())).await).await });
    check_response(spec, status, &answer);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|item| item[property].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn groups_roles_and_tenants_are_searched() {
    for (kind, path, id_name, [.., search]) in CIRCLES {
        let found = |body: String| found(search, &format!("{path}/search"), &body, id_name);
        let noun = kind.as_str().to_lowercase();
        assert_eq!(found(String::new()), "a b");
        assert_eq!(found(format!(r#"{{"filter":{{"{id_name}":"b"}}}}"#)), "b");
        assert_eq!(found(format!(r#"{{"filter":{{"name":"{noun} a"}}}}"#)), "a");
        assert_eq!(found(format!(r#"{{"filter":{{"name":"{noun}"}}}}"#)), "");
        assert_eq!(found(format!(r#"{{"sort":[{{"field":"{id_name}","order":"DESC"}}]}}"#)), "b a");
        assert_eq!(found(r#"{"sort":[{"field":"name"}],"page":{"limit":1}}"#.to_owned()), "a");
    }
    let by_key = r#"{"sort":[{"field":"key"}]}"#;
    assert_eq!(found(Operation::SearchTenants, "/v2/tenants/search", by_key, "tenantId"), "b a");
    let of_group = "/v2/groups/g/roles/search";
    assert_eq!(found(Operation::SearchRolesForGroup, of_group, "", "roleId"), "a b");
    assert_eq!(
        found(Operation::SearchRolesForGroup, of_group, r#"{"filter":{"roleId":"b"}}"#, "roleId"),
        "b"
    );
}

#[test]
fn users_and_mapping_rules_are_searched() {
    let users = |body: &str| found(Operation::SearchUsers, "/v2/users/search", body, "username");
    assert_eq!(users(""), "ann bob");
    assert_eq!(users(r#"{"filter":{"username":{"$like":"b*"}}}"#), "bob");
    assert_eq!(users(r#"{"filter":{"email":{"$exists":true}}}"#), "ann");
    assert_eq!(users(r#"{"filter":{"name":"Ann"}}"#), "ann");
    assert_eq!(users(r#"{"sort":[{"field":"username","order":"DESC"}]}"#), "bob ann");
    let rules =
        |body: &str| found(Operation::SearchMappingRule, "/v2/mapping-rules/search", body, "mappingRuleId");
    assert_eq!(rules(""), "a b");
    assert_eq!(rules(r#"{"filter":{"claimValue":"guests","claimName":"groups"}}"#), "b");
    assert_eq!(rules(r#"{"filter":{"name":"Rule a"}}"#), "a");
    assert_eq!(rules(r#"{"sort":[{"field":"claimValue"}]}"#), "b a");
}

#[test]
fn users_groups_roles_and_rules_are_searched_by_alternatives() {
    for (operation, path, id, [first, second]) in [
        (Operation::SearchUsers, "/v2/users/search", "username", ["ann", "bob"]),
        (Operation::SearchGroups, "/v2/groups/search", "groupId", ["a", "b"]),
        (Operation::SearchRoles, "/v2/roles/search", "roleId", ["a", "b"]),
        (Operation::SearchMappingRule, "/v2/mapping-rules/search", "mappingRuleId", ["a", "b"]),
    ] {
        let either = |more: Value, alternatives: Value| {
            let mut filter = json!({"$or": alternatives});
            filter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            found(operation, path, &json!({"filter": filter}).to_string(), id)
        };
        let both = format!("{first} {second}");
        assert_eq!(either(json!({}), json!([{id: first}, {id: {"$like": format!("{second}*")}}])), both);
        assert_eq!(either(json!({id: second}), json!([{id: first}, {id: {"$in": [second]}}])), second);
        assert_eq!(either(json!({}), json!([{id: first, "name": "nobody"}, {id: second}])), second);
        assert_eq!(either(json!({id: second}), json!([{id: first}])), "");
        assert_eq!(either(json!({}), json!([])), both, "no alternatives ask for nothing");
        assert_eq!(either(json!({}), json!([{}])), both);
        let detail = "filter: it has more than 1000 conditions, empty alternatives of $or included";
        bad("POST", path, &json!({"filter": {"$or": vec![json!({}); 1001]}}).to_string(), detail);
    }
}

#[test]
fn members_are_searched() {
    for (operation, path, property) in [
        (Operation::SearchUsersForGroup, "/v2/groups/g/users/search", "username"),
        (Operation::SearchClientsForGroup, "/v2/groups/g/clients/search", "clientId"),
        (Operation::SearchMappingRulesForGroup, "/v2/groups/g/mapping-rules/search", "mappingRuleId"),
        (Operation::SearchUsersForRole, "/v2/roles/r/users/search", "username"),
        (Operation::SearchClientsForRole, "/v2/roles/r/clients/search", "clientId"),
        (Operation::SearchGroupsForRole, "/v2/roles/r/groups/search", "groupId"),
        (Operation::SearchMappingRulesForRole, "/v2/roles/r/mapping-rules/search", "mappingRuleId"),
        (Operation::SearchUsersForTenant, "/v2/tenants/t/users/search", "username"),
        (Operation::SearchClientsForTenant, "/v2/tenants/t/clients/search", "clientId"),
        (Operation::SearchGroupIdsForTenant, "/v2/tenants/t/groups/search", "groupId"),
        (Operation::SearchRolesForTenant, "/v2/tenants/t/roles/search", "roleId"),
        (Operation::SearchMappingRulesForTenant, "/v2/tenants/t/mapping-rules/search", "mappingRuleId"),
    ] {
        assert_eq!(found(operation, path, "", property), "a b", "{path}");
        let body = format!(r#"{{"sort":[{{"field":"{property}","order":"DESC"}}],"page":{{"limit":1}}}}"#);
        assert_eq!(found(operation, path, &body, property), "b", "{path}");
    }
}

#[test]
fn authorizations_are_searched() {
    let keys = |body: &str| {
        found(Operation::SearchAuthorizations, "/v2/authorizations/search", body, "authorizationKey")
    };
    assert_eq!(keys(""), "1 2 3");
    assert_eq!(keys(r#"{"filter":{"ownerId":"ann"}}"#), "1 2");
    assert_eq!(keys(r#"{"filter":{"ownerType":"ROLE"}}"#), "3");
    assert_eq!(keys(r#"{"filter":{"resourceType":"MESSAGE"}}"#), "1 2");
    assert_eq!(keys(r#"{"filter":{"resourceIds":["m","x"]}}"#), "2");
    assert_eq!(keys(r#"{"filter":{"resourceIds":["*"],"ownerId":"ann"}}"#), "1");
    assert_eq!(keys(r#"{"filter":{"resourcePropertyNames":["assignee"]}}"#), "3");
    assert_eq!(keys(r#"{"filter":{"resourceIds":[],"ownerId":"ann"}}"#), "1 2");
    assert_eq!(keys(r#"{"sort":[{"field":"resourceType","order":"DESC"},{"field":"resourceId"}]}"#), "3 1 2");
}

#[test]
fn who_is_not_there_is_not_found() {
    let gateway = gateway(&Arc::default());
    let (status, answer) =
        block_on(async { text(gateway.answer(request("GET", "/v2/users/none", "")).await).await });
    assert_eq!(status, 404);
    assert!(answer.contains("User with username 'none' not found"), "{answer}");
}
