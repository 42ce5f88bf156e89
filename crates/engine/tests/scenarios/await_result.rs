//! Creations that wait for the end of the instance.

use expect_test::expect;

use crate::support::check;

const TASK: &str = "process p
    start s
    job t
    end e
    s -> t -> e";

#[test]
fn the_answer_comes_with_the_variables_at_the_end() {
    check(
        TASK,
        r#"show jobs
           create p await=7 {"a":1}
           complete t {"b":2}
           create p await=8 fetch=b,c {"a":1}
           complete t {"b":2}"#,
        expect![[r#"
              = deployed p v1
            > create p await=7 {"a":1}
              job t created type t retries 3
            > complete t {"b":2}
              job t completed
              late answer to request 7:
              = completed p {"a":1,"b":2}
            > create p await=8 fetch=b,c {"a":1}
              job #2.t created type t retries 3
            > complete t {"b":2}
              job #2.t completed
              late answer to request 8:
              = completed p {"b":2}
        "#]],
    );
}

#[test]
fn an_instance_that_needs_nobody_answers_at_once() {
    check(
        "process p
         start s
         end e
         s -> e",
        r#"show jobs
           create p await=7 {"a":1}
           create nothing await=8"#,
        expect![[r#"
              = deployed p v1
            > create p await=7 {"a":1}
              late answer to request 7:
              = completed p {"a":1}
            > create nothing await=8
              = rejected NOT_FOUND: Expected to find process definition with process ID 'nothing', but none found
        "#]],
    );
}

#[test]
fn a_cancelled_instance_answers_that_it_was() {
    check(
        TASK,
        "show jobs
         create p await=7
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p await=7
              job t created type t retries 3
            > cancel #1
              job t canceled
              late answer to request 7:
              = rejected INVALID_STATE: Process instance '<key>' was terminated before it completed
        "#]],
    );
}
