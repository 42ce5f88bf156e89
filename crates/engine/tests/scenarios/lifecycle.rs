//! The order in which things happen to elements.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_task_is_activated_and_completed_between_start_and_end() {
    check(
        "process p
         start s
         job t header:a=1
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
              < job t retries 3 deadline 600000 variables {"a":1} headers {"a":"1"}
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

#[test]
fn a_mapped_task_shows_every_step() {
    check(
        r#"process p
           start s
           job t in:x="=a + 1" out:c="=b"
           boundary late on=t timer=PT1M
           end e
           s -> t -> e"#,
        r#"create p {"a":1}
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
              t.x = 2 created
              timer late created due 60000
              job t created type t retries 3
              t activated
              = created p v1
            > complete t {"b":2}
              job t completed
              t completing
              t.b = 2 created
              p.c = 2 created
              timer late canceled
              t completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn what_passes_straight_through_runs_in_one_command() {
    check(
        "process p
         start s
         task manual
         throw nothing
         script double expr=\"n * 2\" result=n
         end e
         s -> manual -> nothing -> double -> e",
        r#"create p {"n":21}"#,
        expect![[r#"
              = deployed p v1
            > create p {"n":21}
              p activating
              p.n = 21 created
              p activated
              s activating, activated, completing, completed
              -- s_manual
              manual activating, activated, completing, completed
              -- manual_nothing
              nothing activating, activated, completing, completed
              -- nothing_double
              double activating, activated, completing
              p.n = 42 updated
              double completed
              -- double_e
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn several_ends_complete_the_process_with_the_last() {
    check(
        "process p
         start s
         job a
         job b
         end e1
         end e2
         s -> a -> e1
         s -> b -> e2",
        "show elements jobs
         create p
         complete a
         complete b",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete a
              job a completed
              a completing, completed
              e1 activating, activated, completing, completed
            > complete b
              job b completed
              b completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_process_without_an_end_event_completes_with_its_last_element() {
    check(
        "process p
         start s
         job t
         s -> t",
        "show elements flows
         create p
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating, activated
              = created p v1
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_terminate_end_event_ends_everything_beside_it() {
    check(
        "process p
         start s
         job a
         sub inner {
         start s2
         job b
         end e2
         s2 -> b -> e2
         }
         end all terminate
         s -> a -> all
         s -> inner",
        "show elements jobs
         create p
         complete a",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              a activating
              job a created type a retries 3
              a activated
              s2 activating, activated, completing, completed
              b activating
              job b created type b retries 3
              b activated
              = created p v1
            > complete a
              job a completed
              a completing, completed
              all activating, activated, completing, completed
              inner terminating
              b terminating
              job b canceled
              b terminated
              inner terminated
              p completing, completed
        "#]],
    );
}

#[test]
fn a_terminate_end_event_ends_its_own_scope_only() {
    check(
        "process p
         start s
         sub inner {
         start s2
         job a
         job b
         end all terminate
         s2 -> a -> all
         s2 -> b
         }
         job after
         end e
         s -> inner -> after -> e",
        "show elements jobs
         create p
         complete a
         complete after",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete a
              job a completed
              a completing, completed
              all activating, activated, completing, completed
              b terminating
              job b canceled
              b terminated
              inner completing, completed
              after activating
              job after created type after retries 3
              after activated
            > complete after
              job after completed
              after completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn tokens_at_a_join_go_with_a_terminate_end_event() {
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
         end all terminate
         s2 -> fork
         fork -> a -> join
         fork -> b -> join
         join -> e2
         fork -> c -> all
         job c
         }
         end e
         s -> inner -> e",
        "show elements
         create p
         complete a
         complete c",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              fork activating, activated, completing, completed
              c activating, activated
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
            > complete c
              c completing, completed
              all activating, activated, completing, completed
              b terminating, terminated
              inner completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
