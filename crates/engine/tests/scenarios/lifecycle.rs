//! The order in which things happen to elements.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_task_is_activated_and_completed_between_start_and_end() {
    check(
        "process p
         start s
         job t
         end e
         s -> t -> e",
        r#"create p {"a":1}
           activate t
           complete t {"b":2}"#,
        expect![[r#"
              = deployed p v1
            > create p {"a":1}
              p activating
              p.a = 1 created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"a":1}
            > complete t {"b":2}
              job t completed
              t completing
              p.b = 2 created
              t completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
