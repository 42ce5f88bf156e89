//! Jobs and the demand for them.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

const TASK: &str = "process p
    start s
    job t
    end e
    s -> t -> e";

#[test]
fn demand_is_served_in_the_order_of_creation() {
    check(
        TASK,
        r#"show jobs
           activate t
           create p {"n":1}
           create p {"n":2}
           create p {"n":3}
           activate t max=2
           activate t max=2
           activate t
           complete t@3
           complete t@1
           complete t@2"#,
        expect![[r#"
              = deployed p v1
            > activate t
              < no job
            > create p {"n":1}
              job t created type t retries 3
              = created p v1
            > create p {"n":2}
              job #2.t created type t retries 3
              = created p v1
            > create p {"n":3}
              job #3.t created type t retries 3
              = created p v1
            > activate t max=2
              job t activated
              job #2.t activated
              < job t retries 3 deadline 600000 variables {"n":1}
              < job #2.t retries 3 deadline 600000 variables {"n":2}
            > activate t max=2
              job #3.t activated
              < job #3.t retries 3 deadline 600000 variables {"n":3}
            > activate t
              < no job
            > complete t@3
              job #3.t completed
            > complete t@1
              job t completed
            > complete t@2
              job #2.t completed
        "#]],
    );
}

#[test]
fn a_job_may_be_completed_before_anybody_took_it() {
    check(
        TASK,
        r#"show elements jobs
           create p
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > complete t
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
        "#]],
    );
}

#[test]
fn only_the_wanted_variables_are_handed_out() {
    check(
        TASK,
        r#"show jobs
           create p {"a":1,"b":2,"c":3}
           activate t fetch=c,a,missing
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"a":1,"b":2,"c":3}
              job t created type t retries 3
              = created p v1
            > activate t fetch=c,a,missing
              job t activated
              < job t retries 3 deadline 600000 variables {"c":3,"a":1}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn headers_go_with_the_job() {
    check(
        "process p
         start s
         job t header:to=me header:about=\"the thing\"
         end e
         s -> t -> e",
        "show jobs
         create p
         activate t
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {} headers {"to":"me","about":"the thing"}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_failed_job_is_queued_again_at_once_without_a_backoff() {
    check(
        TASK,
        r#"show jobs incidents variables
           create p
           activate t
           fail t retries=2 {"tried":true}
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=2 {"tried":true}
              job t failed retries 2
              t.tried = true created
            > activate t
              job t activated
              < job t retries 2 deadline 600000 variables {"tried":true}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_failed_job_waits_for_its_backoff() {
    check(
        TASK,
        r#"show jobs
           create p
           activate t
           fail t retries=2 backoff=10s
           complete t
           activate t
           advance 9s
           activate t
           advance 1s
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=2 backoff=10s
              job t failed retries 2 again at 10000
            > complete t
              = rejected INVALID_STATE: Expected to complete job with key '<key>', but it is in state 'FAILED' and waits for its backoff to end
            > activate t
              < no job
            > advance 9s
            > activate t
              < no job
            > advance 1s
              job t recurred after backoff
            > activate t
              job t activated
              < job t retries 2 deadline 610000 variables {}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_job_without_retries_waits_for_people() {
    check(
        TASK,
        r#"show jobs incidents
           create p
           activate t
           fail t retries=0 message=no_more_coffee
           activate t
           complete t
           fail t retries=1
           throw t code
           update t timeout=1s
           update t retries=3
           resolve t
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=0 message=no_more_coffee
              job t failed retries 0
              incident t JOB_NO_RETRIES created: no more coffee
            > activate t
              < no job
            > complete t
              = rejected INVALID_STATE: Expected to complete job with key '<key>', but it is in state 'FAILED' and has an incident
            > fail t retries=1
              = rejected INVALID_STATE: Expected to fail job with key '<key>', but it is in state 'FAILED' and has an incident
            > throw t code
              = rejected INVALID_STATE: Expected to throw an error for job with key '<key>', but it is in state 'FAILED' and has an incident
            > update t timeout=1s
              = rejected INVALID_STATE: Expected to update the timeout of job with key '<key>', but it is in state 'FAILED' and has an incident
            > update t retries=3
              job t retries updated retries 3
            > resolve t
              incident t JOB_NO_RETRIES resolved
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_job_returns_when_its_worker_is_too_slow() {
    check(
        TASK,
        r#"show jobs
           create p
           activate t timeout=5s
           advance 4999ms
           advance 1ms
           activate t timeout=5s
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t timeout=5s
              job t activated
              < job t retries 3 deadline 5000 variables {}
            > advance 4999ms
            > advance 1ms
              job t timed out
            > activate t timeout=5s
              job t activated
              < job t retries 3 deadline 10000 variables {}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn a_late_worker_may_still_complete() {
    check(
        TASK,
        r#"show jobs
           create p
           activate t timeout=5s
           advance 5s
           complete t
           activate t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t timeout=5s
              job t activated
              < job t retries 3 deadline 5000 variables {}
            > advance 5s
              job t timed out
            > complete t
              job t completed
            > activate t
              < no job
        "#]],
    );
}

#[test]
fn the_timeout_of_a_job_can_be_changed() {
    check(
        TASK,
        r#"show jobs
           create p
           update t timeout=1s
           activate t timeout=5s
           update t timeout=20s
           advance 10s
           update t retries=7 timeout=1s
           advance 1s
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > update t timeout=1s
              = rejected INVALID_STATE: Expected to update the timeout of job with key '<key>', but it is not activated
            > activate t timeout=5s
              job t activated
              < job t retries 3 deadline 5000 variables {}
            > update t timeout=20s
              job t timeout updated
            > advance 10s
            > update t retries=7 timeout=1s
              job t updated retries 7
            > advance 1s
              job t timed out
            > activate t
              job t activated
              < job t retries 7 deadline 611000 variables {}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn updates_are_checked() {
    check(
        TASK,
        "show jobs
         create p
         activate t
         update t
         update t retries=0
         update t retries=-1 timeout=1s
         complete t
         update t retries=1",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > update t
              = rejected INVALID_ARGUMENT: Expected to update job with key '<key>', but neither retries nor timeout nor priority are given
            > update t retries=0
              = rejected INVALID_ARGUMENT: Expected to update retries for job with key '<key>' with a positive amount of retries, but the amount given was '0'
            > update t retries=-1 timeout=1s
              = rejected INVALID_ARGUMENT: Expected to update retries for job with key '<key>' with a positive amount of retries, but the amount given was '-1'
            > complete t
              job t completed
            > update t retries=1
              = rejected NOT_FOUND: Expected to update job with key '<key>', but no such job was found
        "#]],
    );
}

#[test]
fn jobs_that_reached_nobody_come_back() {
    check(
        TASK,
        "show jobs
         create p
         create p
         activate t max=2
         yield t@1 t@2 unknown
         yield t@1
         activate t
         complete t@1
         complete t@2",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > create p
              job #2.t created type t retries 3
              = created p v1
            > activate t max=2
              job t activated
              job #2.t activated
              < job t retries 3 deadline 600000 variables {}
              < job #2.t retries 3 deadline 600000 variables {}
            > yield t@1 t@2 unknown
              job t yielded
              job #2.t yielded
            > yield t@1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > complete t@1
              job t completed
            > complete t@2
              job #2.t completed
        "#]],
    );
}

#[test]
fn type_and_retries_may_be_expressions() {
    check(
        r#"process p
           start s
           job t type="='work-' + kind" retries="=tries"
           end e
           s -> t -> e"#,
        r#"show jobs incidents
           create p {"kind":"a","tries":5}
           activate work-a
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"kind":"a","tries":5}
              job t created type work-a retries 5
              = created p v1
            > activate work-a
              job t activated
              < job t retries 5 deadline 600000 variables {"kind":"a","tries":5}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn deliveries_are_bounded_by_size() {
    let options = Options { max_delivery_bytes: 100, ..Options::default() };
    check_with(
        &[("p", TASK)],
        options,
        r#"deploy p
           show jobs incidents
           create p {"text":"0123456789012345678901234567890123456789"}
           create p {"text":"0123456789012345678901234567890123456789"}
           create p {"a":"012345678901234567890123456789012345678901234567890123456789","b":"01234567890123456789012345678901234567890123456789"}
           create p {"text":"last"}
           activate t max=10
           activate t max=10
           activate t max=10
           resolve t
           activate t max=10 fetch=a
           complete t@1
           complete t@2
           complete t@3
           complete t@4"#,
        expect![[r#"
              = deployed p v1
            > create p {"text":"0123456789012345678901234567890123456789"}
              job t created type t retries 3
              = created p v1
            > create p {"text":"0123456789012345678901234567890123456789"}
              job #2.t created type t retries 3
              = created p v1
            > create p {"a":"012345678901234567890123456789012345678901234567890123456789","b":"01234567890123456789012345678901234567890123456789"}
              job #3.t created type t retries 3
              = created p v1
            > create p {"text":"last"}
              job #4.t created type t retries 3
              = created p v1
            > activate t max=10
              job t activated
              < job t retries 3 deadline 600000 variables {"text":"0123456789012345678901234567890123456789"}
            > activate t max=10
              job #2.t activated
              incident #3.t MESSAGE_SIZE_EXCEEDED created: The job with key '<key>' can not be activated, because with 126 bytes of variables it is larger than the configured maximum of 100 bytes (limits.max_message_bytes). Fetch fewer variables, or make them smaller, and resolve the incident.
              job #4.t activated
              < job #2.t retries 3 deadline 600000 variables {"text":"0123456789012345678901234567890123456789"}
              < job #4.t retries 3 deadline 600000 variables {"text":"last"}
            > activate t max=10
              < no job
            > resolve t
              incident #3.t MESSAGE_SIZE_EXCEEDED resolved
            > activate t max=10 fetch=a
              job #3.t activated
              < job #3.t retries 3 deadline 600000 variables {"a":"012345678901234567890123456789012345678901234567890123456789"}
            > complete t@1
              job t completed
            > complete t@2
              job #2.t completed
            > complete t@3
              job #3.t completed
            > complete t@4
              job #4.t completed
        "#]],
    );
}
