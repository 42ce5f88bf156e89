//! BPMN errors: thrown by jobs and end events, caught on the way up.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_job_throws_an_error_to_the_boundary_of_its_task() {
    check(
        r#"process p
           start s
           job t
           boundary oops on=t error=E1
           end e
           end bad
           s -> t -> e
           oops -> bad"#,
        r#"create p
           throw t E1 {"why":"because"}"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > throw t E1 {"why":"because"}
              job t error thrown
              t terminating, terminated
              oops activating
              oops.why = "because" created
              oops activated, completing, completed
              -- oops_bad
              bad activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn what_an_error_brings_goes_further_by_output_mappings_only() {
    check(
        r#"process p
           start s
           job t
           boundary oops on=t error=E1 out:reason="=why"
           job after
           end e
           s -> t -> e
           oops -> after"#,
        r#"show variables jobs
           create p
           throw t E1 {"why":"because"}
           activate after
           complete after"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 3
              = created p v1
            > throw t E1 {"why":"because"}
              job t error thrown
              oops.why = "because" created
              p.reason = "because" created
              job after created type after retries 3
            > activate after
              job after activated
              < job after retries 3 deadline 600000 variables {"reason":"because"}
            > complete after
              job after completed
        "#]],
    );
}

#[test]
fn an_uncaught_error_is_an_incident_and_the_job_can_go_on() {
    check(
        "process p
         start s
         job t
         boundary oops on=t error=E1
         end e
         s -> t -> e
         oops -> e",
        "show elements jobs incidents
         create p
         activate t
         throw t OTHER message=so_it_is
         complete t
         activate t
         resolve t
         activate t
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > throw t OTHER message=so_it_is
              job t error thrown
              incident t UNHANDLED_ERROR_EVENT created: Expected to throw an error event with the code 'OTHER', but it was not caught. Error message: so it is
            > complete t
              = rejected INVALID_STATE: Expected to complete job with key '<key>', but it is in state 'ERROR_THROWN'
            > activate t
              < no job
            > resolve t
              incident t UNHANDLED_ERROR_EVENT resolved
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > complete t
              job t completed
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_exact_code_outside_beats_a_catch_all_inside() {
    check(
        "process p
         start s
         sub outer {
         start s2
         job t
         boundary any on=t error=*
         end e2
         s2 -> t -> e2
         any -> e2
         }
         boundary exact on=outer error=E1
         end e
         end caught
         s -> outer -> e
         exact -> caught",
        "show elements
         create p
         throw t E1
         create p
         throw t E2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              t activating, activated
              = created p v1
            > throw t E1
              outer terminating
              t terminating, terminated
              outer terminated
              exact activating, activated, completing, completed
              caught activating, activated, completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.outer activating, activated
              #2.s2 activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > throw t E2
              #2.t terminating, terminated
              #2.any activating, activated, completing, completed
              #2.e2 activating, activated, completing, completed
              #2.outer completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn the_nearest_of_equals_catches() {
    check(
        "process p
         start s
         sub outer {
         start s2
         sub inner {
         start s3
         job t
         end e3
         s3 -> t -> e3
         }
         boundary near on=inner error=E1
         end e2
         s2 -> inner -> e2
         near -> e2
         }
         boundary far on=outer error=E1
         end e
         s -> outer -> e
         far -> e",
        "show elements
         create p
         throw t E1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              inner activating, activated
              s3 activating, activated, completing, completed
              t activating, activated
              = created p v1
            > throw t E1
              inner terminating
              t terminating, terminated
              inner terminated
              near activating, activated, completing, completed
              e2 activating, activated, completing, completed
              outer completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_error_end_event_ends_the_sub_process() {
    check(
        r#"process p
           start s
           sub inner {
           start s2
           job other
           end bad error="=code"
           s2 -> bad
           s2 -> other
           }
           boundary oops on=inner error=E1
           end e
           end caught
           s -> inner -> e
           oops -> caught"#,
        r#"show elements jobs incidents
           create p {"code":"E1"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"code":"E1"}
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              other activating
              job other created type other retries 3
              other activated
              bad activating, activated
              inner terminating
              other terminating
              job other canceled
              other terminated
              bad terminating, terminated
              inner terminated
              oops activating, activated, completing, completed
              caught activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn an_uncaught_error_end_event_is_an_incident() {
    check(
        "process p
         start s
         end bad error=E1
         s -> bad",
        "show elements incidents
         create p
         resolve bad
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              bad activating
              incident bad UNHANDLED_ERROR_EVENT created: Expected to throw an error event with the code 'E1', but it was not caught.
              = created p v1
            > resolve bad
              = rejected INVALID_STATE: Expected to resolve incident with key '<key>', but nothing catches the error 'E1' that end event 'bad' throws; migrate, modify or cancel the process instance instead
            > cancel #1
              p terminating
              bad terminating
              incident bad UNHANDLED_ERROR_EVENT resolved
              bad terminated
              p terminated
        "#]],
    );
}

#[test]
fn an_error_end_event_is_tried_again_once_something_catches_it() {
    check(
        "process p
         start s
         sub inner {
         start s2
         end bad error==code
         s2 -> bad
         }
         boundary b on=inner error=E1
         s -> inner",
        r#"show elements incidents
           create p {"code":"E2"}
           resolve bad
           set #1 {"code":"E1"}
           resolve bad"#,
        expect![[r#"
              = deployed p v1
            > create p {"code":"E2"}
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              bad activating
              incident bad UNHANDLED_ERROR_EVENT created: Expected to throw an error event with the code 'E2', but it was not caught.
              = created p v1
            > resolve bad
              = rejected INVALID_STATE: Expected to resolve incident with key '<key>', but nothing catches the error 'E2' that end event 'bad' throws; migrate, modify or cancel the process instance instead
            > set #1 {"code":"E1"}
            > resolve bad
              incident bad UNHANDLED_ERROR_EVENT resolved
              bad activated
              inner terminating
              bad terminating, terminated
              inner terminated
              b activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
