//! Users, groups, roles, tenants, mapping rules, authorizations: changes, and remains after a deletion.

use engine::Options;
use expect_test::expect;
use protocol::{
    Command, IdentityCommand, IdentityQuery, IdentityReply, PasswordHash, Query, QueryReply, UserView,
};

use crate::support::{Harness, check_with};

fn check(script: &str, expected: expect_test::Expect) {
    check_with(&[], Options::default(), script, expected);
}

#[test]
fn users_are_created_changed_and_deleted() {
    check(
        "user create ann name=Ann email=ann@b.c hash=1
         user create ann
         user update ann name=Anna
         user update ann email= hash=2
         user update bob
         user delete bob
         user delete ann
         user delete ann
         user create ann
         rows users",
        expect![[r#"
            > user create ann name=Ann email=ann@b.c hash=1
              user ann [Ann ann@b.c] created
            > user create ann
              = rejected ALREADY_EXISTS: Expected to create a user with username 'ann', but there is one already
            > user update ann name=Anna
              user ann [Anna ann@b.c] updated
            > user update ann email= hash=2
              user ann [Anna ] updated
            > user update bob
              = rejected NOT_FOUND: Expected to update the user with username 'bob', but there is no such user
            > user delete bob
              = rejected NOT_FOUND: Expected to delete the user with username 'bob', but there is no such user
            > user delete ann
              user ann [Anna ] deleted
            > user delete ann
              = rejected NOT_FOUND: Expected to delete the user with username 'ann', but there is no such user
            > user create ann
              user ann [ ] created
            > rows users
              users 1
        "#]],
    );
}

#[test]
fn mapping_rules_are_for_one_value_of_a_claim_each() {
    check(
        "rule create a claim=groups:staff name=Staff
         rule create a claim=groups:other
         rule create b claim=groups:staff
         rule create b claim=groups:guests
         rule update b claim=groups:staff
         rule update b claim=department:it name=IT
         rule update b claim=department:it name=It
         rule create c claim=groups:guests
         rule update d claim=x:y
         rule delete d
         rule delete a
         rule delete b
         rule delete c
         rows mapping_rules mapping_rule_by_claim",
        expect![[r#"
            > rule create a claim=groups:staff name=Staff
              rule a [groups:staff Staff] created
            > rule create a claim=groups:other
              = rejected ALREADY_EXISTS: Expected to create a mapping rule with ID 'a', but there is one already
            > rule create b claim=groups:staff
              = rejected ALREADY_EXISTS: Expected to create the mapping rule with ID 'b' for the value 'staff' of claim 'groups', but 'a' is for that
            > rule create b claim=groups:guests
              rule b [groups:guests ] created
            > rule update b claim=groups:staff
              = rejected ALREADY_EXISTS: Expected to update the mapping rule with ID 'b' for the value 'staff' of claim 'groups', but 'a' is for that
            > rule update b claim=department:it name=IT
              rule b [department:it IT] updated
            > rule update b claim=department:it name=It
              rule b [department:it It] updated
            > rule create c claim=groups:guests
              rule c [groups:guests ] created
            > rule update d claim=x:y
              = rejected NOT_FOUND: Expected to update the mapping rule with ID 'd', but there is no such mapping rule
            > rule delete d
              = rejected NOT_FOUND: Expected to delete the mapping rule with ID 'd', but there is no such mapping rule
            > rule delete a
              rule a [groups:staff Staff] deleted
            > rule delete b
              rule b [department:it It] deleted
            > rule delete c
              rule c [groups:guests ] deleted
            > rows mapping_rules mapping_rule_by_claim
              mapping_rules 0, mapping_rule_by_claim 0
        "#]],
    );
}

#[test]
fn groups_roles_and_tenants_are_created_changed_and_deleted() {
    check(
        "group create x name=X description=about_x
         role create x name=X
         tenant create x name=X
         group create x
         role create x
         tenant create x
         group update x name=Y
         role update x name=Y description=about_y
         tenant update x name=Y
         group update y
         role delete y
         tenant delete y
         group delete x
         role delete x
         tenant delete x
         rows circles",
        expect![[r#"
            > group create x name=X description=about_x
              group x [X about x] created
            > role create x name=X
              role x [X ] created
            > tenant create x name=X
              tenant x [X ] created
            > group create x
              = rejected ALREADY_EXISTS: Expected to create a group with ID 'x', but there is one already
            > role create x
              = rejected ALREADY_EXISTS: Expected to create a role with ID 'x', but there is one already
            > tenant create x
              = rejected ALREADY_EXISTS: Expected to create a tenant with ID 'x', but there is one already
            > group update x name=Y
              group x [Y ] updated
            > role update x name=Y description=about_y
              role x [Y about y] updated
            > tenant update x name=Y
              tenant x [Y ] updated
            > group update y
              = rejected NOT_FOUND: Expected to update the group with ID 'y', but there is no such group
            > role delete y
              = rejected NOT_FOUND: Expected to delete the role with ID 'y', but there is no such role
            > tenant delete y
              = rejected NOT_FOUND: Expected to delete the tenant with ID 'y', but there is no such tenant
            > group delete x
              group x [Y ] deleted
            > role delete x
              role x [Y about y] deleted
            > tenant delete x
              tenant x [Y ] deleted
            > rows circles
              circles 0
        "#]],
    );
}

#[test]
fn members_come_and_go() {
    check(
        "user create ann
         rule create r claim=a:b
         group create g
         role create o
         tenant create t
         add user ann group g
         add user ann group g
         add client c group g
         add rule r group g
         add group g group g
         add role o group g
         add group g role o
         add role o role o
         add user ann role o
         add role o tenant t
         add group g tenant t
         add client c tenant t
         add user bob group g
         add group h tenant t
         add user ann group h
         rows members member_of
         drop user ann group g
         drop user ann group g
         drop user ann group h
         rows members member_of",
        expect![[r#"
            > user create ann
              user ann [ ] created
            > rule create r claim=a:b
              rule r [a:b ] created
            > group create g
              group g [ ] created
            > role create o
              role o [ ] created
            > tenant create t
              tenant t [ ] created
            > add user ann group g
              group g [ ] USER ann added
            > add user ann group g
              = rejected ALREADY_EXISTS: Expected to add the user 'ann' to the group 'g', but it is a member already
            > add client c group g
              group g [ ] CLIENT c added
            > add rule r group g
              group g [ ] MAPPING_RULE r added
            > add group g group g
              = rejected INVALID_ARGUMENT: Expected to add the group 'g' to the group 'g', but it cannot be a member
            > add role o group g
              = rejected INVALID_ARGUMENT: Expected to add the role 'o' to the group 'g', but it cannot be a member
            > add group g role o
              role o [ ] GROUP g added
            > add role o role o
              = rejected INVALID_ARGUMENT: Expected to add the role 'o' to the role 'o', but it cannot be a member
            > add user ann role o
              role o [ ] USER ann added
            > add role o tenant t
              tenant t [ ] ROLE o added
            > add group g tenant t
              tenant t [ ] GROUP g added
            > add client c tenant t
              tenant t [ ] CLIENT c added
            > add user bob group g
              = rejected NOT_FOUND: Expected to add the user 'bob' to the group 'g', but it does not exist
            > add group h tenant t
              = rejected NOT_FOUND: Expected to add the group 'h' to the tenant 't', but it does not exist
            > add user ann group h
              = rejected NOT_FOUND: Expected to add a member to the group with ID 'h', but there is no such group
            > rows members member_of
              members 8, member_of 8
            > drop user ann group g
              group g [ ] USER ann removed
            > drop user ann group g
              = rejected NOT_FOUND: Expected to remove the user 'ann' from the group 'g', but it is no member
            > drop user ann group h
              = rejected NOT_FOUND: Expected to remove a member from the group with ID 'h', but there is no such group
            > rows members member_of
              members 7, member_of 7
        "#]],
    );
}

#[test]
fn nothing_is_left_of_who_is_deleted() {
    check(
        "user create ann
         group create g name=G
         role create o
         tenant create t
         rule create r claim=a:b
         add user ann group g
         add user ann tenant t
         add group g role o
         add group g tenant t
         add role o tenant t
         add rule r role o
         add client c role o
         allow user ann COMPONENT * ACCESS
         allow group g COMPONENT operate ACCESS
         allow role o MESSAGE * CREATE READ
         allow rule r MESSAGE * READ
         group delete g
         role delete o
         rule delete r
         user delete ann
         tenant delete t
         rows users circles mapping_rules mapping_rule_by_claim members member_of authorizations authorization_by_owner
         group create g
         rows members member_of",
        expect![[r#"
            > user create ann
              user ann [ ] created
            > group create g name=G
              group g [G ] created
            > role create o
              role o [ ] created
            > tenant create t
              tenant t [ ] created
            > rule create r claim=a:b
              rule r [a:b ] created
            > add user ann group g
              group g [G ] USER ann added
            > add user ann tenant t
              tenant t [ ] USER ann added
            > add group g role o
              role o [ ] GROUP g added
            > add group g tenant t
              tenant t [ ] GROUP g added
            > add role o tenant t
              tenant t [ ] ROLE o added
            > add rule r role o
              role o [ ] MAPPING_RULE r added
            > add client c role o
              role o [ ] CLIENT c added
            > allow user ann COMPONENT * ACCESS
              USER ann may ACCESS COMPONENT ANY * created
            > allow group g COMPONENT operate ACCESS
              GROUP g may ACCESS COMPONENT ID operate created
            > allow role o MESSAGE * CREATE READ
              ROLE o may CREATE,READ MESSAGE ANY * created
            > allow rule r MESSAGE * READ
              MAPPING_RULE r may READ MESSAGE ANY * created
            > group delete g
              group g [G ] deleted
              group g [ ] USER ann removed
              role o [ ] GROUP g removed
              tenant t [ ] GROUP g removed
              GROUP g may ACCESS COMPONENT ID operate deleted
            > role delete o
              role o [ ] deleted
              role o [ ] CLIENT c removed
              role o [ ] MAPPING_RULE r removed
              tenant t [ ] ROLE o removed
              ROLE o may CREATE,READ MESSAGE ANY * deleted
            > rule delete r
              rule r [a:b ] deleted
              MAPPING_RULE r may READ MESSAGE ANY * deleted
            > user delete ann
              user ann [ ] deleted
              tenant t [ ] USER ann removed
              USER ann may ACCESS COMPONENT ANY * deleted
            > tenant delete t
              tenant t [ ] deleted
            > rows users circles mapping_rules mapping_rule_by_claim members member_of authorizations authorization_by_owner
              users 0, circles 0, mapping_rules 0, mapping_rule_by_claim 0, members 0, member_of 0, authorizations 0, authorization_by_owner 0
            > group create g
              group g [ ] created
            > rows members member_of
              members 0, member_of 0
        "#]],
    );
}

#[test]
fn many_members_are_removed_by_and_by() {
    let options = Options { max_children_per_step: 2, max_steps_per_command: 2, ..Options::default() };
    check_with(
        &[],
        options,
        "hide identity
         group create g
         role create o
         add client a group g
         add client b group g
         add client c group g
         add client d group g
         add client e group g
         add group g role o
         allow group g COMPONENT * ACCESS
         rows members authorizations
         only group delete g
         rows members authorizations
         only group create g
         only add client f group g
         step 1
         rows members authorizations
         step 1
         rows members member_of authorizations
         group create g",
        expect![[r#"
            > group create g
            > role create o
            > add client a group g
            > add client b group g
            > add client c group g
            > add client d group g
            > add client e group g
            > add group g role o
            > allow group g COMPONENT * ACCESS
            > rows members authorizations
              members 6, authorizations 1
            > only group delete g
            > rows members authorizations
              members 2, authorizations 1
            > only group create g
              = rejected INVALID_STATE: Expected to create a group with ID 'g', but its predecessor is still being removed
            > only add client f group g
              = rejected NOT_FOUND: Expected to add a member to the group with ID 'g', but there is no such group
            > step 1
            > rows members authorizations
              members 0, authorizations 0
            > step 1
            > rows members member_of authorizations
              members 0, member_of 0, authorizations 0
            > group create g
        "#]],
    );
}

#[test]
fn a_member_is_in_a_limited_number_of_groups() {
    let options = Options { max_memberships_per_entity: 2, ..Options::default() };
    check_with(
        &[],
        options,
        "hide identity
         group create a
         group create b
         group create c
         role create r
         add client x group a
         add client x group b
         add client x group c
         add client x role r
         add client y group c
         drop client x group a
         add client x group c",
        expect![[r#"
            > group create a
            > group create b
            > group create c
            > role create r
            > add client x group a
            > add client x group b
            > add client x group c
              = rejected INVALID_STATE: Expected to add the client 'x' to the group 'c', but it is in 2 already, which is the limit
            > add client x role r
            > add client y group c
            > drop client x group a
            > add client x group c
        "#]],
    );
}

#[test]
fn authorizations_are_created_changed_and_deleted() {
    check(
        "user create ann
         role create o
         allow user ann PROCESS_DEFINITION order READ_USER_TASK READ_PROCESS_INSTANCE READ_USER_TASK
         allow user ann PROCESS_DEFINITION order READ_PROCESS_INSTANCE UPDATE_PROCESS_INSTANCE
         allow user ann PROCESS_DEFINITION order UPDATE_PROCESS_INSTANCE
         allow user ann PROCESS_DEFINITION * READ_PROCESS_INSTANCE
         allow client c PROCESS_DEFINITION order READ_PROCESS_INSTANCE
         allow user ann USER_TASK .assignee READ CLAIM
         allow user ann USER_TASK .candidateUsers READ
         allow user ann MESSAGE .assignee READ
         allow user ann COMPONENT *
         allow user ann COMPONENT operate READ ACCESS
         allow user bob COMPONENT * ACCESS
         allow group g COMPONENT * ACCESS
         allow role r COMPONENT * ACCESS
         allow rule m COMPONENT * ACCESS
         allow user ann ROLE o READ
         allow user ann ROLE p READ
         allow user ann TENANT t READ
         reallow 1 role o DOCUMENT * READ
         reallow 1 role o DOCUMENT * ACCESS
         reallow 1 user bob DOCUMENT * READ
         allow user ann PROCESS_DEFINITION order READ_USER_TASK
         disallow 2
         reallow 2 user ann COMPONENT * ACCESS
         disallow 2
         rows authorizations authorization_by_owner",
        expect![[r#"
            > user create ann
              user ann [ ] created
            > role create o
              role o [ ] created
            > allow user ann PROCESS_DEFINITION order READ_USER_TASK READ_PROCESS_INSTANCE READ_USER_TASK
              USER ann may READ_PROCESS_INSTANCE,READ_USER_TASK PROCESS_DEFINITION ID order created
            > allow user ann PROCESS_DEFINITION order READ_PROCESS_INSTANCE UPDATE_PROCESS_INSTANCE
              = rejected ALREADY_EXISTS: Expected to create an authorization for user 'ann', but it has the permission READ_PROCESS_INSTANCE for this PROCESS_DEFINITION already
            > allow user ann PROCESS_DEFINITION order UPDATE_PROCESS_INSTANCE
              USER ann may UPDATE_PROCESS_INSTANCE PROCESS_DEFINITION ID order created
            > allow user ann PROCESS_DEFINITION * READ_PROCESS_INSTANCE
              USER ann may READ_PROCESS_INSTANCE PROCESS_DEFINITION ANY * created
            > allow client c PROCESS_DEFINITION order READ_PROCESS_INSTANCE
              CLIENT c may READ_PROCESS_INSTANCE PROCESS_DEFINITION ID order created
            > allow user ann USER_TASK .assignee READ CLAIM
              USER ann may CLAIM,READ USER_TASK PROPERTY assignee created
            > allow user ann USER_TASK .candidateUsers READ
              USER ann may READ USER_TASK PROPERTY candidateUsers created
            > allow user ann MESSAGE .assignee READ
              = rejected INVALID_ARGUMENT: Expected to create an authorization for the property 'assignee' of USER_TASK, but found one for MESSAGE
            > allow user ann COMPONENT *
              = rejected INVALID_ARGUMENT: Expected to create an authorization with permissions of COMPONENT, which are [ACCESS], but found []
            > allow user ann COMPONENT operate READ ACCESS
              = rejected INVALID_ARGUMENT: Expected to create an authorization with permissions of COMPONENT, which are [ACCESS], but found [READ]
            > allow user bob COMPONENT * ACCESS
              = rejected NOT_FOUND: Expected to create an authorization that names the user 'bob', but there is no such user
            > allow group g COMPONENT * ACCESS
              = rejected NOT_FOUND: Expected to create an authorization that names the group 'g', but there is no such group
            > allow role r COMPONENT * ACCESS
              = rejected NOT_FOUND: Expected to create an authorization that names the role 'r', but there is no such role
            > allow rule m COMPONENT * ACCESS
              = rejected NOT_FOUND: Expected to create an authorization that names the mapping rule 'm', but there is no such mapping rule
            > allow user ann ROLE o READ
              USER ann may READ ROLE ID o created
            > allow user ann ROLE p READ
              = rejected NOT_FOUND: Expected to create an authorization that names the role 'p', but there is no such role
            > allow user ann TENANT t READ
              USER ann may READ TENANT ID t created
            > reallow 1 role o DOCUMENT * READ
              ROLE o may READ DOCUMENT ANY * updated
            > reallow 1 role o DOCUMENT * ACCESS
              = rejected INVALID_ARGUMENT: Expected to update an authorization with permissions of DOCUMENT, which are [CREATE, DELETE, READ], but found [ACCESS]
            > reallow 1 user bob DOCUMENT * READ
              = rejected NOT_FOUND: Expected to update an authorization that names the user 'bob', but there is no such user
            > allow user ann PROCESS_DEFINITION order READ_USER_TASK
              USER ann may READ_USER_TASK PROCESS_DEFINITION ID order created
            > disallow 2
              USER ann may UPDATE_PROCESS_INSTANCE PROCESS_DEFINITION ID order deleted
            > reallow 2 user ann COMPONENT * ACCESS
              = rejected NOT_FOUND: Expected to update the authorization with key '<key>', but there is no such authorization
            > disallow 2
              = rejected NOT_FOUND: Expected to delete the authorization with key '<key>', but there is no such authorization
            > rows authorizations authorization_by_owner
              authorizations 8, authorization_by_owner 8
        "#]],
    );
}

#[test]
fn a_cluster_begins_with_roles_and_one_administrator() {
    check(
        "setup
         rows circles members authorizations
         setup
         rows circles members authorizations
         role update rpa name=Robots
         tenant delete <default>
         role delete admin
         role delete task-worker
         user create ann
         administrator ann
         administrator bob name=Bob hash=1
         administrator eve
         drop user bob role admin
         add client c role admin
         administrator eve
         setup",
        expect![[r#"
            > setup
              tenant <default> [Default ] created
              role admin [Admin ] created
              ROLE admin may READ AUDIT_LOG ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE AUTHORIZATION ANY * created
              ROLE admin may CREATE,CREATE_BATCH_OPERATION_CANCEL_PROCESS_INSTANCE,CREATE_BATCH_OPERATION_DELETE_DECISION_DEFINITION,CREATE_BATCH_OPERATION_DELETE_DECISION_INSTANCE,CREATE_BATCH_OPERATION_DELETE_PROCESS_DEFINITION,CREATE_BATCH_OPERATION_DELETE_PROCESS_INSTANCE,CREATE_BATCH_OPERATION_MIGRATE_PROCESS_INSTANCE,CREATE_BATCH_OPERATION_MODIFY_PROCESS_INSTANCE,CREATE_BATCH_OPERATION_RESOLVE_INCIDENT,READ,UPDATE,CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE,CREATE_BATCH_OPERATION_UPDATE_JOB BATCH ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE CLUSTER_VARIABLE ANY * created
              ROLE admin may ACCESS COMPONENT ANY * created
              ROLE admin may CREATE_DECISION_INSTANCE,DELETE_DECISION_INSTANCE,READ_DECISION_DEFINITION,READ_DECISION_INSTANCE DECISION_DEFINITION ANY * created
              ROLE admin may READ DECISION_REQUIREMENTS_DEFINITION ANY * created
              ROLE admin may CREATE,DELETE,READ DOCUMENT ANY * created
              ROLE admin may EVALUATE EXPRESSION ANY * created
              ROLE admin may CREATE_TASK_LISTENER,DELETE_TASK_LISTENER,READ_TASK_LISTENER,UPDATE_TASK_LISTENER GLOBAL_LISTENER ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE GROUP ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE MAPPING_RULE ANY * created
              ROLE admin may CREATE,READ MESSAGE ANY * created
              ROLE admin may CANCEL_PROCESS_INSTANCE,CLAIM_USER_TASK,COMPLETE_USER_TASK,CREATE_PROCESS_INSTANCE,DELETE_PROCESS_INSTANCE,MODIFY_PROCESS_INSTANCE,READ_PROCESS_DEFINITION,READ_PROCESS_INSTANCE,READ_USER_TASK,UPDATE_PROCESS_INSTANCE,UPDATE_USER_TASK,SUSPEND_PROCESS_INSTANCE PROCESS_DEFINITION ANY * created
              ROLE admin may CREATE,DELETE_DRD,DELETE_FORM,DELETE_PROCESS,DELETE_RESOURCE,READ RESOURCE ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE ROLE ANY * created
              ROLE admin may READ,READ_JOB_METRIC,READ_USAGE_METRIC,UPDATE SYSTEM ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE TENANT ANY * created
              ROLE admin may CREATE,DELETE,READ,UPDATE USER ANY * created
              ROLE admin may CLAIM,COMPLETE,READ,UPDATE USER_TASK ANY * created
              ROLE admin may CREATE,DELETE,READ,RESTORE BACKUP ANY * created
              ROLE admin may PAUSE EXPORTER ANY * created
              ROLE admin may READ,REVEAL SECRET ANY * created
              tenant <default> [Default ] ROLE admin added
              role readonly-admin [Readonly Admin ] created
              ROLE readonly-admin may READ AUDIT_LOG ANY * created
              ROLE readonly-admin may READ AUTHORIZATION ANY * created
              ROLE readonly-admin may READ BATCH ANY * created
              ROLE readonly-admin may READ CLUSTER_VARIABLE ANY * created
              ROLE readonly-admin may ACCESS COMPONENT ANY * created
              ROLE readonly-admin may READ_DECISION_DEFINITION,READ_DECISION_INSTANCE DECISION_DEFINITION ANY * created
              ROLE readonly-admin may READ DECISION_REQUIREMENTS_DEFINITION ANY * created
              ROLE readonly-admin may READ DOCUMENT ANY * created
              ROLE readonly-admin may READ_TASK_LISTENER GLOBAL_LISTENER ANY * created
              ROLE readonly-admin may READ GROUP ANY * created
              ROLE readonly-admin may READ MAPPING_RULE ANY * created
              ROLE readonly-admin may READ MESSAGE ANY * created
              ROLE readonly-admin may READ_PROCESS_DEFINITION,READ_PROCESS_INSTANCE,READ_USER_TASK PROCESS_DEFINITION ANY * created
              ROLE readonly-admin may READ RESOURCE ANY * created
              ROLE readonly-admin may READ ROLE ANY * created
              ROLE readonly-admin may READ,READ_JOB_METRIC,READ_USAGE_METRIC SYSTEM ANY * created
              ROLE readonly-admin may READ TENANT ANY * created
              ROLE readonly-admin may READ USER ANY * created
              ROLE readonly-admin may READ USER_TASK ANY * created
              ROLE readonly-admin may READ BACKUP ANY * created
              ROLE readonly-admin may READ SECRET ANY * created
              role connectors [Connectors ] created
              ROLE connectors may CREATE_PROCESS_INSTANCE,READ_PROCESS_DEFINITION,READ_PROCESS_INSTANCE,UPDATE_PROCESS_INSTANCE PROCESS_DEFINITION ANY * created
              ROLE connectors may CREATE MESSAGE ANY * created
              ROLE connectors may CREATE,DELETE,READ DOCUMENT ANY * created
              tenant <default> [Default ] ROLE connectors added
              role app-integrations [App Integrations ] created
              ROLE app-integrations may CREATE_PROCESS_INSTANCE,READ_PROCESS_DEFINITION,READ_PROCESS_INSTANCE,READ_USER_TASK,UPDATE_PROCESS_INSTANCE,UPDATE_USER_TASK PROCESS_DEFINITION ANY * created
              ROLE app-integrations may CREATE DOCUMENT ANY * created
              tenant <default> [Default ] ROLE app-integrations added
              role rpa [RPA ] created
              ROLE rpa may READ RESOURCE ANY * created
              ROLE rpa may UPDATE_PROCESS_INSTANCE PROCESS_DEFINITION ANY * created
              tenant <default> [Default ] ROLE rpa added
              role task-worker [Task Worker ] created
              ROLE task-worker may CLAIM,COMPLETE,READ USER_TASK PROPERTY assignee created
              ROLE task-worker may CLAIM,COMPLETE,READ USER_TASK PROPERTY candidateUsers created
              ROLE task-worker may CLAIM,COMPLETE,READ USER_TASK PROPERTY candidateGroups created
              tenant <default> [Default ] ROLE task-worker added
            > rows circles members authorizations
              circles 7, members 5, authorizations 54
            > setup
            > rows circles members authorizations
              circles 7, members 5, authorizations 54
            > role update rpa name=Robots
              role rpa [Robots ] updated
            > tenant delete <default>
              = rejected FORBIDDEN: Expected to delete the tenant with ID '<default>', but every cluster has it
            > role delete admin
              = rejected FORBIDDEN: Expected to delete the role with ID 'admin', but every cluster has it
            > role delete task-worker
              = rejected FORBIDDEN: Expected to delete the role with ID 'task-worker', but every cluster has it
            > user create ann
              user ann [ ] created
            > administrator ann
              = rejected FORBIDDEN: Expected to create the first administrator, but there is a user with username 'ann' already
            > administrator bob name=Bob hash=1
              user bob [Bob ] created
              role admin [Admin ] USER bob added
            > administrator eve
              = rejected FORBIDDEN: Expected to create the first administrator, but another user has the role 'admin' already
            > drop user bob role admin
              role admin [Admin ] USER bob removed
            > add client c role admin
              role admin [Admin ] CLIENT c added
            > administrator eve
              = rejected FORBIDDEN: Expected to create the first administrator, but another user has the role 'admin' already
            > setup
        "#]],
    );
}

#[test]
fn the_first_administrator_sets_the_cluster_up() {
    check(
        "hide identity
         administrator ann
         rows users circles members
         administrator bob
         user delete ann
         administrator bob",
        expect![[r#"
            > administrator ann
            > rows users circles members
              users 1, circles 7, members 6
            > administrator bob
              = rejected FORBIDDEN: Expected to create the first administrator, but another user has the role 'admin' already
            > user delete ann
            > administrator bob
              = rejected FORBIDDEN: Expected to create the first administrator, but another user had the role 'admin' before
        "#]],
    );
}

#[test]
fn only_the_first_administrator_is_created_without_credentials() {
    check(
        "hide identity
         setup
         group create ops
         add group ops role admin
         group delete ops
         administrator eve",
        expect![[r#"
            > setup
            > group create ops
            > add group ops role admin
            > group delete ops
            > administrator eve
              = rejected FORBIDDEN: Expected to create the first administrator, but another user had the role 'admin' before
        "#]],
    );
}

#[test]
fn hashes_are_kept_and_handed_out_alone() {
    let mut harness = Harness::new();
    let create = protocol::User {
        username: "ann".into(),
        name: "Ann".into(),
        email: "a@b".into(),
        password_hash: PasswordHash("secret 1".into()),
    };
    harness.command(Command::Identity(IdentityCommand::CreateUser(create))).unwrap().unwrap();
    let shown = format!("{:?}", harness.records().collect::<Vec<_>>());
    assert!(shown.contains("ann") && !shown.contains("secret"), "{shown}");
    let hash = |harness: &mut Harness| {
        let query = Query::Identity(IdentityQuery::PasswordHash { username: "ann".into() });
        match harness.read(&query).unwrap() {
            QueryReply::Identity(IdentityReply::PasswordHash(hash)) => hash.0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(&*hash(&mut harness), "secret 1");
    let change = |name: Option<&str>, hash: Option<&str>| {
        Command::Identity(IdentityCommand::UpdateUser(protocol::UserChange {
            username: "ann".into(),
            name: name.map(Into::into),
            email: None,
            password_hash: hash.map(|hash| PasswordHash(hash.into())),
        }))
    };
    let answer = harness.command(change(Some("Anna"), None)).unwrap().unwrap();
    let view = UserView { username: "ann".into(), name: "Anna".into(), email: "a@b".into() };
    assert_eq!(answer, protocol::Response::User(view));
    harness.flush_and_reopen();
    assert_eq!(&*hash(&mut harness), "secret 1");
    harness.command(change(None, Some("secret 2"))).unwrap().unwrap();
    assert_eq!(&*hash(&mut harness), "secret 2");
}
