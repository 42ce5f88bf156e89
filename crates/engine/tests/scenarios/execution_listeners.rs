//! Execution listeners: jobs before and after the work of an element.

use expect_test::expect;

use crate::support::check;

#[test]
fn listeners_run_one_after_the_other_around_the_work() {
    check(
        "process p
         start s
         job t in:x==1 listen:start=a listen:start=b/2 listen:end=c listen:end=d
         end e
         s -> t -> e",
        r#"create p
         activate b
         activate a
         complete t {"before": 1}
         activate b
         complete t {"x": 2}
         complete t {"result": 3}
         activate c
         complete t {"after": 4}
         complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              t.x = 1 created
              job t created type a retries 3 execution listener start
              = created p v1
            > activate b
              < no job
            > activate a
              job t activated
              < job t EXECUTION_LISTENER START retries 3 deadline 600000 variables {"x":1}
            > complete t {"before": 1}
              job t completed
              t.before = 1 created
              job t created type b retries 2 execution listener start
            > activate b
              job t activated
              < job t EXECUTION_LISTENER START retries 2 deadline 600000 variables {"before":1,"x":1}
            > complete t {"x": 2}
              job t completed
              t.x = 2 updated
              job t created type t retries 3
              t activated
            > complete t {"result": 3}
              job t completed
              t completing
              p.result = 3 created
              job t created type c retries 3 execution listener end
            > activate c
              job t activated
              < job t EXECUTION_LISTENER END retries 3 deadline 600000 variables {"before":1,"x":2,"result":3}
            > complete t {"after": 4}
              job t completed
              p.after = 4 created
              job t created type d retries 3 execution listener end
            > complete t
              job t completed
              t completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_process_itself_has_listeners() {
    check(
        "process p listen:start=a listen:end=b
         start s
         end e
         s -> e",
        r#"create p await=7 {"v": 1}
         activate a
         complete p {"x": 2}
         activate b
         complete p {"y": 3}"#,
        expect![[r#"
              = deployed p v1
            > create p await=7 {"v": 1}
              p activating
              p.v = 1 created
              job p created type a retries 3 execution listener start
            > activate a
              job p activated
              < job p EXECUTION_LISTENER START retries 3 deadline 600000 variables {"v":1}
            > complete p {"x": 2}
              job p completed
              p.x = 2 created
              p activated
              s activating, activated, completing, completed
              -- s_e
              e activating, activated, completing, completed
              p completing
              job p created type b retries 3 execution listener end
            > activate b
              job p activated
              < job p EXECUTION_LISTENER END retries 3 deadline 600000 variables {"v":1,"x":2}
            > complete p {"y": 3}
              job p completed
              p.y = 3 created
              p completed
              late answer to request 7:
              = completed p {"v":1,"x":2,"y":3}
        "#]],
    );
}

#[test]
fn a_called_process_answers_after_its_end_listeners() {
    check(
        "process p
         start s
         call c process=q listen:start=a listen:end=b
         end e
         s -> c -> e
         process q listen:start=a2 listen:end=b2
         start s2
         end e2
         s2 -> e2",
        r#"create p
         complete c
         complete q {"in": 1}
         complete q {"out": 2}
         complete c"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              job c created type a retries 3 execution listener start
              = created p v1
            > complete c
              job c completed
              #2.q activating
              c activated
              job #2.q created type a2 retries 3 execution listener start
            > complete q {"in": 1}
              job #2.q completed
              #2.q.in = 1 created
              #2.q activated
              #2.s2 activating, activated, completing, completed
              -- s2_e2
              #2.e2 activating, activated, completing, completed
              #2.q completing
              job #2.q created type b2 retries 3 execution listener end
            > complete q {"out": 2}
              job #2.q completed
              #2.q.out = 2 created
              #2.q completed
              c completing
              p.in = 1 created
              p.out = 2 created
              job c created type b retries 3 execution listener end
            > complete c
              job c completed
              c completed
              -- c_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_process_started_by_a_message_listens_first() {
    check(
        "process p listen:start=a
         start s message=go
         end e
         s -> e",
        r#"publish go - {"v": 1}
         complete p
         show variables"#,
        expect![[r#"
              start subscription p/s go created
              = deployed p v1
            > publish go - {"v": 1}
              message go/ published
              start subscription p/s go correlated
              p activating
              message go/ expired
              job p created type a retries 3 execution listener start
            > complete p
              job p completed
              p activated
              s activating, activated, completing
              s.v = 1 created
              p.v = 1 created
              s completed
              -- s_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn events_and_gateways_and_scopes_have_listeners() {
    check(
        "process p
         start s listen:end=start-end
         xor x listen:start=xor-start
         sub u listen:start=sub-start listen:end=sub-end {
         start s2
         throw h listen:start=throw-start listen:end=throw-end
         end e2 listen:start=end-start listen:end=end-end
         s2 -> h -> e2
         }
         end e
         s -> x -> u -> e",
        "hide flows
         create p
         complete s
         complete x
         complete u
         complete h
         complete h
         complete e2
         complete e2
         complete u",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing
              job s created type start-end retries 3 execution listener end
              = created p v1
            > complete s
              job s completed
              s completed
              x activating
              job x created type xor-start retries 3 execution listener start
            > complete x
              job x completed
              x activated, completing, completed
              u activating
              job u created type sub-start retries 3 execution listener start
            > complete u
              job u completed
              u activated
              s2 activating, activated, completing, completed
              h activating
              job h created type throw-start retries 3 execution listener start
            > complete h
              job h completed
              h activated, completing
              job h created type throw-end retries 3 execution listener end
            > complete h
              job h completed
              h completed
              e2 activating
              job e2 created type end-start retries 3 execution listener start
            > complete e2
              job e2 completed
              e2 activated, completing
              job e2 created type end-end retries 3 execution listener end
            > complete e2
              job e2 completed
              e2 completed
              u completing
              job u created type sub-end retries 3 execution listener end
            > complete u
              job u completed
              u completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_caught_event_is_kept_while_start_listeners_run() {
    check(
        "process p
         start s
         events g
         catch m message=go key=1 listen:start=a listen:end=b
         catch c timer=PT1H
         end e
         s -> g -> m -> e
         g -> c -> e",
        r#"create p
         hide flows timers messages subscriptions
         publish go 1 {"v": 1}
         complete m
         complete m"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating
              timer c created due 3600000
              subscription g/m go/1 created
              g activated
              = created p v1
            > publish go 1 {"v": 1}
              g completing, completed
              m activating
              job m created type a retries 3 execution listener start
            > complete m
              job m completed
              m activated, completing
              m.v = 1 created
              p.v = 1 created
              job m created type b retries 3 execution listener end
            > complete m
              job m completed
              m completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_has_end_listeners_and_interrupts_those_of_its_activity() {
    check(
        "process p
         start s
         job t listen:end=a
         boundary b on=t timer=PT1M listen:end=c
         end e
         s -> t -> e
         b -> e",
        "create p
         hide flows timers
         complete t
         advance 1m
         complete b",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              timer b created due 60000
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing
              job t created type a retries 3 execution listener end
            > advance 1m
              t terminating
              job t canceled
              t terminated
              b activating, activated, completing
              job b created type c retries 3 execution listener end
            > complete b
              job b completed
              b completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn cancellation_cancels_the_job_of_a_listener() {
    check(
        "process p listen:end=z
         start s
         job t listen:start=a
         job u listen:end=b
         end e
         s -> t -> e
         s -> u -> e",
        "hide flows
         create p
         complete u
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              u activating
              job u created type u retries 3
              u activated
              t activating
              job t created type a retries 3 execution listener start
              = created p v1
            > complete u
              job u completed
              u completing
              job u created type b retries 3 execution listener end
            > cancel #1
              p terminating
              u terminating
              job u canceled
              u terminated
              t terminating
              job t canceled
              t terminated
              p terminated
        "#]],
    );
    check(
        "process p listen:start=a
         start s
         end e
         s -> e",
        "create p await=3
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p await=3
              p activating
              job p created type a retries 3 execution listener start
            > cancel #1
              p terminating
              job p canceled
              p terminated
              late answer to request 3:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
        "#]],
    );
}

#[test]
fn without_retries_only_the_failed_listener_runs_again() {
    check(
        "process p
         start s
         job t listen:start=a listen:start=b
         end e
         s -> t -> e",
        "create p
         complete t
         activate b
         fail t retries=0 message=no
         update t retries=1
         resolve t
         activate b
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type a retries 3 execution listener start
              = created p v1
            > complete t
              job t completed
              job t created type b retries 3 execution listener start
            > activate b
              job t activated
              < job t EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > fail t retries=0 message=no
              job t failed retries 0
              incident t EXECUTION_LISTENER_NO_RETRIES created: no
            > update t retries=1
              job t retries updated retries 1
            > resolve t
              incident t EXECUTION_LISTENER_NO_RETRIES resolved
            > activate b
              job t activated
              < job t EXECUTION_LISTENER START retries 1 deadline 600000 variables {}
            > complete t
              job t completed
              job t created type t retries 3
              t activated
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn a_listener_that_cannot_be_evaluated_makes_all_of_its_moment_run_again() {
    check(
        "process p
         start s
         job t listen:start=a listen:start==kind listen:end=c listen:end=d/=count
         end e
         s -> t -> e",
        r#"given create p
         complete t
         set #1 {"kind": "b", "count": "many"}
         resolve t
         complete t
         complete t
         complete t
         complete t
         set #1 {"count": 1}
         resolve t
         complete t
         complete t"#,
        expect![[r#"
              = deployed p v1
            > complete t
              job t completed
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
            > set #1 {"kind": "b", "count": "many"}
              p.kind = "b" created
              p.count = "many" created
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type a retries 3 execution listener start
            > complete t
              job t completed
              job t created type b retries 3 execution listener start
            > complete t
              job t completed
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing
              job t created type c retries 3 execution listener end
            > complete t
              job t completed
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'count' to be 'NUMBER', but was 'STRING'.
            > set #1 {"count": 1}
              p.count = 1 updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type c retries 3 execution listener end
            > complete t
              job t completed
              job t created type d retries 1 execution listener end
            > complete t
              job t completed
              t completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn work_that_fails_after_its_listeners_does_not_run_them_again() {
    check(
        "process p
         start s
         job t type==kind listen:start=a
         end e
         s -> t -> e",
        r#"given create p
         complete t {"z": 1}
         set #1 {"kind": "work"}
         resolve t
         complete t"#,
        expect![[r#"
              = deployed p v1
            > complete t {"z": 1}
              job t completed
              t.z = 1 created
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
            > set #1 {"kind": "work"}
              p.kind = "work" created
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type work retries 3
              t activated
            > complete t
              job t completed
              t completing, completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_listener_cannot_throw_errors() {
    check(
        "process p
         start s
         job t listen:start=a
         boundary b on=t error=*
         end e
         s -> t -> e
         b -> e",
        "given create p
         activate a
         throw t oops",
        expect![[r#"
              = deployed p v1
            > activate a
              job t activated
              < job t EXECUTION_LISTENER START retries 3 deadline 600000 variables {}
            > throw t oops
              = rejected INVALID_STATE: Expected to throw an error for job with key '<key>', but a job of kind 'EXECUTION_LISTENER' cannot throw errors
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_due 1
        "#]],
    );
}

#[test]
fn listeners_get_the_headers_of_their_element() {
    check(
        "process p
         start s
         job t header:k=v listen:start=a
         end e
         s -> t -> e",
        "show jobs
         create p
         activate a",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type a retries 3 execution listener start
              = created p v1
            > activate a
              job t activated
              < job t EXECUTION_LISTENER START retries 3 deadline 600000 variables {} headers {"k":"v"}
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_due 1
        "#]],
    );
}
