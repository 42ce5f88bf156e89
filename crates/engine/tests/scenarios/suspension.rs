//! Suspended process instances.

use expect_test::expect;

use crate::support::check;

const TASK: &str = "process p
    start s
    job a type=t
    job b type=t
    end e
    s -> a -> b -> e";

#[test]
fn jobs_are_neither_handed_out_nor_answered() {
    check(
        TASK,
        "show elements jobs
         create p
         halt #1
         halt #1
         activate t
         release #1
         activate t
         halt #1
         complete a@1
         fail a@1 retries=1
         update a@1 retries=5
         advance 601s
         activate t
         release #1
         release #1
         activate t
         complete a@1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > halt #1
              p suspended
            > halt #1
              = rejected INVALID_STATE: Expected to suspend process instance with key '<key>', but it is suspended already
            > activate t
              < no job
            > release #1
              p resumed
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > halt #1
              p suspended
            > complete a@1
              = rejected INVALID_STATE: Expected to complete job with key '<key>', but its process instance '<key>' is suspended
            > fail a@1 retries=1
              = rejected INVALID_STATE: Expected to fail job with key '<key>', but its process instance '<key>' is suspended
            > update a@1 retries=5
              = rejected INVALID_STATE: Expected to update job with key '<key>', but its process instance '<key>' is suspended
            > advance 601s
              job a timed out
            > activate t
              < no job
            > release #1
              p resumed
            > release #1
              = rejected INVALID_STATE: Expected to resume process instance with key '<key>', but it is not suspended
            > activate t
              job a activated
              < job a retries 3 deadline 1201000 variables {}
            > complete a@1
              job a completed
              a completing, completed
              b activating
              job b created type t retries 3
              b activated
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn a_listener_of_the_process_is_handed_out_afterwards() {
    check(
        "process p listen:start=a
         start s
         end e
         s -> e",
        "show jobs
         create p
         halt #1
         activate a
         release #1
         activate a",
        expect![[r#"
              = deployed p v1
            > create p
              job p created type a retries 3 execution listener start
              = created p v1
            > halt #1
            > activate a
              < no job
            > release #1
            > activate a
              job p activated
              < job p EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            left: running_instances 1, instances 1, element_instances 1, jobs 1, job_due 1
        "#]],
    );
}

#[test]
fn due_timers_trigger_once_when_it_is_resumed() {
    check(
        "process p
         start s
         job a type=t
         boundary tick on=a cycle=R/PT10S interrupting=false
         end late
         end e
         s -> a -> e
         tick -> late",
        "show elements timers
         create p
         halt #1
         advance 35s
         release #1
         advance 5s
         halt #1
         advance 60s
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating
              timer tick created due 10000 repetitions -1
              a activated
              = created p v1
            > halt #1
              p suspended
            > advance 35s
            > release #1
              p resumed
            > advance 5s
              timer tick triggered
              timer tick created due 40000 repetitions -1
              tick activating, activated, completing, completed
              late activating, activated, completing, completed
              timer tick triggered
              timer tick created due 50000 repetitions -1
              tick activating, activated, completing, completed
              late activating, activated, completing, completed
            > halt #1
              p suspended
            > advance 60s
            > cancel #1
              p terminating
              a terminating
              timer tick canceled
              a terminated
              p terminated
        "#]],
    );
}

#[test]
fn messages_pass_it_by_and_come_when_they_were_kept() {
    check(
        r#"process p
           start s
           catch wait message=m key=k
           end e
           s -> wait -> e"#,
        r#"show elements messages
         create p {"k":"a"}
         halt #1
         publish m a
         correlate m a
         publish m a ttl=1h
         release #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"k":"a"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating, activated
              = created p v1
            > halt #1
              p suspended
            > publish m a
              message m/a published
              message m/a expired
            > correlate m a
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a', but none was found.
            > publish m a ttl=1h
              message m/a published
            > release #1
              p resumed
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
            left: messages 1, message_by_name 1, message_due 1, message_correlations 1
        "#]],
    );
}

#[test]
fn signals_are_lost_and_conditions_wait() {
    check(
        "process p
         start s
         and f
         catch wait signal=x
         catch true condition=c
         end e
         end g
         s -> f
         f -> wait -> e
         f -> true -> g",
        r#"show elements
           create p {"c":false}
           halt #1
           broadcast x
           set p {"c":true}
           release #1
           broadcast x"#,
        expect![[r#"
              = deployed p v1
            > create p {"c":false}
              p activating, activated
              s activating, activated, completing, completed
              f activating, activated, completing, completed
              true activating, activated
              wait activating, activated
              = created p v1
            > halt #1
              p suspended
            > broadcast x
            > set p {"c":true}
            > release #1
              p resumed
              true completing, completed
              g activating, activated, completing, completed
            > broadcast x
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_called_instance_goes_on_and_its_caller_waits_for_the_resumption() {
    check(
        "process p
         start s
         call c process=q
         end e
         s -> c -> e
         process q
         start s2
         job a type=t
         end e2
         s2 -> a -> e2",
        "show elements
         create p
         halt #1
         complete a@1
         release #1
         create p
         halt #4
         cancel #3",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.a activating, activated
              = created p v1
            > halt #1
              p suspended
            > complete a@1
              #2.a completing, completed
              #2.e2 activating, activated, completing, completed
              #2.q completing, completed
            > release #1
              p resumed
              c completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > create p
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.c activating
              #4.q activating, activated
              #3.c activated
              #4.s2 activating, activated, completing, completed
              #4.a activating, activated
              = created p v1
            > halt #4
              #4.q suspended
            > cancel #3
              #3.p terminating
              #3.c terminating
              #4.q terminating
              #4.a terminating, terminated
              #4.q terminated
              #3.c terminated
              #3.p terminated
        "#]],
    );
}

#[test]
fn commands_wait_for_the_resumption_or_are_refused() {
    check(
        "process p
         start s
         user u
         job a type=t retries=1
         end e
         s -> u -> a -> e",
        "show
         create p
         halt #1
         assign u ann
         finish u
         modify #1 -u
         release #1
         finish u
         activate t
         fail a@1 retries=0
         halt #1
         resolve a@1
         update a@1 retries=1
         release #1
         update a@1 retries=1
         resolve a@1
         halt #1
         cancel #1
         halt #1
         release #1",
        expect![[r#"
              = deployed p v1
            > create p
              = created p v1
            > halt #1
            > assign u ann
              = rejected INVALID_STATE: Expected to assign user task with key '<key>', but its process instance '<key>' is suspended
            > finish u
              = rejected INVALID_STATE: Expected to complete user task with key '<key>', but its process instance '<key>' is suspended
            > modify #1 -u
              = rejected INVALID_STATE: Expected to modify process instance with key '<key>', but process instance '<key>' is suspended: resume it first
            > release #1
            > finish u
            > activate t
              < job a retries 1 deadline 600000 variables {}
            > fail a@1 retries=0
            > halt #1
            > resolve a@1
              = rejected NOT_FOUND: Expected to resolve incident with key '1', but no such incident was found
            > update a@1 retries=1
              = rejected INVALID_STATE: Expected to update job with key '<key>', but its process instance '<key>' is suspended
            > release #1
            > update a@1 retries=1
            > resolve a@1
              = rejected NOT_FOUND: Expected to resolve incident with key '1', but no such incident was found
            > halt #1
            > cancel #1
            > halt #1
              = rejected NOT_FOUND: Expected to suspend process instance with key '<key>', but no such process instance was found
            > release #1
              = rejected NOT_FOUND: Expected to resume process instance with key '<key>', but no such process instance was found
        "#]],
    );
}

#[test]
fn batches_suspend_and_resume() {
    check(
        TASK,
        "show elements batches
         create p
         create p
         halt #2
         batch halt id=p
         items 1
         batch release id=p
         items 2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.a activating, activated
              = created p v1
            > halt #2
              #2.p suspended
            > batch halt id=p
              B1 finds 2
              p suspended
              B1 item completed
              B1 item failed: Expected to suspend process instance with key '<key>', but it is suspended already
              B1 completed
              = B1 SUSPEND_PROCESS_INSTANCE
            > items 1
              B1 COMPLETED: 1 of 2 done, 1 failed
              - #1 COMPLETED
              - #2 FAILED
            > batch release id=p
              B2 finds 2
              p resumed
              B2 item completed
              #2.p resumed
              B2 item completed
              B2 completed
              = B2 RESUME_PROCESS_INSTANCE
            > items 2
              B2 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
            left: running_instances 1, instances 2, element_instances 4, children 2, jobs 2, job_queue 2
        "#]],
    );
}

#[test]
fn a_business_id_is_assigned_once() {
    check(
        TASK,
        "show elements
         create p
         create p business=other
         name #1 order-1 unique
         name #1 order-2
         name #2 order-1 unique
         create p unique=order-1
         halt #1
         name #1 order-1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              a activating, activated
              = created p v1
            > create p business=other
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.a activating, activated
              = created p v1
            > name #1 order-1 unique
              p business id assigned
            > name #1 order-2
              = rejected INVALID_STATE: Expected to assign business ID 'order-2' to process instance with key '<key>', but it has the business ID 'order-1'
            > name #2 order-1 unique
              = rejected INVALID_STATE: Expected to assign business ID 'order-1' to process instance with key '<key>', but it has the business ID 'other'
            > create p unique=order-1
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.a activating, activated
              = created p v1
            > halt #1
              p suspended
            > name #1 order-1
              = rejected INVALID_STATE: Expected to assign business ID 'order-1' to process instance with key '<key>', but it is suspended
            left: running_instances 1, instances 3, element_instances 6, children 3, jobs 3, job_queue 3, suspended 1, business_ids 1
        "#]],
    );
}

#[test]
fn listeners_of_a_cancellation_go_on_when_a_suspended_instance_is_cancelled() {
    check(
        "process p
         start s
         user t task:canceling=x
         boundary b on=t timer=PT1M
         end e
         s -> t -> e
         b -> e",
        "hide flows timers
         create p
         advance 1m
         halt #1
         activate x
         cancel #1
         activate x
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating
              task t created
              t activated
              = created p v1
            > advance 1m
              t terminating
              task t canceling action=cancel
              job t created type x retries 3 task listener canceling
            > halt #1
              p suspended
            > activate x
              < no job
            > cancel #1
              p terminating
            > activate x
              job t activated
              < job t TASK_LISTENER CANCELING retries 3 deadline 660000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685257","io.camunda.zeebe:action":"cancel","io.camunda.zeebe:priority":"50"} task [cancel of '', priority 50]
            > complete t
              job t completed
              task t canceled action=cancel
              t terminated
              p terminated
        "#]],
    );
}
