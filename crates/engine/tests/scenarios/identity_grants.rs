//! Authorizations: their evaluation, the same from a gateway's cache, and lists of principals.

use engine::identity::is_authorized;
use protocol::{
    Access, Authorization, AuthorizationScope, Circle, CircleKind, CircleView, Command, EntityType, Grants,
    IdentityCommand, IdentityQuery, IdentityReply, MappingRule, Membership, Name, PasswordHash,
    PermissionType, Principal, Query, QueryReply, ResourceType, User, UserTaskProperty,
};

use crate::support::{Harness, Random};

use EntityType as E;
use PermissionType as P;
use ResourceType as R;

fn change(harness: &mut Harness, command: IdentityCommand) {
    harness.command(Command::Identity(command)).unwrap().unwrap();
}

fn user(harness: &mut Harness, username: &str) {
    let (name, email) = (Name::default(), Name::default());
    let password_hash = PasswordHash("h".into());
    change(
        harness,
        IdentityCommand::CreateUser(User { username: username.into(), name, email, password_hash }),
    );
}

fn rule(harness: &mut Harness, id: &str, claim_name: &str, claim_value: &str) {
    let (claim_name, claim_value) = (claim_name.into(), claim_value.into());
    let rule = MappingRule { id: id.into(), claim_name, claim_value, name: id.into() };
    change(harness, IdentityCommand::CreateMappingRule(rule));
}

fn circle(harness: &mut Harness, kind: CircleKind, id: &str) {
    let circle = Circle { id: id.into(), name: id.into(), description: Name::default() };
    change(harness, IdentityCommand::CreateCircle { kind, circle });
}

fn membership(entity: (E, &str), circle: (CircleKind, &str)) -> Membership {
    Membership {
        kind: circle.0,
        circle_id: circle.1.into(),
        entity_type: entity.0,
        entity_id: entity.1.into(),
    }
}

fn join(harness: &mut Harness, entity: (E, &str), circle: (CircleKind, &str)) {
    change(harness, IdentityCommand::AddMember(membership(entity, circle)));
}

fn allow(
    harness: &mut Harness,
    owner: (E, &str),
    resource_type: R,
    scope: AuthorizationScope,
    permission: P,
) {
    let authorization = Authorization {
        owner_type: owner.0,
        owner_id: owner.1.into(),
        resource_type,
        scope,
        permissions: vec![permission],
    };
    change(harness, IdentityCommand::CreateAuthorization(authorization));
}

