//! Migration of process instances that wait for events.

use expect_test::expect;

use crate::migration::migrate;

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
              undo activating, activated, completing, completed
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
