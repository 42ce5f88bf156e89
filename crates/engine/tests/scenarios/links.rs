//! Links: a throw event goes on at the catch event of its name.

use expect_test::expect;

use crate::support::check;

#[test]
fn throw_events_go_on_at_the_catch_event_of_their_name() {
    check(
        "process p
         start s
         and fork
         throw to1 link=next
         throw to2 link=next
         catch from link=next
         job t
         s -> fork
         fork -> to1
         fork -> to2
         from -> t",
        "show elements flows
         create p
         complete t@1
         complete t@2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_to2
              -- fork_to1
              to2 activating, activated, completing, completed
              to1 activating, activated, completing, completed
              from activating, activated, completing, completed
              -- from_t
              from activating, activated, completing, completed
              -- from_t
              t activating, activated
              t activating, activated
              = created p v1
            > complete t@1
              t completing, completed
            > complete t@2
              t completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn each_scope_has_its_own() {
    check(
        "process p
         start s
         throw to1 link=next
         catch from1 link=next
         sub inner {
         start s2
         throw to2 link=next
         catch from2 link=next
         s2 -> to2
         }
         s -> to1
         from1 -> inner",
        "show elements
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              to1 activating, activated, completing, completed
              from1 activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              to2 activating, activated, completing, completed
              from2 activating, activated, completing, completed
              inner completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn an_inclusive_join_waits_for_a_token_that_comes_over_a_link() {
    check(
        "process p
         start s
         and fork
         job a
         throw to link=next
         catch from link=next
         or join
         job t
         s -> fork
         fork -> join
         fork -> a -> to
         from -> join -> t",
        "show elements
         create p
         complete a
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              to activating, activated, completing, completed
              from activating, activated, completing, completed
              join activating, activated, completing, completed
              t activating, activated
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}
