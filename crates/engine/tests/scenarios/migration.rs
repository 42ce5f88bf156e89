//! Migration of process instances to another definition.

use engine::Options;
use expect_test::{Expect, expect};

use crate::support::check_with;

/// Deploys `order` in two versions, of which the second file may have another process, and runs a script.
fn migrate(before: &str, after: &str, script: &str, expected: Expect) {
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

const BOUNDARIES: &str = "process order
    start s
    job a type=t
    boundary kept on=a message=m key=k
    boundary gone on=a message=gone key=k
    boundary late on=a timer=PT1M
    boundary often on=a cycle=R3/PT10S interrupting=false
    boundary failed on=a error=E
    end e
    s -> a -> e
    kept -> e
    gone -> e
    late -> e
    often -> e
    failed -> e";

#[test]
fn mapped_catch_events_are_kept_and_others_closed_and_opened() {
    migrate(
        BOUNDARIES,
        "process order
         start s
         job a type=t
         boundary still on=a message=other key=k interrupting=false
         boundary new on=a message=new key=k interrupting=false
         boundary late on=a timer=PT1H
         boundary seldom on=a cycle=R1/PT1S interrupting=false
         end e
         s -> a -> e
         still -> e
         new -> e
         late -> e
         seldom -> e",
        r#"create order v=1 {"k":"1"}
           hide flows jobs
           migrate #1 order v=2 a kept:still often:seldom
           publish gone 1
           publish m 1
           publish m 1
           publish new 1
           publish other 1
           advance 10s
           advance 10s
           advance 1m
           advance 1h"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating
              order.k = "1" created
              order activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              subscription a/kept m/1 created
              subscription a/gone gone/1 created
              timer late created due 60000
              timer often created due 10000 repetitions 3
              job a created type t retries 3
              a activated
              = created order v1
            > migrate #1 order v=2 a kept:still often:seldom
              order migrated
              order.k = "1" migrated
              a migrated
              timer late canceled
              timer seldom migrated
              subscription a/still m/1 migrated
              subscription a/gone gone/1 deleted
              subscription a/new new/1 created
              timer late created due 3600000
              #1 migrated
            > publish gone 1
              message gone/1 published
              message gone/1 expired
            > publish m 1
              message m/1 published
              subscription a/still m/1 correlated
              message m/1 expired
              still activating, activated, completing, completed
              e activating, activated, completing, completed
            > publish m 1
              message m/1 published
              subscription a/still m/1 correlated
              message m/1 expired
              still activating, activated, completing, completed
              e activating, activated, completing, completed
            > publish new 1
              message new/1 published
              subscription a/new new/1 correlated
              message new/1 expired
              new activating, activated, completing, completed
              e activating, activated, completing, completed
            > publish other 1
              message other/1 published
              message other/1 expired
            > advance 10s
              timer seldom triggered
              timer seldom created due 20000 repetitions 2
              seldom activating, activated, completing, completed
              e activating, activated, completing, completed
            > advance 10s
              timer seldom triggered
              timer seldom created due 30000
              seldom activating, activated, completing, completed
              e activating, activated, completing, completed
            > advance 1m
              timer seldom triggered
              seldom activating, activated, completing, completed
              e activating, activated, completing, completed
            > advance 1h
              timer late triggered
              subscription a/still m/1 deleted
              subscription a/new new/1 deleted
              a terminating, terminated
              late activating, activated, completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn catch_events_are_mapped_once_to_the_same_kind_on_the_same_element() {
    migrate(
        BOUNDARIES,
        "process order
         start s
         job a type=t
         job b type=t
         boundary one on=a message=one key=k
         boundary late on=a timer=PT1H
         boundary elsewhere on=b message=other key=k
         boundary broken on=b message==missing key=k
         end e
         s -> a -> b -> e
         one -> e
         late -> e
         elsewhere -> e
         broken -> e",
        r#"create order v=1 {"k":"1"}
           show elements
           migrate #1 order v=2 a kept:one gone:one
           migrate #1 order v=2 a kept:late
           migrate #1 order v=2 a kept:b
           migrate #1 order v=2 a kept:elsewhere
           migrate #1 order v=2 a:b"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating
              order.k = "1" created
              order activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              subscription a/kept m/1 created
              subscription a/gone gone/1 created
              timer late created due 60000
              timer often created due 10000 repetitions 3
              job a created type t retries 3
              a activated
              = created order v1
            > migrate #1 order v=2 a kept:one gone:one
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but two catch events of the active element 'a' are mapped to 'one'; each may be the target of one.
            > migrate #1 order v=2 a kept:late
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the catch event 'kept' of the active element 'a' has type 'BOUNDARY_EVENT' and event type 'MESSAGE', and is mapped to 'late' with type 'BOUNDARY_EVENT' and event type 'TIMER'; they must not change.
            > migrate #1 order v=2 a kept:b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the catch event 'kept' of the active element 'a' has type 'BOUNDARY_EVENT' and event type 'MESSAGE', and is mapped to 'b' with type 'SERVICE_TASK' and event type 'UNSPECIFIED'; they must not change.
            > migrate #1 order v=2 a kept:elsewhere
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the catch event 'kept' of the active element 'a' is mapped to 'elsewhere', which is attached to a different element than 'a'.
            > migrate #1 order v=2 a:b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the events of 'b' cannot be subscribed to: Expected result of the expression 'missing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'.
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1, timers 2, timer_due 2, timer_by_owner 2, subscriptions 2, subscription_by_name 2, subscription_by_owner 2
        "#]],
    );
}

#[test]
fn waiting_events_are_kept() {
    migrate(
        "process order
         start s
         and f
         receive r message=m key=k
         catch c message=n key=k
         catch d timer=PT1M
         events g
         catch x message=x key=k
         catch y timer=PT5M
         catch z message=z key=k
         end e
         s -> f
         f -> r -> e
         f -> c -> e
         f -> d -> e
         f -> g
         g -> x -> e
         g -> y -> e
         g -> z -> e",
        "process order
         start s
         and f
         receive r2 message=m2 key=k
         boundary on-r on=r2 message=b key=k
         catch c2 message=n2 key=k
         catch d2 timer=PT1H
         events g2
         catch x2 message=x2 key=k
         catch y2 timer=PT1H
         catch w2 message=w key=k
         job after type=t
         end e
         s -> f
         f -> r2 -> e
         on-r -> e
         f -> c2 -> e
         f -> d2 -> e
         f -> g2
         g2 -> x2 -> e
         g2 -> y2 -> e
         g2 -> w2 -> after -> e",
        r#"create order v=1 {"k":"1"}
           hide flows variables
           migrate #1 order v=2 r:r2 c:c2 d:d2 g:g2 x:x2 y:y2
           publish m 1
           publish n 1
           advance 1m
           publish z 1
           publish w 1
           activate t
           complete after"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating
              order.k = "1" created
              order activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_g
              -- f_d
              -- f_c
              -- f_r
              g activating
              subscription g/z z/1 created
              timer y created due 300000
              subscription g/x x/1 created
              g activated
              d activating
              timer d created due 60000
              d activated
              c activating
              subscription c/c n/1 created
              c activated
              r activating
              subscription r/r m/1 created
              r activated
              = created order v1
            > migrate #1 order v=2 r:r2 c:c2 d:d2 g:g2 x:x2 y:y2
              order migrated
              g becomes g2
              g2 migrated
              timer y2 migrated
              subscription g2/z z/1 deleted
              subscription g2/x2 x/1 migrated
              subscription g2/w2 w/1 created
              d becomes d2
              d2 migrated
              timer d2 migrated
              c becomes c2
              c2 migrated
              subscription c2/c2 n/1 migrated
              r becomes r2
              r2 migrated
              subscription r2/r2 m/1 migrated
              subscription r2/on-r b/1 created
              #1 migrated
            > publish m 1
              message m/1 published
              subscription r2/r2 m/1 correlated
              subscription r2/on-r b/1 deleted
              message m/1 expired
              r2 completing, completed
              e activating, activated, completing, completed
            > publish n 1
              message n/1 published
              subscription c2/c2 n/1 correlated
              message n/1 expired
              c2 completing, completed
              e activating, activated, completing, completed
            > advance 1m
              timer d2 triggered
              d2 completing, completed
              e activating, activated, completing, completed
            > publish z 1
              message z/1 published
              message z/1 expired
            > publish w 1
              message w/1 published
              subscription g2/w2 w/1 correlated
              timer y2 canceled
              subscription g2/x2 x/1 deleted
              message w/1 expired
              g2 completing, completed
              w2 activating, activated, completing, completed
              after activating
              job after created type t retries 3
              after activated
            > activate t
              job after activated
              < job after retries 3 deadline 660000 variables {"k":"1"}
            > complete after
              job after completed
              after completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

const JOIN: &str = "process order\nstart s\nand f\njob a type=a\njob b type=b\nand j\nend e\ns -> f\nf -> a -> j\nf -> b -> j\nj -> e";

#[test]
fn tokens_at_a_join_move_with_its_gateway() {
    migrate(
        JOIN,
        "process order\nstart s\nand f\njob b type=b\njob c type=a\njob d type=d\nand k\nxor x\nend e\ns -> f\nf -> c -> k\nf -> b -> k\nf -> d -> x -> k\nk -> e",
        "create order v=1
         show elements flows
         activate a
         complete a
         migrate #1 order v=2 b
         migrate #1 order v=2 b j:x
         migrate #1 order v=2 b j:k
         migrate #1 order v=2 b j:k a_j:f_c
         migrate #1 order v=2 b j:k a_j:x_k
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the joining gateway 'j', at which tokens wait.
            > migrate #1 order v=2 b j:x
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 'j' of type 'PARALLEL_GATEWAY' is mapped to 'x' of type 'EXCLUSIVE_GATEWAY'; the type must not change.
            > migrate #1 order v=2 b j:k
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the taken sequence flow 'a_j' to one that enters the gateway 'k'.
            > migrate #1 order v=2 b j:k a_j:f_c
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the taken sequence flow 'a_j' to one that enters the gateway 'k'.
            > migrate #1 order v=2 b j:k a_j:x_k
              order migrated
              b migrated
              #1 migrated
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_k
            left: running_instances 1, instances 1, element_instances 1, join_tokens 2
        "#]],
    );
}

#[test]
fn a_join_completes_after_the_migration() {
    migrate(
        JOIN,
        JOIN.replace("and j", "and k").replace("-> j", "-> k").replace("j -> e", "k -> e").as_str(),
        "create order v=1
         show elements flows
         activate a
         complete a
         migrate #1 order v=2 b j:k a_j:a_k
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b j:k a_j:a_k
              order migrated
              b migrated
              #1 migrated
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_k
              k activating, activated, completing, completed
              -- k_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_join_must_not_become_narrower() {
    migrate(
        "process order\nstart s\nand f\njob a type=a\njob b type=b\nand j\nend e\ns -> f\nf -> a -> j\nf -> b -> j\nf -> j\nj -> e",
        JOIN,
        "create order v=1
         show elements
         activate a
         complete a
         migrate #1 order v=2 b j",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_j
              -- f_b
              -- f_a
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
            > migrate #1 order v=2 b j
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the joining gateway 'j' is mapped to 'j', which has fewer incoming sequence flows.
            left: running_instances 1, instances 1, element_instances 2, children 1, join_tokens 2, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn called_instances_stay_as_they_are() {
    let call = "process order\nstart s\ncall c process=child\nend e\ns -> c -> e\nprocess child\nstart s2\njob a type=t\nend e2\ns2 -> a -> e2";
    migrate(
        call,
        call.replace("call c process=child", "call d process=child").replace("-> c ->", "-> d ->").as_str(),
        "create order v=1
         show elements definitions jobs
         migrate #1 order v=2 c:d
         migrate #2 child v=2 a
         activate t
         complete a",
        expect![[r#"
              = deployed order v1 child v1
            > deploy order@2
              = deployed order v2 child v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              #2.child activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              -- s2_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created order v1
            > migrate #1 order v=2 c:d
              order migrated
              c becomes d
              d migrated
              #2.child ancestor migrated
              #1 migrated
            > migrate #2 child v=2 a
              #2.child migrated
              #2.a migrated
              job #2.a migrated
              #2 migrated
            > activate t
              job #2.a activated
              < job #2.a retries 3 deadline 600000 variables {}
            > complete a
              job #2.a completed
              #2.a completing, completed
              #2.e2 activating, activated, completing, completed
              #2.child completing, completed
              d completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_message_start_lock_goes_to_the_new_process() {
    migrate(
        "process order\nstart s message=m\njob a type=t\nend e\ns -> a -> e",
        "process invoice\nstart s message=n\njob a type=t\nend e\ns -> a -> e",
        "show elements messages
         publish m 1
         publish m 1 ttl=1h
         migrate #1 invoice v=1 a
         publish n 1
         publish n 1 ttl=1h
         migrate #2 invoice v=1 a
         activate t max=2
         complete a@1
         complete a@2
         activate t
         complete a
         advance 1h",
        expect![[r#"
              start subscription order/s m created
              = deployed order v1
            > deploy order@2
              start subscription invoice/s n created
              = deployed invoice v1
            > publish m 1
              message m/1 published
              order activating, activated
              message m/1 expired
              s activating, activated, completing, completed
              a activating, activated
            > publish m 1 ttl=1h
              message m/1 published
            > migrate #1 invoice v=1 a
              order migrated
              a migrated
              #1 migrated
              #2.order activating, activated
              #2.s activating, activated, completing, completed
              #2.a activating, activated
            > publish n 1
              message n/1 published
              message n/1 expired
            > publish n 1 ttl=1h
              message n/1 published
            > migrate #2 invoice v=1 a
              #2.order migrated
              #2.a migrated
              #2 migrated
            > activate t max=2
              < job a retries 3 deadline 600000 variables {}
              < job #2.a retries 3 deadline 600000 variables {}
            > complete a@1
              a completing, completed
              e activating, activated, completing, completed
              order completing, completed
              #3.invoice activating, activated
              #3.s activating, activated, completing, completed
              #3.a activating, activated
            > complete a@2
              #2.a completing, completed
              #2.e activating, activated, completing, completed
              #2.order completing, completed
            > activate t
              < job #3.a retries 3 deadline 600000 variables {}
            > complete a
              #3.a completing, completed
              #3.e activating, activated, completing, completed
              #3.invoice completing, completed
            > advance 1h
              message m/1 expired
              message n/1 expired
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

const EACH: &str =
    "process order\nstart s\njob t each=items as=item collect=results gives=result\nend e\ns -> t -> e";

#[test]
fn the_body_and_all_instances_of_a_multi_instance_task_move() {
    migrate(
        EACH,
        "process order\nstart s\njob u each=items as=it collect=out gives=result until=\"numberOfCompletedInstances >= 2\"\nboundary late on=u timer=PT1M\nend e\ns -> u -> e\nlate -> e",
        r#"create order v=1 {"items":[1,2,3]}
           hide flows
           activate t
           complete t@1 {"result":"a"}
           migrate #1 order v=2 t:u
           activate t
           complete u {"result":"b"}"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2,3]}
              order activating
              order.items = [1,2,3] created
              order activated
              s activating, activated, completing, completed
              -- s_t
              t* activating, activated
              t activating
              t.result = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.result = null created
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.result = null created
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created order v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"items":[1,2,3]}
            > complete t@1 {"result":"a"}
              job t completed
              t completing
              t.result = "a" updated
              t completed
            > migrate #1 order v=2 t:u
              order migrated
              order.items = [1,2,3] migrated
              t* becomes u*
              u* migrated
              timer late created due 60000
              t becomes u
              u migrated
              job u migrated
              u.item = 2 migrated
              u.loopCounter = 2 migrated
              u.result = null migrated
              t becomes u
              u migrated
              job u migrated
              u.item = 3 migrated
              u.loopCounter = 3 migrated
              u.result = null migrated
              #1 migrated
            > activate t
              job u activated
              < job u retries 3 deadline 600000 variables {"item":2,"loopCounter":2,"result":null,"items":[1,2,3]}
            > complete u {"result":"b"}
              job u completed
              u completing
              u.result = "b" updated
              u completed
              u terminating
              job u canceled
              u terminated
              u* completing
              u*.out = ["a",null,"b"] created
              order.out = ["a",null,"b"] created
              timer late canceled
              u* completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn a_sequence_of_instances_goes_on_in_the_new_model() {
    migrate(
        EACH.replace("each=", "sequential each=").as_str(),
        EACH.replace("each=", "sequential each=").replace("job t", "job t retries=9").as_str(),
        r#"create order v=1 {"items":[1,2]}
           show elements jobs
           migrate #1 order v=2 t
           activate t
           complete t
           activate t
           complete t"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"items":[1,2]}
              order activating
              order.items = [1,2] created
              order activated
              s activating, activated, completing, completed
              -- s_t
              t* activating, activated
              t activating
              t.result = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              = created order v1
            > migrate #1 order v=2 t
              order migrated
              t* migrated
              t migrated
              job t migrated
              #1 migrated
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"result":null,"items":[1,2]}
            > complete t
              job t completed
              t completing, completed
              t activating
              job t created type t retries 9
              t activated
            > activate t
              job t activated
              < job t retries 9 deadline 600000 variables {"item":2,"loopCounter":2,"result":null,"items":[1,2]}
            > complete t
              job t completed
              t completing, completed
              t* completing, completed
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn loop_characteristics_stay() {
    let script = r#"show elements
        create order v=1 {"items":[1,2,3]}
        migrate #1 order v=2 t"#;
    let sequential = EACH.replace("each=", "sequential each=");
    migrate(
        EACH,
        &sequential,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          t activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active multi-instance element 't' is mapped to 't'; parallel instances cannot become sequential ones, nor the other way round.
        left: running_instances 1, instances 1, element_instances 5, children 4, variables 10, jobs 3, job_queue 3, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        &sequential,
        EACH,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active multi-instance element 't' is mapped to 't'; parallel instances cannot become sequential ones, nor the other way round.
        left: running_instances 1, instances 1, element_instances 3, children 2, variables 4, jobs 1, job_queue 1, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        EACH,
        "process order\nstart s\njob t\nend e\ns -> t -> e",
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t* activating, activated
          t activating, activated
          t activating, activated
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 't' of type 'MULTI_INSTANCE_BODY' is mapped to 't' of type 'SERVICE_TASK'; the type must not change.
        left: running_instances 1, instances 1, element_instances 5, children 4, variables 10, jobs 3, job_queue 3, loops 1, loop_chunks 1
    "#]],
    );
    migrate(
        "process order\nstart s\njob t\nend e\ns -> t -> e",
        EACH,
        script,
        expect![[r#"
          = deployed order v1
        > deploy order@2
          = deployed order v2
        > create order v=1 {"items":[1,2,3]}
          order activating, activated
          s activating, activated, completing, completed
          t activating, activated
          = created order v1
        > migrate #1 order v=2 t
          = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the active element 't' of type 'SERVICE_TASK' is mapped to 't' of type 'MULTI_INSTANCE_BODY'; the type must not change.
        left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
    "#]],
    );
}

#[test]
fn an_inclusive_join_looks_again_at_what_can_come() {
    let model = "process order\nstart s\nor f\njob a type=a\njob b type=b\nor j\nend e\ns -> f\nf -> a if true\nf -> b if true\na -> j\nb -> j\nj -> e";
    migrate(
        model,
        model
            .replace("b -> j", "b -> e")
            .replace("or j", "or j\njob c")
            .replace("j -> e", "c -> j\nj -> e")
            .as_str(),
        "show elements flows
         create order v=1
         activate a
         complete a
         migrate #1 order v=2 b j
         activate b
         complete b",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              -- s_f
              f activating, activated, completing, completed
              -- f_b
              -- f_a
              b activating, activated
              a activating, activated
              = created order v1
            > activate a
              < job a retries 3 deadline 600000 variables {}
            > complete a
              a completing, completed
              -- a_j
            > migrate #1 order v=2 b j
              order migrated
              b migrated
              #1 migrated
              j activating, activated, completing, completed
              -- j_e
              e activating, activated, completing, completed
            > activate b
              < job b retries 3 deadline 600000 variables {}
            > complete b
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

const CAUGHT: &str = "process order
    start s
    job t
    end e
    s -> t -> e
    on caught {
    start c message=stop key=k
    job u
    end f
    c -> u -> f
    }
    on noted {
    start n message=note key=k interrupting=false
    job v
    end g
    n -> v -> g
    }";

#[test]
fn start_events_of_event_sub_processes_are_kept_if_mapped() {
    migrate(
        CAUGHT,
        CAUGHT
            .replace("start c message=stop key=k", "start c message=halt key=k interrupting=false")
            .as_str(),
        r#"create order v=1 {"k":"1"}
           show elements subscriptions
           migrate #1 order v=2 t c
           publish stop 1
           publish note 1
           publish stop 1
           migrate #1 order v=2 t c caught:noted u noted v
           migrate #1 order v=2 t c caught u noted v
           cancel #1"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating
              order.k = "1" created
              subscription order/c stop/1 created
              subscription order/n note/1 created
              order activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type t retries 3
              t activated
              = created order v1
            > migrate #1 order v=2 t c
              order migrated
              subscription order/c stop/1 migrated
              subscription order/n note/1 deleted
              subscription order/n note/1 created
              t migrated
              #1 migrated
            > publish stop 1
              subscription order/c stop/1 correlated
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > publish note 1
              subscription order/n note/1 correlated
              noted activating, activated
              n activating, activated, completing, completed
              v activating, activated
            > publish stop 1
              subscription order/c stop/1 correlated
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
            > migrate #1 order v=2 t c caught:noted u noted v
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the flow scope of the active element 'u' is changed: as 'caught' is mapped to 'noted', 'u' would have to stand there, but it stands in 'caught'.
            > migrate #1 order v=2 t c caught u noted v
              order migrated
              subscription order/c stop/1 migrated
              subscription order/n note/1 deleted
              subscription order/n note/1 created
              t migrated
              caught migrated
              noted migrated
              caught migrated
              u migrated
              v migrated
              u migrated
              #1 migrated
            > cancel #1
              order terminating
              subscription order/c stop/1 deleted
              subscription order/n note/1 deleted
              t terminating, terminated
              caught terminating
              noted terminating
              caught terminating
              u terminating, terminated
              v terminating, terminated
              u terminating, terminated
              caught terminated
              noted terminated
              caught terminated
              order terminated
        "#]],
    );
}

#[test]
fn what_an_event_sub_process_has_interrupted_is_not_interrupted_again() {
    migrate(
        CAUGHT,
        CAUGHT.replace("message=note", "message=more").as_str(),
        r#"create order v=1 {"k":"1"}
           publish stop 1
           show elements subscriptions jobs
           migrate #1 order v=2 caught u
           activate u
           complete u"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {"k":"1"}
              order activating
              order.k = "1" created
              subscription order/c stop/1 created
              subscription order/n note/1 created
              order activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type t retries 3
              t activated
              = created order v1
            > publish stop 1
              message stop/1 published
              subscription order/c stop/1 correlated
              subscription order/n note/1 deleted
              message stop/1 expired
              t terminating
              job t canceled
              t terminated
              caught activating, activated
              c activating, activated, completing, completed
              -- c_u
              u activating
              job u created type u retries 3
              u activated
            > migrate #1 order v=2 caught u
              order migrated
              caught migrated
              u migrated
              job u migrated
              #1 migrated
            > activate u
              job u activated
              < job u retries 3 deadline 600000 variables {"k":"1"}
            > complete u
              job u completed
              u completing, completed
              f activating, activated, completing, completed
              caught completing, completed
              order completing, completed
        "#]],
    );
}

#[test]
fn the_element_after_which_an_instance_ends_is_mapped() {
    migrate(
        "process order\nstart s\njob a type=t\njob b type=t\nend e\ns -> a -> b -> e",
        "process order\nstart s\njob x type=t\njob b type=t\nend e\ns -> x -> b -> e",
        "show elements
         create order v=1 after=a
         migrate #1 order v=2 a:x
         activate t
         complete x",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 after=a
              order activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created order v1
            > migrate #1 order v=2 a:x
              order migrated
              a becomes x
              x migrated
              #1 migrated
            > activate t
              < job x retries 3 deadline 600000 variables {}
            > complete x
              x completing, completed
              #1 ends after x
              order terminating, terminated
        "#]],
    );
}

const UNDONE: &str = "process order
    start s
    sub outer {
    start s2
    job a type=t
    boundary undo on=a compensation=back
    job back type=undo handler
    end e2
    s2 -> a -> e2
    }
    job b type=t
    throw again compensate
    end e
    s -> outer -> b -> again -> e";

#[test]
fn what_can_be_compensated_moves() {
    migrate(
        UNDONE,
        UNDONE
            .replace("back", "revert")
            .replace("job a ", "job x ")
            .replace("on=a", "on=x")
            .replace("-> a ->", "-> x ->")
            .as_str(),
        "show elements jobs compensations
         create order v=1
         activate t
         complete a
         migrate #1 order v=2 b
         migrate #1 order v=2 b outer
         migrate #1 order v=2 b outer a:b
         migrate #1 order v=2 b outer a:x
         activate t
         complete b
         migrate #1 order v=2 again outer x revert
         activate undo
         complete revert",
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1
              order activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              a activating
              job a created type t retries 3
              a activated
              = created order v1
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > complete a
              job a completed
              a completing, completed
              compensation a/back created
              e2 activating, activated, completing, completed
              outer completing, completed
              compensation outer/- created
              b activating
              job b created type t retries 3
              b activated
            > migrate #1 order v=2 b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the completed activity 'outer', which can be compensated.
            > migrate #1 order v=2 b outer
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but no mapping instruction is defined for the completed activity 'a', which can be compensated.
            > migrate #1 order v=2 b outer a:b
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but the flow scope of the active element 'a' is changed: as 'outer' is mapped to 'outer', 'b' would have to stand there, but it stands in 'order'.
            > migrate #1 order v=2 b outer a:x
              order migrated
              compensation outer/- migrated
              compensation x/revert migrated
              b migrated
              job b migrated
              #1 migrated
            > activate t
              job b activated
              < job b retries 3 deadline 600000 variables {}
            > complete b
              job b completed
              b completing, completed
              again activating, activated
              compensation outer/- triggered by again
              compensation x/revert triggered by again
              compensation outer/- completed by again
              revert activating
              job revert created type undo retries 3
              revert activated
            > migrate #1 order v=2 again outer x revert
              = rejected INVALID_STATE: Expected to migrate process instance '<key>', but its element 'again' waits for compensation; try again later.
            > activate undo
              job revert activated
              < job revert retries 3 deadline 600000 variables {}
            > complete revert
              job revert completed
              revert completing, completed
              compensation x/revert completed by again
              again completing, completed
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
