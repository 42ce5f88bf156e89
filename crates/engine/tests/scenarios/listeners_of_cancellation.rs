//! Listeners of a process that run before it is terminated, and headers of single listeners.

use expect_test::expect;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Key, Response};

use crate::support::{Harness, check};

#[test]
fn cancel_listeners_run_when_all_inside_has_ended() {
    check(
        r#"process p listen:cancel=a?reason=gone listen:cancel=b
           start s
           job t
           end e
           s -> t -> e"#,
        r#"show jobs variables elements
           create p {"v": 1}
           cancel #1
           activate a
           complete p {"told": true}
           cancel #1
           complete p"#,
        expect![[r#"
              = deployed p v1
            > create p {"v": 1}
              p activating
              p.v = 1 created
              p activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > cancel #1
              p terminating
              t terminating
              job t canceled
              t terminated
              job p created type a retries 3 execution listener cancel
            > activate a
              job p activated
              < job p EXECUTION_LISTENER CANCEL retries 3 deadline 600000 variables {"v":1} headers {"reason":"gone"}
            > complete p {"told": true}
              job p completed
              p.told = true created
              job p created type b retries 3 execution listener cancel
            > cancel #1
            > complete p
              job p completed
              p terminated
        "#]],
    );
}

#[test]
fn a_process_that_completes_has_no_cancel_listeners() {
    check(
        r#"process p listen:cancel=a listen:end=b
           start s
           end e terminate
           s -> e"#,
        r#"show jobs elements
           create p
           complete p"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing
              job p created type b retries 3 execution listener end
              = created p v1
            > complete p
              job p completed
              p completed
        "#]],
    );
}

#[test]
fn a_cancelled_call_waits_for_the_listeners_of_the_called_process() {
    check(
        r#"process p
           start s
           call c process=q
           end e
           s -> c -> e
           process q listen:cancel=a
           start s2
           job t
           end e2
           s2 -> t -> e2"#,
        r#"show jobs elements incidents
           create p
           cancel #1
           activate a
           fail q retries=0
           resolve q
           update q retries=1
           resolve q
           complete q"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.t activating
              job #2.t created type t retries 3
              #2.t activated
              = created p v1
            > cancel #1
              p terminating
              c terminating
              #2.q terminating
              #2.t terminating
              job #2.t canceled
              #2.t terminated
              job #2.q created type a retries 3 execution listener cancel
            > activate a
              job #2.q activated
              < job #2.q EXECUTION_LISTENER CANCEL retries 3 deadline 600000 variables {}
            > fail q retries=0
              job #2.q failed retries 0
              incident #2.q EXECUTION_LISTENER_NO_RETRIES created: No more retries left.
            > resolve q
              = rejected INVALID_STATE: Expected to resolve incident with key '<key>', but its job with key '<key>' has no retries left; update the retries of the job before
            > update q retries=1
              job #2.q retries updated retries 1
            > resolve q
              incident #2.q EXECUTION_LISTENER_NO_RETRIES resolved
            > complete q
              job #2.q completed
              #2.q terminated
              c terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_cancel_listener_that_cannot_be_evaluated_runs_again() {
    check(
        r#"process p listen:cancel=a listen:cancel="=missing"
           start s
           job t
           end e
           s -> t -> e"#,
        r#"show jobs variables elements incidents
           create p
           cancel #1
           complete p
           set p {"missing": "c"}
           resolve p
           complete p
           complete p"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > cancel #1
              p terminating
              t terminating
              job t canceled
              t terminated
              job p created type a retries 3 execution listener cancel
            > complete p
              job p completed
              incident p EXTRACT_VALUE_ERROR created: Expected result of the expression 'missing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
            > set p {"missing": "c"}
              p.missing = "c" created
            > resolve p
              incident p EXTRACT_VALUE_ERROR resolved
              job p created type a retries 3 execution listener cancel
            > complete p
              job p completed
              job p created type c retries 3 execution listener cancel
            > complete p
              job p completed
              p terminated
        "#]],
    );
}

#[test]
fn a_listener_has_its_own_headers_before_those_of_its_element() {
    check(
        r#"process p
           start s
           job t header:a=1 header:b=2 listen:start=c?b=3 listen:end=d
           end e
           s -> t -> e"#,
        r#"create p
           activate c
           complete t
           activate t
           complete t
           activate d"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type c retries 3 execution listener start
              = created p v1
            > activate c
              job t activated
              < job t EXECUTION_LISTENER START retries 3 deadline 600000 variables {} headers {"a":"1","b":"3"}
            > complete t
              job t completed
              job t created type t retries 3
              t activated
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {} headers {"a":"1","b":"2"}
            > complete t
              job t completed
              t completing
              job t created type d retries 3 execution listener end
            > activate d
              job t activated
              < job t EXECUTION_LISTENER END retries 3 deadline 600000 variables {} headers {"a":"1","b":"2"}
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_due 1
        "#]],
    );
}

/// A suspended instance of `p`.
fn suspended(model: &str) -> (Harness, Key) {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let create = CreateInstance::of(DefinitionRef::Id { id: "p".into(), version: None });
    let outcome = harness.command(Command::CreateInstance(create)).unwrap();
    let Ok(Response::InstanceCreated(created)) = outcome else { panic!("{outcome:?}") };
    let (process_instance_key, operation_reference) = (created.process_instance_key, None);
    harness.command(Command::SuspendInstance { process_instance_key, operation_reference }).unwrap().unwrap();
    (harness, process_instance_key)
}

#[test]
fn a_suspended_process_has_cancel_listeners_when_it_is_cancelled() {
    let (mut harness, process_instance_key) =
        suspended("process p listen:cancel=a\nstart s\njob t\nend e\ns -> t -> e");
    harness
        .command(Command::CancelInstance { process_instance_key, operation_reference: None })
        .unwrap()
        .unwrap();
    let jobs = harness.activate("a", 1);
    assert_eq!(jobs.len(), 1);
    harness.command(Command::CompleteJob(CompleteJob::of(jobs[0].key, Document::empty()))).unwrap().unwrap();
    assert!(!harness.engine().tables().instances.contains(&process_instance_key).unwrap());
}

#[test]
fn a_suspended_process_without_anything_inside_ends_at_once() {
    let (mut harness, process_instance_key) = suspended("process p listen:start=a\nstart s\nend e\ns -> e");
    harness
        .command(Command::CancelInstance { process_instance_key, operation_reference: None })
        .unwrap()
        .unwrap();
    assert!(harness.engine().tables().suspended.is_empty().unwrap());
    assert!(!harness.engine().tables().instances.contains(&process_instance_key).unwrap());
}
