//! Modification of process instances.

use expect_test::expect;

use crate::support::check;

const LINE: &str = "process p
    start s
    job a type=t
    job b type=t in:local==x
    end e
    s -> a -> b -> e";

#[test]
fn an_element_is_activated_and_another_terminated() {
    check(
        LINE,
        r#"create p
         modify #1 +b -a {"":{"x":1},"b":{"y":2}}
         activate t
         complete b"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > modify #1 +b -a {"":{"x":1},"b":{"y":2}}
              p.x = 1 created
              b activating
              b.y = 2 created
              #1 modified
              b.local = 1 created
              job b created type t retries 3
              b activated
              a terminating
              job a canceled
              a terminated
            > activate t
              job b activated
              < job b retries 3 deadline 600000 variables {"local":1,"y":2,"x":1}
            > complete b
              job b completed
              b completing, completed
              -- b_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
