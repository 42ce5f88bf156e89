//! Complex gateways: completion and reset of a join.

use expect_test::expect;

use crate::support::check;

const TWO_OF_THREE: &str = "process p
    start s
    and fork
    job a
    job b
    job c
    complex join when=\"activationCount >= 2\"
    job after
    end e
    s -> fork
    fork -> a -> join
    fork -> b -> join
    fork -> c -> join
    join -> after -> e";

#[test]
fn two_of_three_go_on_once() {
    check(
        TWO_OF_THREE,
        "show elements flows
         create p
         complete a
         complete b
         complete after
         complete c",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_c
              -- fork_b
              -- fork_a
              c activating, activated
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_join
              join activating, activated
            > complete b
              b completing, completed
              -- b_join
              join completing, completed
              -- join_after
              join activating, activated
              after activating, activated
            > complete after
              after completing, completed
              -- after_e
              e activating, activated, completing, completed
            > complete c
              c completing, completed
              -- c_join
              join completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn it_starts_anew_after_the_last_token() {
    check(
        r#"process p
           start s
           and fork
           job a
           job b
           job c
           xor again
           complex join when="activationCount >= 1"
           job after
           s -> fork
           fork -> a -> join
           fork -> b -> again
           fork -> c -> again
           again -> join
           join -> after"#,
        "show elements flows
         given create p
         complete a
         complete b
         complete c
         complete after@1
         complete after@2",
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              -- a_join
              join activating, activated, completing, completed
              -- join_after
              join activating, activated
              after activating, activated
            > complete b
              b completing, completed
              -- b_again
              again activating, activated, completing, completed
              -- again_join
              join completing, completed
            > complete c
              c completing, completed
              -- c_again
              again activating, activated, completing, completed
              -- again_join
              join activating, activated, completing, completed
              -- join_after
              join activating, activated
              after activating, activated
              join completing, completed
            > complete after@1
              after completing, completed
            > complete after@2
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn conditions_see_the_phase_and_the_counts() {
    check(
        r#"process p
           start s
           and fork
           job a
           job b
           complex join when="a_join > 0"
           job first
           job late
           end e
           s -> fork
           fork -> a -> join
           fork -> b -> join
           join -> first if waitingForStart
           join -> late if not(waitingForStart) and b_join = 1
           join -> e default"#,
        "show elements flows
         create p
         complete b
         complete a
         complete first
         create p
         complete a
         complete b
         complete first
         complete late",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_b
              -- fork_a
              b activating, activated
              a activating, activated
              = created p v1
            > complete b
              b completing, completed
              -- b_join
              join activating, activated
            > complete a
              a completing, completed
              -- a_join
              join completing, completed
              -- join_first
              join activating, activated
              first activating, activated
              join completing, completed
            > complete first
              first completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_fork
              #2.fork activating, activated, completing, completed
              -- fork_b
              -- fork_a
              #2.b activating, activated
              #2.a activating, activated
              = created p v1
            > complete a
              #2.a completing, completed
              -- a_join
              #2.join activating, activated, completing, completed
              -- join_first
              #2.join activating, activated
              #2.first activating, activated
            > complete b
              #2.b completing, completed
              -- b_join
              #2.join completing, completed
              -- join_late
              #2.late activating, activated
            > complete first
              #2.first completing, completed
            > complete late
              #2.late completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_token_that_cannot_come_is_not_waited_for() {
    check(
        r#"process p
           start s
           and fork
           job a
           job b
           boundary away on=b error=E
           end x
           complex join when="activationCount = 1"
           job reset
           job after
           s -> fork
           fork -> a -> join
           fork -> b -> join
           away -> x
           join -> after if waitingForStart
           join -> reset if not(waitingForStart)"#,
        "show elements flows
         given create p
         complete a
         complete after
         throw b E
         complete reset",
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              -- a_join
              join activating, activated, completing, completed
              -- join_after
              join activating, activated
              after activating, activated
            > complete after
              after completing, completed
            > throw b E
              b terminating, terminated
              away activating, activated, completing, completed
              -- away_x
              x activating, activated, completing, completed
              join completing, completed
              -- join_reset
              reset activating, activated
            > complete reset
              reset completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_condition_that_fails_is_tried_again() {
    check(
        r#"process p
           start s
           and fork
           job a
           job b
           complex join when="activationCount >= wanted"
           end e
           s -> fork
           fork -> a -> join
           fork -> b -> join
           join -> e"#,
        r#"show elements flows incidents
           given create p
           complete a
           complete b
           set #1 {"wanted":3}
           resolve join
           set #1 {"wanted":"many"}
           cancel #1
           create p {"wanted":2}
           complete a
           set #2 {"wanted":null}
           complete b
           set #2 {"wanted":1}
           resolve join"#,
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              -- a_join
              join activating
              incident join EXTRACT_VALUE_ERROR created: Expected result of the expression 'activationCount >= wanted' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'wanted'|[NOT_COMPARABLE] Can't compare '1' with 'null'
            > complete b
              b completing, completed
              -- b_join
            > set #1 {"wanted":3}
            > resolve join
              incident join EXTRACT_VALUE_ERROR resolved
              join activated
            > set #1 {"wanted":"many"}
            > cancel #1
              p terminating
              join terminating, terminated
              p terminated
            > create p {"wanted":2}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_fork
              #2.fork activating, activated, completing, completed
              -- fork_b
              -- fork_a
              #2.b activating, activated
              #2.a activating, activated
              = created p v1
            > complete a
              #2.a completing, completed
              -- a_join
              #2.join activating, activated
            > set #2 {"wanted":null}
            > complete b
              #2.b completing, completed
              -- b_join
              incident #2.join EXTRACT_VALUE_ERROR created: Expected result of the expression 'activationCount >= wanted' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NOT_COMPARABLE] Can't compare '2' with 'null'
            > set #2 {"wanted":1}
            > resolve join
              incident #2.join EXTRACT_VALUE_ERROR resolved
              #2.join completing, completed
              -- join_e
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn without_a_join_it_splits_like_an_inclusive_gateway() {
    check(
        r#"process p
           start s
           complex g
           end a
           end b
           end c
           s -> g
           g -> a if x > 1
           g -> b if x > 2
           g -> c default"#,
        r#"show elements flows
           create p {"x":3}
           create p {"x":0}"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":3}
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating, activated, completing, completed
              -- g_b
              -- g_a
              b activating, activated, completing, completed
              a activating, activated, completing, completed
              p completing, completed
              = created p v1
            > create p {"x":0}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_g
              #2.g activating, activated, completing, completed
              -- g_c
              #2.c activating, activated, completing, completed
              #2.p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn tokens_at_it_go_with_their_scope() {
    check(
        r#"process p
           start s
           sub inner {
             start is
             and fork
             job a
             job b
             job c
             complex join when="activationCount >= 2"
             end stop terminate
             is -> fork
             fork -> a -> join
             fork -> b -> join
             fork -> c -> stop
           }
           boundary late on=inner timer=PT10S
           end e
           end f
           s -> inner -> e
           late -> f"#,
        "show elements
         create p
         complete a
         complete c
         create p
         complete a
         complete b
         advance 10s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              is activating, activated, completing, completed
              fork activating, activated, completing, completed
              c activating, activated
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              join activating, activated
            > complete c
              c completing, completed
              stop activating, activated, completing, completed
              b terminating, terminated
              join terminating, terminated
              inner completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.inner activating, activated
              #2.is activating, activated, completing, completed
              #2.fork activating, activated, completing, completed
              #2.c activating, activated
              #2.b activating, activated
              #2.a activating, activated
              = created p v1
            > complete a
              #2.a completing, completed
              #2.join activating, activated
            > complete b
              #2.b completing, completed
              #2.join completing, completed
            > advance 10s
              #2.inner terminating
              #2.c terminating, terminated
              #2.inner terminated
              #2.late activating, activated, completing, completed
              #2.f activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}
