//! Escalations: thrown upward, caught by the nearest scope with a matching event, or not caught.

use expect_test::expect;

use crate::support::check;

/// A sub-process that throws `code`, with what stands beside it.
fn with_catch(beside: &str) -> String {
    format!(
        "process p
         start s
         sub outer {{
         start s2
         throw up escalation=E1
         job t
         s2 -> up -> t
         }}
         job after
         s -> outer -> after
         {beside}"
    )
}

#[test]
fn a_non_interrupting_boundary_event_catches_it_and_both_go_on() {
    check(
        &with_catch("boundary b on=outer escalation=E1 interrupting=false\njob u\nb -> u"),
        "show elements escalations
         create p
         complete t
         complete u
         complete after",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              up activating
              escalation E1 escalated from up to b
              up activated, completing, completed
              b activating, activated, completing, completed
              t activating, activated
              u activating, activated
              = created p v1
            > complete t
              t completing, completed
              outer completing, completed
              after activating, activated
            > complete u
              u completing, completed
            > complete after
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_interrupting_boundary_event_ends_the_thrower_too() {
    check(
        &with_catch("boundary b on=outer escalation=E1\njob u\nb -> u"),
        "show elements escalations
         create p
         complete u",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              up activating
              escalation E1 escalated from up to b
              up activated
              outer terminating
              up terminating, terminated
              outer terminated
              b activating, activated, completing, completed
              u activating, activated
              = created p v1
            > complete u
              u completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn nobody_needs_to_catch_it() {
    check(
        &with_catch("boundary b on=outer escalation=E2"),
        "show elements escalations incidents
         create p
         complete t
         complete after",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              up activating
              escalation E1 not escalated from up
              up activated, completing, completed
              t activating, activated
              = created p v1
            > complete t
              t completing, completed
              outer completing, completed
              after activating, activated
            > complete after
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_nearest_catch_decides_even_a_catch_all() {
    check(
        "process p
         start s
         sub outer {
         start s2
         sub inner {
         start s3
         end up escalation=E1
         s3 -> up
         }
         boundary all on=inner escalation=* interrupting=false
         s2 -> inner
         }
         boundary exact on=outer escalation=E1 interrupting=false
         s -> outer",
        "show elements escalations
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              inner activating, activated
              s3 activating, activated, completing, completed
              up activating
              escalation E1 escalated from up to all
              up activated, completing, completed
              all activating, activated, completing, completed
              inner completing, completed
              outer completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn an_exact_code_goes_before_a_catch_all_of_the_same_scope() {
    check(
        &with_catch(
            "boundary all on=outer escalation=* interrupting=false\n\
             boundary exact on=outer escalation=E1 interrupting=false",
        ),
        "show escalations
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              escalation E1 escalated from up to exact
              = created p v1
            left: running_instances 1, instances 1, element_instances 3, children 2, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn event_sub_processes_catch_it_interrupting_or_not() {
    let model = |interrupting: &str| {
        format!(
            "process p
             start s
             throw up escalation==code
             job t
             s -> up -> t
             on caught {{
             start c escalation=E1 interrupting={interrupting}
             job u
             c -> u
             }}"
        )
    };
    check(
        &model("false"),
        r#"show elements escalations
           create p {"code":"E1"}
           complete t
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p {"code":"E1"}
              p activating, activated
              s activating, activated, completing, completed
              up activating
              escalation E1 escalated from up to c
              up activated, completing, completed
              caught activating, activated
              t activating, activated
              c activating, activated, completing, completed
              u activating, activated
              = created p v1
            > complete t
              t completing, completed
            > complete u
              u completing, completed
              caught completing, completed
              p completing, completed
        "#]],
    );
    check(
        &model("true"),
        r#"show elements escalations
           create p {"code":"E1"}
           complete u
           create p {"code":"E2"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"code":"E1"}
              p activating, activated
              s activating, activated, completing, completed
              up activating
              escalation E1 escalated from up to c
              up activated, terminating, terminated
              caught activating, activated
              c activating, activated, completing, completed
              u activating, activated
              = created p v1
            > complete u
              u completing, completed
              caught completing, completed
              p completing, completed
            > create p {"code":"E2"}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.up activating
              escalation E2 not escalated from up
              #2.up activated, completing, completed
              #2.t activating, activated
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn a_called_process_escalates_to_its_caller() {
    check(
        "process p
         start s
         call c process=q
         boundary b on=c escalation=E1 interrupting=false
         s -> c
         process q
         start s2
         end up escalation=E1
         s2 -> up",
        "show elements escalations
         create p",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.up activating
              escalation E1 escalated from up to b
              #2.up activated, completing, completed
              b activating, activated, completing, completed
              #2.q completing, completed
              c completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn an_interrupting_event_sub_process_escalates_to_a_caller_only() {
    check(
        "process p
         start s
         call c process=q
         boundary b on=c escalation=E2 interrupting=false
         s -> c
         process q
         start s2
         sub inner {
         start s3
         job t
         s3 -> t
         on failed {
         start d error=E1
         throw up escalation=E2
         d -> up
         }
         }
         boundary near on=inner escalation=E2
         s2 -> inner",
        "show elements escalations
         create p
         throw t E1",
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.inner activating, activated
              #2.s3 activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > throw t E1
              #2.t terminating, terminated
              #2.failed activating, activated
              #2.d activating, activated, completing, completed
              #2.up activating
              escalation E2 escalated from up to b
              #2.up activated, completing, completed
              b activating, activated, completing, completed
              #2.failed completing, completed
              #2.inner completing, completed
              #2.q completing, completed
              c completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_code_that_is_no_text_is_an_incident() {
    check(
        "process p
         start s
         throw up escalation==code
         s -> up",
        r#"show elements escalations incidents
           create p
           set #1 {"code":"E1"}
           resolve up"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              up activating
              incident up EXTRACT_VALUE_ERROR created: Expected result of the expression 'code' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'code'
              = created p v1
            > set #1 {"code":"E1"}
            > resolve up
              incident up EXTRACT_VALUE_ERROR resolved
              escalation E1 not escalated from up
              up activated, completing, completed
              p completing, completed
        "#]],
    );
}
