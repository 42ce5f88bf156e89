//! Migration of multi-instance bodies and loops that are scopes.

use expect_test::expect;

use crate::migration::migrate;

const SCOPES: &str = "process order
    start s
    sub each each=items as=item collect=out gives=r {
    start i
    job a
    end j
    i -> a -> j
    on odd {
    start o message=odd key=item interrupting=false
    job extra
    end q
    o -> extra -> q
    }
    }
    boundary late on=each message=stop key=k
    end e
    s -> each -> e
    late -> e";

#[test]
fn sub_processes_of_a_list_move_with_all_they_have() {
    migrate(
        SCOPES,
        &SCOPES
            .replace("job a", "job x")
            .replace("i -> a -> j", "i -> x -> j")
            .replace("message=stop", "message=halt"),
        r#"show elements jobs subscriptions
           create order v=1 {"items":["1","2"],"k":"9"}
           publish odd 1
           migrate #1 order v=2 each
           migrate #1 order v=2 each a:x
           migrate #1 order v=2 each a:x odd extra o
           publish odd 2
           complete extra
           complete x@1 {"r":1}
           complete x@2 {"r":2}
           complete extra@1
           publish halt 9"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":["1","2"],"k":"9"}
              order activating, activated
              s activating, activated, completing, completed
              each* activating
              subscription each*/late stop/9 created
              each* activated
              each activating
              subscription each/o odd/1 created
              each activated
              each activating
              subscription each/o odd/2 created
              each activated
              i activating, activated, completing, completed
              i activating, activated, completing, completed
              a activating
              job a created type a retries 3
              a activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > publish odd 1
              subscription each/o odd/1 correlated
              odd activating, activated
              o activating, activated, completing, completed
              extra activating
              job extra created type extra retries 3
              extra activated
            > migrate #1 order v=2 each
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'a'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 each a:x
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'odd'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 each a:x odd extra o
              order migrated
              each* migrated
              subscription each*/late stop/9 deleted
              subscription each*/late halt/9 created
              each migrated
              subscription each/o odd/1 migrated
              each migrated
              subscription each/o odd/2 migrated
              a becomes x
              x migrated
              job x migrated
              odd migrated
              a becomes x
              x migrated
              job x migrated
              extra migrated
              job extra migrated
              #1 migrated
            > publish odd 2
              subscription each/o odd/2 correlated
              odd activating, activated
              o activating, activated, completing, completed
              extra activating
              job extra created type extra retries 3
              extra activated
            > complete extra
              job extra completed
              extra completing, completed
              q activating, activated, completing, completed
              odd completing, completed
            > complete x@1 {"r":1}
              job x completed
              x completing, completed
              j activating, activated, completing, completed
            > complete x@2 {"r":2}
              job x completed
              x completing, completed
              j activating, activated, completing, completed
              each completing
              subscription each/o odd/2 deleted
              each completed
            > complete extra@1
              job extra completed
              extra completing, completed
              q activating, activated, completing, completed
              odd completing, completed
              each completing
              subscription each/o odd/1 deleted
              each completed
              each* completing
              subscription each*/late halt/9 deleted
              each* completed
              e activating, activated, completing, completed
              order completing, completed
            > publish halt 9
        "#]],
    );
}

#[test]
fn the_output_of_a_list_goes_on_under_its_new_name() {
    let each = "process order\nstart s\njob t each=items as=item collect=old gives=r\nend e\ns -> t -> e";
    migrate(
        each,
        &each.replace("collect=old gives=r", "collect=new gives=r+10"),
        r#"show variables incidents
           create order v=1 {"items":[1,2]}
           complete t@1 {"r":1}
           migrate #1 order v=2 t
           complete t@2 {"r":2}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2]}
              order.items = [1,2] created
              t*.old = [null,null] created
              t.r = null created
              t.item = 1 created
              t.loopCounter = 1 created
              t.r = null created
              t.item = 2 created
              t.loopCounter = 2 created
              = created order v1
            > complete t@1 {"r":1}
              t.r = 1 updated
              t*.old = [1,null] updated
            > migrate #1 order v=2 t
              order.items = [1,2] migrated
              t*.old = [1,null] migrated
              t*.new = [1,null] created
              t.item = 2 migrated
              t.loopCounter = 2 migrated
              t.r = null migrated
            > complete t@2 {"r":2}
              t.r = 2 updated
              t*.new = [1,12] updated
              order.new = [1,12] created
        "#]],
    );
    migrate(
        &each.replace(" collect=old gives=r", ""),
        each,
        r#"show variables incidents
           create order v=1 {"items":[1,2]}
           complete t@1 {"r":1}
           migrate #1 order v=2 t
           complete t@2 {"r":2}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2]}
              order.items = [1,2] created
              t.item = 1 created
              t.loopCounter = 1 created
              t.item = 2 created
              t.loopCounter = 2 created
              = created order v1
            > complete t@1 {"r":1}
              order.r = 1 created
            > migrate #1 order v=2 t
              order.items = [1,2] migrated
              order.r = 1 migrated
              t*.old = [null,null] created
              t.item = 2 migrated
              t.loopCounter = 2 migrated
            > complete t@2 {"r":2}
              order.r = 2 updated
              t*.old = [null,2] updated
              order.old = [null,2] created
        "#]],
    );
}

