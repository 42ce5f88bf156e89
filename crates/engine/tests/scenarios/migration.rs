//! Migration of process instances to another definition.

use engine::Options;
use expect_test::{Expect, expect};

use crate::support::check_with;

/// Deploys `order` in two versions, of which the second file may have another process, and runs a script.
pub fn migrate(before: &str, after: &str, script: &str, expected: Expect) {
    let script = format!("deploy order\ndeploy order@2\n{script}");
    check_with(&[("order", before), ("order@2", after)], Options::default(), &script, expected);
}

const TASK: &str = "process order\nstart s\njob a type=t\nend e\ns -> a -> e";

const RENAMED: &str = "process order\nstart s\njob b type=other\njob c type=t\nend e\ns -> b -> c -> e";

#[test]
fn a_task_goes_on_as_another_with_its_job_and_variables() {
    migrate(
        TASK,
        RENAMED,
        r#"create order v=1 {"x":1}
           migrate #1 order v=2 a:b
           activate t
           complete b {"y":2}
           activate t
           complete c"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"x":1}
              order activating
              order.x = 1 created
              order activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > migrate #1 order v=2 a:b
              order migrated
              order.x = 1 migrated
              a becomes b
              b migrated
              job b migrated
              #1 migrated
            > activate t
              job b activated
              < job b retries 3 deadline 600000 variables {"x":1}
            > complete b {"y":2}
              job b completed
              b completing
              order.y = 2 created
              b completed
              -- b_c
              c activating
              job c created type t retries 3
              c activated
            > activate t
              job c activated
              < job c retries 3 deadline 600000 variables {"x":1,"y":2}
            > complete c
              job c completed
              c completing, completed
              -- c_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_job_in_the_hands_of_a_worker_stays_there() {
    migrate(
        TASK,
        TASK.replace("job a", "job z").replace("-> a", "-> z").as_str(),
        "create order v=1
         activate t
         migrate #1 order v=2 a:z
         complete z",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > migrate #1 order v=2 a:z
              order migrated
              a becomes z
              z migrated
              job z migrated
              #1 migrated
            > complete z
              job z completed
              z completing, completed
              -- z_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn an_instance_may_go_to_another_process() {
    migrate(
        TASK,
        "process invoice\nstart s\njob a type=t\nend e\ns -> a -> e",
        "show elements definitions
         create order v=1
         migrate #1 invoice v=1 a
         delete order v=1
         activate t
         complete a",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed invoice v1
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created order v1
            > migrate #1 invoice v=1 a
              order migrated
              a migrated
              #1 migrated
            > delete order v=1
              resource deleting
              process order v1 deleting
              process order v1 deleted
              resource deleted
            > activate t
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

const NESTED: &str = "process order\nstart s\nsub outer {\nstart s2\nsub inner {\nstart s3\njob a type=t\nend e3\ns3 -> a -> e3\n}\n\
    end e2\ns2 -> inner -> e2\n}\nend e\ns -> outer -> e";

#[test]
fn sub_processes_keep_their_nesting() {
    migrate(
        NESTED,
        NESTED.replace("outer", "out").replace("inner", "in").as_str(),
        r#"create order v=1 {"x":1}
           set inner local {"local":1}
           migrate #1 order v=2 outer:out inner:in a
           activate t
           complete a"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"x":1}
              order activating
              order.x = 1 created
              order activated
              s activating, activated, completing, completed
              -- s_outer
              outer activating, activated
              s2 activating, activated, completing, completed
              -- s2_inner
              inner activating, activated
              s3 activating, activated, completing, completed
              -- s3_a
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > set inner local {"local":1}
              inner.local = 1 created
            > migrate #1 order v=2 outer:out inner:in a
              order migrated
              order.x = 1 migrated
              outer becomes out
              out migrated
              inner becomes in
              in migrated
              in.local = 1 migrated
              a migrated
              job a migrated
              #1 migrated
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {"local":1,"x":1}
            > complete a
              job a completed
              a completing, completed
              -- a_e3
              e3 activating, activated, completing, completed
              in completing, completed
              -- in_e2
              e2 activating, activated, completing, completed
              out completing, completed
              -- out_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn what_a_plan_may_not_say() {
    migrate(
        NESTED,
        "process order\nstart s\nsub outer {\nstart s2\njob a type=t\nreceive r message=m key=k\nend e2\ns2 -> a -> r -> e2\n}\nend e\ns -> outer -> e",
        "create order v=1
         hide elements jobs
         migrate #9 order v=2 a
         migrate #1 order v=9 a
         migrate #1 order v=2 a:a outer:outer a:outer outer:a
         migrate #1 order v=2 nobody:a a:nothing s_outer:a order:a
         migrate #1 order v=2
         migrate #1 order v=2 outer
         migrate #1 order v=2 outer inner:a
         migrate #1 order v=2 outer inner:outer a
         migrate #1 order v=2 inner:outer outer a",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_outer
              outer activating, activated
              s2 activating, activated, completing, completed
              -- s2_inner
              inner activating, activated
              s3 activating, activated, completing, completed
              -- s3_a
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > migrate #9 order v=2 a
              = rejected NOT_FOUND: Expected to migrate process instance but no process instance found with key '1'
            > migrate #1 order v=9 a
              = rejected NOT_FOUND: Expected to migrate process instance to process definition but no process definition found with key '1'
            > migrate #1 order v=2 a:a outer:outer a:outer outer:a
              = rejected INVALID_ARGUMENT: Expected to migrate process instance '<key>', but mapping instructions contain duplicate source element ids 'a', 'outer'.
            > migrate #1 order v=2 nobody:a a:nothing s_outer:a order:a
              = rejected INVALID_ARGUMENT: Expected to migrate process instance '<key>', but mapping instructions contain non-existing source element ids 'nobody', 'order': they must exist in the source process definition; mapping instructions contain non-existing target element ids 'nothing': they must exist in the target process definition; mapping instructions map sequence flows to elements or elements to sequence flows: 's_outer' to 'a'.
            > migrate #1 order v=2
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'outer'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 outer
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the active element 'inner'; elements cannot be migrated without a mapping.
            > migrate #1 order v=2 outer inner:a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'inner' of type 'SUB_PROCESS' is mapped to 'a' of type 'SERVICE_TASK'; the type must not change.
            > migrate #1 order v=2 outer inner:outer a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the flow scope of the active element 'inner' is changed: as 'outer' is mapped to 'outer', 'outer' would have to stand there, but it stands in 'order'.
            > migrate #1 order v=2 inner:outer outer a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the flow scope of the active element 'inner' is changed: as 'outer' is mapped to 'outer', 'outer' would have to stand there, but it stands in 'order'.
            left: running_instances 1, instances 1, element_instances 4, children 3, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn types_must_stay() {
    migrate(
        "process order\nstart s\njob a type=t\nreceive r message=m key=k\ncatch c message=m key=k\nend e\ns -> a -> r -> c -> e",
        "process order\nstart s\njob a type=t\nreceive r message=m key=k\ncatch c timer=PT1M\nend e\ns -> a -> r -> c -> e",
        r#"show elements
           create order v=1 {"k":"1"}
           migrate #1 order v=2 a:r
           activate t
           complete a
           migrate #1 order v=2 r:c
           publish m 1
           migrate #1 order v=2 c"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created order v1
            > migrate #1 order v=2 a:r
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'a' of type 'SERVICE_TASK' is mapped to 'r' of type 'RECEIVE_TASK'; the type must not change.
            > activate t
              < job a retries 3 deadline 600000 variables {"k":"1"}
            > complete a
              a completing, completed
              r activating, activated
            > migrate #1 order v=2 r:c
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'r' of type 'RECEIVE_TASK' is mapped to 'c' of type 'INTERMEDIATE_CATCH_EVENT'; the type must not change.
            > publish m 1
              r completing, completed
              c activating, activated
            > migrate #1 order v=2 c
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'c' with event type 'MESSAGE' is mapped to 'c' with event type 'TIMER'; the event type must not change.
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, subscriptions 1, subscription_by_name 1, subscription_by_owner 1
        "#]],
    );
}

#[test]
fn an_incident_stays_and_is_resolved_in_the_new_model() {
    migrate(
        "process order\nstart s\njob a type==kind\nboundary late on=a timer=PT1M\nend e\ns -> a -> e\nlate -> e",
        "process order\nstart s\njob a type=t\nboundary later on=a timer=PT1H\nend e\ns -> a -> e\nlater -> e",
        "create order v=1
         migrate #1 order v=2 a
         resolve a
         activate t
         complete a",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              incident a EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
              = created order v1
            > migrate #1 order v=2 a
              order migrated
              a migrated
              incident a EXTRACT_VALUE_ERROR migrated
              #1 migrated
            > resolve a
              incident a EXTRACT_VALUE_ERROR resolved
              timer later created due 3600000
              job a created type t retries 3
              a activated
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > complete a
              job a completed
              a completing
              timer later canceled
              a completed
              -- a_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_failed_job_keeps_its_incident() {
    migrate(
        TASK,
        RENAMED,
        "create order v=1
         activate t
         fail a retries=0
         migrate #1 order v=2 a:c
         update c retries=1
         resolve c
         activate t
         complete c",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > fail a retries=0
              job a failed retries 0
              incident a JOB_NO_RETRIES created: No more retries left.
            > migrate #1 order v=2 a:c
              order migrated
              a becomes c
              c migrated
              job c migrated
              incident c JOB_NO_RETRIES migrated
              #1 migrated
            > update c retries=1
              job c retries updated retries 1
            > resolve c
              incident c JOB_NO_RETRIES resolved
            > activate t
              job c activated
              < job c retries 1 deadline 600000 variables {}
            > complete c
              job c completed
              c completing, completed
              -- c_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn an_instance_that_is_too_large_is_refused() {
    let many = "process order\nstart s\nand f\njob a type=t\njob b type=t\njob c type=t\nend e\ns -> f\nf -> a -> e\nf -> b -> e\nf -> c -> e";
    let options = Options { max_rows_per_migration: 5, ..Options::default() };
    check_with(
        &[("order", many), ("order@2", many)],
        options,
        r#"deploy order
           deploy order@2
           show variables
           create order v=1
           migrate #1 order v=1 a b c
           set a local {"x":1}
           migrate #1 order v=1 a b c
           set b local {"x":1}
           migrate #1 order v=1 a b c"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v1
            > create order v=1
              = created order v1
            > migrate #1 order v=1 a b c
            > set a local {"x":1}
              a.x = 1 created
            > migrate #1 order v=1 a b c
              a.x = 1 migrated
            > set b local {"x":1}
              b.x = 1 created
            > migrate #1 order v=1 a b c
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but it has more than 5 element instances, variables, timers, subscriptions and tokens, which is the limit of one migration.
            left: running_instances 1, instances 1, element_instances 4, children 3, variables 2, jobs 3, job_queue 3
        "#]],
    );
}

#[test]
fn an_instance_with_steps_left_over_is_refused() {
    let options = Options { max_steps_per_command: 1, ..Options::default() };
    check_with(
        &[("order", TASK), ("order@2", RENAMED)],
        options,
        "deploy order
         deploy order@2
         show elements
         only create order v=1
         only migrate #1 order v=2 a:b
         go on
         migrate #1 order v=2 a:b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > only create order v=1
              order activating, activated
              s activating, activated, completing, completed
              = created order v1
            > only migrate #1 order v=2 a:b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but it is about to take a sequence flow or to handle an event; try again in a moment.
            > go on
              a activating, activated
            > migrate #1 order v=2 a:b
              order migrated
              a becomes b
              b migrated
              #1 migrated
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn listeners_go_on_where_they_stand() {
    migrate(
        "process order\nstart s\njob a type=t listen:start=before listen:start=more listen:end=after\nend e\ns -> a -> e",
        "process order\nstart s\njob b type=t listen:end=first listen:end=second\nend e\ns -> b -> e",
        r#"create order v=1
           create order v=1
           show elements jobs
           activate before
           migrate #1 order v=2 a:b
           complete b
           activate t
           complete b
           activate first
           complete b
           activate second
           complete b
           activate before
           complete a
           activate more
           complete a
           activate t
           complete a
           migrate #2 order v=2 a:b
           activate after
           complete b
           activate second
           complete b"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type before retries 3 execution listener start
              = created order v1
            > create order v=1
              #2.order activating, activated
              #2.s activating, activated, completing, completed
              -- s_a
              #2.a activating
              job #2.a created type before retries 3 execution listener start
              = created order v1
            > activate before
              job a activated
              < job a EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > migrate #1 order v=2 a:b
              order migrated
              a becomes b
              b migrated
              job b migrated
              #1 migrated
            > complete b
              job b completed
              job b created type t retries 3
              b activated
            > activate t
              job b activated
              < job b retries 3 deadline 600000 variables {}
            > complete b
              job b completed
              b completing
              job b created type first retries 3 execution listener end
            > activate first
              job b activated
              < job b EXECUTION_LISTENER END retries 3 deadline 600000 variables {}
            > complete b
              job b completed
              job b created type second retries 3 execution listener end
            > activate second
              job b activated
              < job b EXECUTION_LISTENER END retries 3 deadline 600000 variables {}
            > complete b
              job b completed
              b completed
              e activating, activated, completing, completed
              order completing, completed
            > activate before
              job #2.a activated
              < job #2.a EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > complete a
              job #2.a completed
              job #2.a created type more retries 3 execution listener start
            > activate more
              job #2.a activated
              < job #2.a EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > complete a
              job #2.a completed
              job #2.a created type t retries 3
              #2.a activated
            > activate t
              job #2.a activated
              < job #2.a retries 3 deadline 600000 variables {}
            > complete a
              job #2.a completed
              #2.a completing
              job #2.a created type after retries 3 execution listener end
            > migrate #2 order v=2 a:b
              #2.order migrated
              #2.a becomes b
              #2.b migrated
              job #2.b migrated
              #2 migrated
            > activate after
              job #2.b activated
              < job #2.b EXECUTION_LISTENER END retries 3 deadline 600000 variables {}
            > complete b
              job #2.b completed
              job #2.b created type second retries 3 execution listener end
            > activate second
              job #2.b activated
              < job #2.b EXECUTION_LISTENER END retries 3 deadline 600000 variables {}
            > complete b
              job #2.b completed
              #2.b completed
              #2.e activating, activated, completing, completed
              #2.order completing, completed
        "#]],
    );
}

#[test]
fn start_listeners_that_are_done_do_not_return() {
    migrate(
        "process order\nstart s\nscript a expr=1 result=r listen:start=before\nend e\ns -> a -> e",
        "process order\nstart s\nscript a expr=1 result=r out:x=\"=assert(y, y != null)\"\nend e\ns -> a -> e",
        r#"show elements jobs incidents
           create order v=1
           migrate #1 order v=2 a
           activate before
           complete a
           set #1 {"y":1}
           resolve a"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              a activating
              job a created type before retries 3 execution listener start
              = created order v1
            > migrate #1 order v=2 a
              order migrated
              a migrated
              job a migrated
              #1 migrated
            > activate before
              job a activated
              < job a EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > complete a
              job a completed
              a activated, completing
              incident a IO_MAPPING_ERROR created: failed to evaluate expression 'assert(y, y != null)': Assertion failure on evaluate the expression 'assert(y, y != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'y'|[NO_VARIABLE_FOUND] No variable found with name 'y'|[ASSERT_FAILURE] The condition is not fulfilled
            > set #1 {"y":1}
            > resolve a
              incident a IO_MAPPING_ERROR resolved
              a completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_user_task_may_go_from_a_job_worker_to_people_but_not_back() {
    migrate(
        "process order\nstart s\nuser a worker\nend e\ns -> a -> e",
        "process order\nstart s\nuser a\nend e\ns -> a -> e",
        "create order v=1
         migrate #1 order v=2 a
         migrate #1 order v=1 a
         migrate #1 order v=2 a
         cancel #1",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type io.camunda.zeebe:userTask retries 1
              a activated
              = created order v1
            > migrate #1 order v=2 a
              order migrated
              a migrated
              job a canceled
              task a creating
              task a created
              #1 migrated
            > migrate #1 order v=1 a
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'a' is mapped to 'a', which is not implemented in the same way (by a job worker or not).
            > migrate #1 order v=2 a
              order migrated
              a migrated
              task a migrated
              #1 migrated
            > cancel #1
              order terminating
              a terminating
              task a canceling action=cancel
              task a canceled action=cancel
              a terminated
              order terminated
        "#]],
    );
}
