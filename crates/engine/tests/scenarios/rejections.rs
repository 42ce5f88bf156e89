//! Bad commands are refused with a reason and change nothing (every script checks that).

use expect_test::expect;

use crate::support::check;

#[test]
fn unknown_keys_are_not_found() {
    check(
        "process p
         start s
         job t
         s -> t",
        r#"show elements
           create unknown
           create p v=2
           cancel #1
           complete t
           fail t
           throw t code
           update t retries=1
           yield t
           resolve t
           set #1 {"a":1}
           delete p v=1
           unban #1
           correlate m a"#,
        expect![[r#"
              = deployed p v1
            > create unknown
              = rejected NOT_FOUND: Expected to find process definition with process ID 'unknown', but none found
            > create p v=2
              = rejected NOT_FOUND: Expected to find process definition with process ID 'p' and version '2', but none found
            > cancel #1
              = rejected NOT_FOUND: Expected to cancel a process instance with key '1', but no such process was found
            > complete t
              = rejected NOT_FOUND: Expected to complete job with key '1', but no such job was found
            > fail t
              = rejected NOT_FOUND: Expected to fail job with key '1', but no such job was found
            > throw t code
              = rejected NOT_FOUND: Expected to throw an error for job with key '1', but no such job was found
            > update t retries=1
              = rejected NOT_FOUND: Expected to update job with key '1', but no such job was found
            > yield t
            > resolve t
              = rejected NOT_FOUND: Expected to resolve incident with key '1', but no such incident was found
            > set #1 {"a":1}
              = rejected NOT_FOUND: Expected to update variables for element with key '1', but no such element was found
            > delete p v=1
            > unban #1
              = rejected NOT_FOUND: Expected to release process instance with key '1', but it is not banned
            > correlate m a
              = rejected NOT_FOUND: Expected to find subscription for message with name 'm' and correlation key 'a', but none was found.
        "#]],
    );
}

#[test]
fn a_process_that_only_events_start_cannot_be_created() {
    check(
        "process p
         start s message=m
         end e
         s -> e",
        "show elements
         create p",
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > create p
              = rejected INVALID_STATE: Expected to create instance of process with none start event, but there is no such event in process 'p'
        "#]],
    );
}

#[test]
fn commands_that_come_too_late_are_not_found() {
    check(
        "process p
         start s
         job t
         s -> t",
        r#"show elements
           create p
           complete t
           complete t
           fail t
           throw t code
           set #1 {"a":1}
           set t {"a":1}
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t
              t completing, completed
              p completing, completed
            > complete t
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            > fail t
              = rejected NOT_FOUND: Expected to fail job with key '<key>', but no such job was found
            > throw t code
              = rejected NOT_FOUND: Expected to throw an error for job with key '<key>', but no such job was found
            > set #1 {"a":1}
              = rejected NOT_FOUND: Expected to update variables for element with key '<key>', but no such element was found
            > set t {"a":1}
              = rejected NOT_FOUND: Expected to update variables for element with key '<key>', but no such element was found
            > cancel #1
              = rejected NOT_FOUND: Expected to cancel a process instance with key '<key>', but no such process was found
        "#]],
    );
}