fn ask(harness: &mut Harness, query: IdentityQuery) -> IdentityReply {
    match harness.read(&Query::Identity(query)).unwrap() {
        QueryReply::Identity(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn grants(harness: &mut Harness, principal: &Principal) -> Grants {
    match ask(harness, IdentityQuery::Grants { principal: principal.clone(), limit: 10_000 }) {
        IdentityReply::Grants(grants) => *grants,
        other => panic!("{other:?}"),
    }
}

/// Evaluated by the tables and by the cache of a gateway, which must agree.
fn may(harness: &mut Harness, principal: &Principal, access: &Access<'_>) -> bool {
    let wanted = is_authorized(harness.engine().tables(), principal, access).unwrap();
    assert_eq!(grants(harness, principal).allows(access), wanted, "{principal:?} {access:?}");
    wanted
}

fn access(resource_type: R, permission: P, resource_id: &str) -> Access<'_> {
    Access { resource_type, permission, resource_id: Some(resource_id), properties: &[] }
}

#[test]
fn an_authorization_is_for_its_resource_and_permission_only() {
    let mut harness = Harness::new();
    user(&mut harness, "ann");
    let ann = Principal::user("ann");
    let read = access(R::ProcessDefinition, P::ReadProcessInstance, "order");
    assert!(!may(&mut harness, &ann, &read), "nothing is granted by default");
    allow(
        &mut harness,
        (E::User, "ann"),
        R::ProcessDefinition,
        AuthorizationScope::from_id("order"),
        P::ReadProcessInstance,
    );
    assert!(may(&mut harness, &ann, &read));
    for other in [
        access(R::ProcessDefinition, P::ReadProcessInstance, "order2"),
        access(R::ProcessDefinition, P::UpdateProcessInstance, "order"),
        access(R::DecisionDefinition, P::ReadProcessInstance, "order"),
        Access { resource_id: None, ..read },
    ] {
        assert!(!may(&mut harness, &ann, &other), "{other:?}");
    }
    assert!(!may(&mut harness, &Principal::user("bob"), &read));
    let client = Principal { entity_type: E::Client, ..ann.clone() };
    assert!(!may(&mut harness, &client, &read), "a client is not the user of its name");
    allow(
        &mut harness,
        (E::Client, "ann"),
        R::ProcessDefinition,
        AuthorizationScope::from_id("*"),
        P::ReadProcessInstance,
    );
    assert!(may(&mut harness, &client, &read));
    assert!(may(&mut harness, &client, &Access { resource_id: None, ..read }));
    // Special characters in an ID have no meaning.
    assert!(!may(&mut harness, &ann, &access(R::ProcessDefinition, P::ReadProcessInstance, "*")));
}

#[test]
fn user_tasks_may_name_the_principal() {
    let mut harness = Harness::new();
    user(&mut harness, "ann");
    let ann = Principal::user("ann");
    let scope = AuthorizationScope::Property(UserTaskProperty::Assignee);
    allow(&mut harness, (E::User, "ann"), R::UserTask, scope, P::Complete);
    let complete = access(R::UserTask, P::Complete, "7");
    assert!(!may(&mut harness, &ann, &complete));
    let properties = &[UserTaskProperty::CandidateUsers, UserTaskProperty::Assignee];
    assert!(may(&mut harness, &ann, &Access { properties, ..complete }));
    assert!(!may(&mut harness, &ann, &Access { properties: &properties[..1], ..complete }));
    assert!(!may(&mut harness, &ann, &Access { properties, permission: P::Claim, ..complete }));
}

/// The path from a token to a grant: claim, mapping rule, group, role.
#[test]
fn grants_come_by_groups_roles_and_mapping_rules() {
    let mut harness = Harness::new();
    user(&mut harness, "ann");
    rule(&mut harness, "staff", "department", "staff");
    circle(&mut harness, CircleKind::Group, "g");
    circle(&mut harness, CircleKind::Group, "named");
    circle(&mut harness, CircleKind::Role, "r");
    circle(&mut harness, CircleKind::Role, "s");
    for tenant in ["t1", "t2", "t3", "t4"] {
        circle(&mut harness, CircleKind::Tenant, tenant);
    }
    join(&mut harness, (E::MappingRule, "staff"), (CircleKind::Group, "g"));
    join(&mut harness, (E::Group, "g"), (CircleKind::Role, "r"));
    join(&mut harness, (E::Group, "named"), (CircleKind::Role, "s"));
    join(&mut harness, (E::User, "ann"), (CircleKind::Tenant, "t1"));
    join(&mut harness, (E::Role, "r"), (CircleKind::Tenant, "t2"));
    join(&mut harness, (E::Group, "named"), (CircleKind::Tenant, "t3"));
    allow(&mut harness, (E::Role, "r"), R::Message, AuthorizationScope::Any, P::Create);
    allow(&mut harness, (E::Role, "s"), R::Message, AuthorizationScope::Any, P::Read);
    allow(&mut harness, (E::MappingRule, "staff"), R::Document, AuthorizationScope::Any, P::Read);
    let (create, read) = (access(R::Message, P::Create, "m"), access(R::Message, P::Read, "m"));
    let document = access(R::Document, P::Read, "d");
    let ann = Principal::user("ann");
    assert!(!may(&mut harness, &ann, &create));
    let claimed = Principal {
        claims: vec![("department".into(), "hr".into()), ("department".into(), "staff".into())],
        ..ann.clone()
    };
    assert!(may(&mut harness, &claimed, &create));
    assert!(may(&mut harness, &claimed, &document));
    assert!(!may(&mut harness, &claimed, &read));
    let grouped = Principal { groups: vec!["named".into()], ..ann.clone() };
    assert!(may(&mut harness, &grouped, &read));
    assert!(!may(&mut harness, &grouped, &create));
    let all = Principal { groups: vec!["named".into()], ..claimed };
    let found = grants(&mut harness, &all);
    let names = |list: &[Name]| list.iter().map(|name| &**name).collect::<Vec<_>>().join(",");
    assert_eq!(names(&found.mapping_rules), "staff");
    assert_eq!(names(&found.groups), "g,named");
    assert_eq!(names(&found.roles), "r,s");
    assert_eq!(names(&found.tenants), "t1,t2,t3");
    assert_eq!((found.authorizations.len(), found.has_more), (3, false));
    // The deletion of a role removes its memberships and authorizations.
    change(&mut harness, IdentityCommand::DeleteCircle { kind: CircleKind::Role, id: "r".into() });
    assert!(!may(&mut harness, &all, &create));
    assert_eq!(names(&grants(&mut harness, &all).tenants), "t1,t3");
    change(&mut harness, IdentityCommand::DeleteMappingRule { id: "staff".into() });
    assert!(!may(&mut harness, &all, &document));
    harness.verify_replay(1);
}

#[test]
fn what_is_kept_of_grants_is_known_to_be_old() {
    let mut harness = Harness::new();
    let version = |harness: &mut Harness| match ask(harness, IdentityQuery::GrantsVersion) {
        IdentityReply::GrantsVersion(version) => version,
        other => panic!("{other:?}"),
    };
    let ann = Principal::user("ann");
    assert_eq!((version(&mut harness), grants(&mut harness, &ann).valid_from), (0, 0));
    user(&mut harness, "ann");
    let first = version(&mut harness);
    assert!(first > 0);
    assert_eq!(grants(&mut harness, &ann).valid_from, first);
    harness.command(Command::Tick);
    let again = IdentityCommand::DeleteUser { username: "nobody".into() };
    harness.command(Command::Identity(again)).unwrap().unwrap_err();
    harness.flush_and_reopen();
    assert_eq!(version(&mut harness), first, "nothing has changed");
    circle(&mut harness, CircleKind::Group, "g");
    let second = version(&mut harness);
    join(&mut harness, (E::User, "ann"), (CircleKind::Group, "g"));
    let third = version(&mut harness);
    assert!(first < second && second < third);
}

#[test]
fn there_may_be_more_grants_than_a_gateway_wants() {
    let mut harness = Harness::new();
    circle(&mut harness, CircleKind::Role, "r");
    let client = Principal { entity_type: E::Client, ..Principal::user("c") };
    join(&mut harness, (E::Client, "c"), (CircleKind::Role, "r"));
    for number in 0..600 {
        let scope = AuthorizationScope::Id(format!("p{number}").into());
        let owner = if number % 3 == 0 { (E::Client, "c") } else { (E::Role, "r") };
        allow(&mut harness, owner, R::ProcessDefinition, scope, P::ReadProcessInstance);
    }
    for (limit, found) in [(0, 0), (599, 599), (600, 600), (10_000, 600)] {
        let query = IdentityQuery::Grants { principal: client.clone(), limit };
        let IdentityReply::Grants(grants) = ask(&mut harness, query) else { panic!("grants") };
        assert_eq!((grants.authorizations.len(), grants.has_more), (found, found < 600));
    }
    assert!(may(&mut harness, &client, &access(R::ProcessDefinition, P::ReadProcessInstance, "p599")));
}

/// For any grants, both evaluations agree with a plain reading of the authorizations.
#[test]
fn random_grants_are_evaluated_as_they_read() {
    let circles = [
        (CircleKind::Group, "g"),
        (CircleKind::Group, "h"),
        (CircleKind::Role, "r"),
        (CircleKind::Role, "s"),
    ];
    let owners = [
        (E::User, "a"),
        (E::User, "b"),
        (E::Group, "g"),
        (E::Group, "h"),
        (E::Role, "r"),
        (E::Role, "s"),
        (E::MappingRule, "m"),
    ];
    let scopes = [
        AuthorizationScope::Any,
        AuthorizationScope::from_id("1"),
        AuthorizationScope::from_id("2"),
        AuthorizationScope::Property(UserTaskProperty::Assignee),
    ];
    let mut allowed = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut harness = Harness::new();
        user(&mut harness, "a");
        user(&mut harness, "b");
        rule(&mut harness, "m", "n", "v");
        for (kind, id) in circles {
            circle(&mut harness, kind, id);
        }
        let mut edges = Vec::new();
        for owner in owners {
            for circle in circles {
                if circle.0.members().contains(&owner.0) && random.percent(25) {
                    join(&mut harness, owner, circle);
                    edges.push((owner, circle));
                }
            }
        }
        let mut granted = Vec::new();
        for owner in owners {
            for scope in &scopes {
                if random.percent(10) {
                    allow(&mut harness, owner, R::UserTask, scope.clone(), P::Claim);
                    granted.push((owner, scope.clone()));
                }
            }
        }
        let principal = Principal { claims: vec![("n".into(), "v".into())], ..Principal::user("a") };
        let mut owned = vec![(E::User, "a"), (E::MappingRule, "m")];
        for _ in 0..2 {
            for ((entity, id), (kind, circle)) in &edges {
                if owned.contains(&(*entity, *id)) {
                    owned.push((kind.as_entity().unwrap(), *circle));
                }
            }
        }
        for resource_id in ["1", "2", "3"] {
            for properties in [&[][..], &[UserTaskProperty::Assignee]] {
                let ask = Access { properties, ..access(R::UserTask, P::Claim, resource_id) };
                let wanted = granted.iter().any(|(owner, scope)| {
                    owned.contains(owner)
                        && match scope {
                            AuthorizationScope::Any => true,
                            AuthorizationScope::Id(id) => &**id == resource_id,
                            AuthorizationScope::Property(property) => properties.contains(property),
                        }
                });
                assert_eq!(may(&mut harness, &principal, &ask), wanted, "seed {seed}: {ask:?}");
                allowed += usize::from(wanted);
            }
        }
    }
    assert!((40..200).contains(&allowed), "{allowed} of 240 were allowed: the test is lopsided");
}

#[test]
fn everybody_is_listed() {
    let mut harness = Harness::new();
    for number in 0..5 {
        user(&mut harness, &format!("u{number}"));
        rule(&mut harness, &format!("m{number}"), "n", &number.to_string());
        circle(&mut harness, CircleKind::Group, &format!("g{number}"));
        circle(&mut harness, CircleKind::Role, &format!("r{number}"));
    }
    circle(&mut harness, CircleKind::Tenant, "t");
    circle(&mut harness, CircleKind::Tenant, "u");
    for (entity, id) in
        [(E::User, "u3"), (E::User, "u1"), (E::Client, "c"), (E::Group, "g2"), (E::Role, "r4")]
    {
        join(&mut harness, (entity, id), (CircleKind::Tenant, "t"));
    }
    join(&mut harness, (E::MappingRule, "m0"), (CircleKind::Tenant, "t"));
    join(&mut harness, (E::Group, "g2"), (CircleKind::Role, "r1"));
    join(&mut harness, (E::Group, "g2"), (CircleKind::Role, "r0"));
    allow(&mut harness, (E::User, "u1"), R::Component, AuthorizationScope::Any, P::Access);
    let mut names = |query: IdentityQuery| {
        let circles = |items: Vec<CircleView>| items.into_iter().map(|it| it.circle.id).collect::<Vec<_>>();
        let (names, has_more) = match ask(&mut harness, query) {
            IdentityReply::Users(page) => {
                (page.items.into_iter().map(|it| it.username).collect(), page.has_more)
            }
            IdentityReply::Circles(page) => (circles(page.items), page.has_more),
            IdentityReply::MappingRules(page) => {
                (page.items.into_iter().map(|it| it.id).collect(), page.has_more)
            }
            IdentityReply::Members(page) => (page.items, page.has_more),
            IdentityReply::Authorizations(page) => {
                (page.items.into_iter().map(|it| it.authorization.owner_id).collect(), page.has_more)
            }
            other => panic!("{other:?}"),
        };
        names.iter().map(|name| &**name).collect::<Vec<_>>().join(" ") + if has_more { " …" } else { "" }
    };
    assert_eq!(names(IdentityQuery::Users { limit: 5 }), "u0 u1 u2 u3 u4");
    assert_eq!(names(IdentityQuery::Users { limit: 3 }), "u0 u1 u2 …");
    assert_eq!(names(IdentityQuery::MappingRules { limit: 4 }), "m0 m1 m2 m3 …");
    assert_eq!(names(IdentityQuery::Circles { kind: CircleKind::Group, limit: 9 }), "g0 g1 g2 g3 g4");
    assert_eq!(names(IdentityQuery::Circles { kind: CircleKind::Tenant, limit: 1 }), "t …");
    assert_eq!(names(IdentityQuery::Authorizations { limit: 9 }), "u1");
    let mut members = |id: &str, entity_type, limit| {
        let (kind, circle_id) = (CircleKind::Tenant, id.into());
        names(IdentityQuery::Members { kind, circle_id, entity_type, limit })
    };
    assert_eq!(members("t", E::User, 9), "u1 u3");
    assert_eq!(members("t", E::User, 1), "u1 …");
    assert_eq!(members("t", E::Client, 9), "c");
    assert_eq!(members("t", E::Group, 9), "g2");
    assert_eq!(members("t", E::Role, 9), "r4");
    assert_eq!(members("t", E::MappingRule, 9), "m0");
    assert_eq!(members("u", E::User, 9), "");
    for entity_type in EntityType::ALL {
        assert_eq!(members("gone", *entity_type, 9), "");
    }
    let mut roles = |id: &str, limit| {
        let (entity_type, kind) = (E::Group, CircleKind::Role);
        names(IdentityQuery::CirclesOf { entity_type, entity_id: id.into(), kind, limit })
    };
    assert_eq!(roles("g2", 9), "r0 r1");
    assert_eq!(roles("g2", 1), "r0 …");
    assert_eq!(roles("g1", 9), "");
    assert_eq!(roles("gone", 9), "");
}

#[test]
fn one_is_found_by_its_id() {
    let mut harness = Harness::new();
    user(&mut harness, "ann");
    circle(&mut harness, CircleKind::Tenant, "t");
    rule(&mut harness, "m", "n", "v");
    allow(&mut harness, (E::User, "ann"), R::Component, AuthorizationScope::Any, P::Access);
    let IdentityReply::Authorizations(page) = ask(&mut harness, IdentityQuery::Authorizations { limit: 1 })
    else {
        panic!("authorizations")
    };
    let key = page.items[0].key;
    let missing = |harness: &mut Harness, query: IdentityQuery| {
        harness.read(&Query::Identity(query)).unwrap_err().to_string()
    };
    let (kind, id) = (CircleKind::Tenant, Name::from("t"));
    assert!(matches!(
        ask(&mut harness, IdentityQuery::Circle { kind, id: id.clone() }),
        IdentityReply::Circle(CircleView { circle, .. }) if circle.id == id
    ));
    assert!(matches!(
        ask(&mut harness, IdentityQuery::User { username: "ann".into() }),
        IdentityReply::User(user) if &*user.username == "ann"
    ));
    assert!(matches!(
        ask(&mut harness, IdentityQuery::MappingRule { id: "m".into() }),
        IdentityReply::MappingRule(rule) if &*rule.claim_value == "v"
    ));
    assert!(matches!(
        ask(&mut harness, IdentityQuery::Authorization { key }),
        IdentityReply::Authorization(found) if found.key == key && found.authorization == page.items[0].authorization
    ));
    for (query, reason) in [
        (IdentityQuery::Circle { kind: CircleKind::Group, id }, "Group with ID 't' not found"),
        (IdentityQuery::User { username: "bob".into() }, "User with username 'bob' not found"),
        (IdentityQuery::PasswordHash { username: "bob".into() }, "User with username 'bob' not found"),
        (IdentityQuery::MappingRule { id: "n".into() }, "Mapping rule with ID 'n' not found"),
        (IdentityQuery::Authorization { key: 7 }, "Authorization with key '7' not found"),
    ] {
        assert_eq!(missing(&mut harness, query), format!("NOT_FOUND: {reason}"));
    }
    assert_eq!(ask(&mut harness, IdentityQuery::HadAdministrator), IdentityReply::HadAdministrator(false));
    change(&mut harness, IdentityCommand::SetUp);
    assert_eq!(ask(&mut harness, IdentityQuery::HadAdministrator), IdentityReply::HadAdministrator(false));
    join(&mut harness, (E::User, "ann"), (CircleKind::Role, "admin"));
    assert_eq!(ask(&mut harness, IdentityQuery::HadAdministrator), IdentityReply::HadAdministrator(true));
    change(&mut harness, IdentityCommand::DeleteUser { username: "ann".into() });
    harness.flush_and_reopen();
    assert_eq!(ask(&mut harness, IdentityQuery::HadAdministrator), IdentityReply::HadAdministrator(true));
}