#[test]
fn a_body_that_fails_is_tried_again_by_the_new_model() {
    let each = "process order\nstart s\njob t each=items as=item\nend e\ns -> t -> e";
    migrate(
        each,
        &each.replace("each=items", "each=things"),
        r#"show elements incidents
           create order v=1 {"items":5,"things":[1]}
           migrate #1 order v=2 t
           resolve t
           cancel #1"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":5,"things":[1]}
              order activating, activated
              s activating, activated, completing, completed
              t* activating
              incident t* EXTRACT_VALUE_ERROR created: Expected result of the expression 'items' to be 'ARRAY', but was 'NUMBER'.
              = created order v1
            > migrate #1 order v=2 t
              order migrated
              t* migrated
              incident t* EXTRACT_VALUE_ERROR migrated
              #1 migrated
            > resolve t
              incident t* EXTRACT_VALUE_ERROR resolved
              t* activated
              t activating, activated
            > cancel #1
              order terminating
              t* terminating
              t terminating, terminated
              t* terminated
              order terminated
        "#]],
    );
}

#[test]
fn user_tasks_of_a_list_may_go_to_people() {
    let each = "process order\nstart s\nuser t worker each=items as=item\nend e\ns -> t -> e";
    migrate(
        each,
        &each.replace("user t worker", "user t assignee==item"),
        r#"show elements jobs tasks
           create order v=1 {"items":["ann","eve"]}
           migrate #1 order v=2 t
           finish t@1
           finish t@2"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":["ann","eve"]}
              order activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type io.camunda.zeebe:userTask retries 1
              t activated
              t activating
              job t created type io.camunda.zeebe:userTask retries 1
              t activated
              = created order v1
            > migrate #1 order v=2 t
              order migrated
              t* migrated
              t migrated
              job t canceled
              task t creating
              task t created
              task t assigning assignee=ann changed=assignee
              task t assigned assignee=ann changed=assignee
              t migrated
              job t canceled
              task t creating
              task t created
              task t assigning assignee=eve changed=assignee
              task t assigned assignee=eve changed=assignee
              #1 migrated
            > finish t@1
              task t completing assignee=ann action=complete
              task t completed assignee=ann action=complete
              t completing, completed
            > finish t@2
              task t completing assignee=eve action=complete
              task t completed assignee=eve action=complete
              t completing, completed
              t* completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_loop_goes_on_with_its_next_round() {
    let repeat = "process order\nstart s\njob t while=again most=3\nend e\ns -> t -> e";
    migrate(
        repeat,
        &repeat.replace("most=3", "most=2").replace("job t", "job u").replace("s -> t -> e", "s -> u -> e"),
        r#"show elements jobs
           create order v=1 {"again":true}
           migrate #1 order v=2 t:u
           complete u
           complete u"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"again":true}
              order activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              = created order v1
            > migrate #1 order v=2 t:u
              order migrated
              t* becomes u*
              u* migrated
              t becomes u
              u migrated
              job u migrated
              #1 migrated
            > complete u
              job u completed
              u completing, completed
              u activating
              job u created type u retries 3
              u activated
            > complete u
              job u completed
              u completing, completed
              u* completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
    migrate(
        repeat,
        "process order\nstart s\njob t each=items as=item\nend e\ns -> t -> e",
        r#"show errors
           create order v=1 {"again":true}
           migrate #1 order v=2 t
           cancel #1"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"again":true}
              = created order v1
            > migrate #1 order v=2 t
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 't'; elements cannot be migrated without a mapping.
            > cancel #1
        "#]],
    );
}
