//! Embedded sub-processes.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_sub_process_completes_with_its_last_element() {
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
         end e2
         s2 -> inner -> e2
         }
         end e
         s -> outer -> e",
        "create p
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_outer
              outer activating, activated
              s2 activating, activated, completing, completed
              -- s2_inner
              inner activating, activated
              s3 activating, activated, completing, completed
              -- s3_t
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing, completed
              -- t_e3
              e3 activating, activated, completing, completed
              inner completing, completed
              -- inner_e2
              e2 activating, activated, completing, completed
              outer completing, completed
              -- outer_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_non_interrupting_boundary_event_leaves_the_sub_process_alone() {
    check(
        "process p
         start s
         sub inner {
         start s2
         job t
         end e2
         s2 -> t -> e2
         }
         boundary note on=inner message=note key=id interrupting=false
         job extra
         end e
         s -> inner -> e
         note -> extra",
        r#"show elements
           create p {"id":"a"}
           publish note a
           complete t
           complete extra"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              t activating, activated
              = created p v1
            > publish note a
              note activating, activated, completing, completed
              extra activating, activated
            > complete t
              t completing, completed
              e2 activating, activated, completing, completed
              inner completing, completed
              e activating, activated, completing, completed
            > complete extra
              extra completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn tokens_at_a_join_go_with_their_sub_process() {
    check(
        "process p
         start s
         sub inner {
         start s2
         and fork
         job a
         job b
         and join
         end e2
         s2 -> fork
         fork -> a -> join
         fork -> b -> join
         join -> e2
         }
         boundary late on=inner timer=PT1S
         end e
         s -> inner -> e
         late -> e",
        "show elements
         create p
         complete a
         advance 1s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              fork activating, activated, completing, completed
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
            > advance 1s
              inner terminating
              b terminating, terminated
              inner terminated
              late activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
