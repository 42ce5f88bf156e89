//! Inclusive gateways: selection of flows, and waiting joins.

use expect_test::expect;

use crate::support::check;

const DIAMOND: &str = "process p
    start s
    or fork
    job a
    job b
    job c
    or join
    end e
    s -> fork
    fork -> a if x > 1
    fork -> b if x > 2
    fork -> c default
    a -> join
    b -> join
    c -> join
    join -> e";

#[test]
fn every_flow_that_holds_is_taken_and_joined() {
    check(
        DIAMOND,
        r#"show elements flows
           create p {"x":3}
           complete b
           complete a"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":3}
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
            > complete a
              a completing, completed
              -- a_join
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_default_flow_is_taken_if_no_condition_holds() {
    check(
        DIAMOND,
        r#"show elements flows
           create p {"x":0}
           complete c"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":0}
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_c
              c activating, activated
              = created p v1
            > complete c
              c completing, completed
              -- c_join
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn without_a_flow_to_take_people_are_asked() {
    check(
        "process p
         start s
         or g
         end a
         end b
         s -> g
         g -> a if x
         g -> b if y",
        r#"show elements flows incidents
           create p {"x":false,"y":false}
           resolve g
           set #1 {"y":true}
           resolve g
           create p {"x":1}
           cancel #2"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":false,"y":false}
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating, activated, completing
              incident g CONDITION_ERROR created: Expected at least one condition to evaluate to true, or to have a default flow
              = created p v1
            > resolve g
              incident g CONDITION_ERROR resolved
              incident g CONDITION_ERROR created: Expected at least one condition to evaluate to true, or to have a default flow
            > set #1 {"y":true}
            > resolve g
              incident g CONDITION_ERROR resolved
              g completed
              -- g_b
              b activating, activated, completing, completed
              p completing, completed
            > create p {"x":1}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_g
              #2.g activating, activated, completing
              incident #2.g EXTRACT_VALUE_ERROR created: Expected result of the expression 'y' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'y'
              = created p v1
            > cancel #2
              #2.p terminating
              #2.g terminating
              incident #2.g EXTRACT_VALUE_ERROR resolved
              #2.g terminated
              #2.p terminated
        "#]],
    );
}

#[test]
fn one_way_out_needs_no_condition() {
    check(
        "process p
         start s
         or g
         end e
         s -> g -> e",
        "show flows
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              -- s_g
              -- g_e
              = created p v1
        "#]],
    );
}

#[test]
fn tokens_of_all_flows_end_the_wait_at_once_and_others_stay_for_the_next_round() {
    check(
        "process p
         start s
         and fork
         xor twice
         job a
         job b
         job c
         or join
         job after
         s -> fork
         fork -> a -> twice
         fork -> b -> twice
         fork -> c -> join
         twice -> join
         join -> after",
        "show elements flows
         create p
         complete a
         complete b
         complete c
         complete after@1
         complete after@2",
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
              -- a_twice
              twice activating, activated, completing, completed
              -- twice_join
            > complete b
              b completing, completed
              -- b_twice
              twice activating, activated, completing, completed
              -- twice_join
            > complete c
              c completing, completed
              -- c_join
              join activating, activated, completing, completed
              -- join_after
              after activating, activated
              join activating, activated, completing, completed
              -- join_after
              after activating, activated
            > complete after@1
              after completing, completed
            > complete after@2
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_token_that_ends_elsewhere_is_not_waited_for() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         xor choice
         or join
         end elsewhere
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> choice
         choice -> elsewhere if x
         choice -> join default
         join -> e",
        r#"show elements flows
           create p {"x":true}
           complete a
           complete b
           create p {"x":false}
           complete a
           complete b"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":true}
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_b
              -- fork_a
              b activating, activated
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_join
            > complete b
              b completing, completed
              -- b_choice
              choice activating, activated, completing, completed
              -- choice_elsewhere
              elsewhere activating, activated, completing, completed
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
            > create p {"x":false}
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
            > complete b
              #2.b completing, completed
              -- b_choice
              #2.choice activating, activated, completing, completed
              -- choice_join
              #2.join activating, activated, completing, completed
              -- join_e
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_that_leads_away_frees_the_join() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         boundary late on=b timer=PT10S
         job other
         or join
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> join
         late -> other
         join -> e",
        "show elements flows
         create p
         complete a
         advance 10s
         complete other",
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
            > complete a
              a completing, completed
              -- a_join
            > advance 10s
              b terminating, terminated
              late activating, activated, completing, completed
              -- late_other
              other activating, activated
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
            > complete other
              other completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_that_leads_back_is_waited_for() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         boundary late on=b timer=PT10S interrupting=false
         job other
         or join
         end x
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> x
         late -> other -> join
         join -> e",
        "show elements flows
         given create p
         complete a
         advance 10s
         complete b
         complete other",
        expect![[r#"
              = deployed p v1
            > complete a
              a completing, completed
              -- a_join
            > advance 10s
              late activating, activated, completing, completed
              -- late_other
              other activating, activated
            > complete b
              b completing, completed
              -- b_x
              x activating, activated, completing, completed
            > complete other
              other completing, completed
              -- other_join
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_error_in_a_sub_process_frees_the_join_behind_it() {
    check(
        "process p
         start s
         and fork
         job a
         sub inner {
           start is
           job b
           is -> b
         }
         boundary failed on=inner error=E
         end away
         or join
         end e
         s -> fork
         fork -> a -> join
         fork -> inner -> join
         failed -> away
         join -> e",
        "show elements flows
         create p
         complete a
         throw b E",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_inner
              -- fork_a
              inner activating, activated
              a activating, activated
              is activating, activated, completing, completed
              -- is_b
              b activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_join
            > throw b E
              inner terminating
              b terminating, terminated
              inner terminated
              failed activating, activated, completing, completed
              -- failed_away
              away activating, activated, completing, completed
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_terminate_end_event_ends_the_wait() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         or join
         end stop terminate
         s -> fork
         fork -> a -> join
         fork -> b -> join
         fork -> stop",
        "show elements flows
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_stop
              -- fork_b
              -- fork_a
              stop activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
    check(
        "process p
         start s
         sub inner {
           start is
           and fork
           job a
           job b
           job c
           or join
           end stop terminate
           is -> fork
           fork -> a -> join
           fork -> b -> join
           fork -> c -> stop
         }
         end e
         s -> inner -> e",
        "show elements flows
         create p
         complete a
         complete c",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_inner
              inner activating, activated
              is activating, activated, completing, completed
              -- is_fork
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
            > complete c
              c completing, completed
              -- c_stop
              stop activating, activated, completing, completed
              b terminating, terminated
              inner completing, completed
              -- inner_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_head_of_a_loop_does_not_wait_for_itself() {
    check(
        "process p
         start s
         or head
         job a
         xor more
         end e
         s -> head -> a -> more
         more -> head if again
         more -> e default",
        r#"show elements flows
           create p {"again":true}
           complete a
           complete a {"again":false}"#,
        expect![[r#"
              = deployed p v1
            > create p {"again":true}
              p activating, activated
              s activating, activated, completing, completed
              -- s_head
              head activating, activated, completing, completed
              -- head_a
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_more
              more activating, activated, completing, completed
              -- more_head
              head activating, activated, completing, completed
              -- head_a
              a activating, activated
            > complete a {"again":false}
              a completing, completed
              -- a_more
              more activating, activated, completing, completed
              -- more_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn joins_that_wait_for_each_other_go_on_one_after_the_other() {
    // Each join can be reached from the other one.
    check(
        "process p
         start s
         and fork
         or one
         or two
         job a
         job b
         xor more_a
         xor more_b
         end ea
         end eb
         s -> fork
         fork -> one -> a -> more_a
         fork -> two -> b -> more_b
         more_a -> two if again
         more_a -> ea default
         more_b -> one if again
         more_b -> eb default",
        r#"show elements flows
           create p {"again":false}
           complete a
           complete b"#,
        expect![[r#"
              = deployed p v1
            > create p {"again":false}
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_two
              -- fork_one
              one activating, activated, completing, completed
              -- one_a
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_more_a
              more_a activating, activated, completing, completed
              -- more_a_ea
              ea activating, activated, completing, completed
              two activating, activated, completing, completed
              -- two_b
              b activating, activated
            > complete b
              b completing, completed
              -- b_more_b
              more_b activating, activated, completing, completed
              -- more_b_eb
              eb activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_join_waits_for_another_join_before_it() {
    for kind in ["or", "and"] {
        check(
            &format!(
                "process p
         start s
         and fork
         job a
         job b
         job c
         {kind} first
         or second
         end e
         s -> fork
         fork -> a -> first
         fork -> b -> first
         fork -> c -> second
         first -> second
         second -> e"
            ),
            "show elements flows
         given create p
         complete c
         complete a
         complete b",
            expect![[r#"
              = deployed p v1
            > complete c
              c completing, completed
              -- c_second
            > complete a
              a completing, completed
              -- a_first
            > complete b
              b completing, completed
              -- b_first
              first activating, activated, completing, completed
              -- first_second
              second activating, activated, completing, completed
              -- second_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
        );
    }
}

#[test]
fn an_incident_is_waited_for_and_a_resolved_one_moves_on() {
    check(
        "process p
         start s
         and fork
         job a
         job b in:x=\"=assert(y, y != null)\"
         or join
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> join
         join -> e",
        r#"show elements flows incidents
           create p
           complete a
           set #1 {"y":1}
           resolve b
           complete b"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_b
              -- fork_a
              b activating
              incident b IO_MAPPING_ERROR created: failed to evaluate expression 'assert(y, y != null)': Assertion failure on evaluate the expression 'assert(y, y != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'y'|[NO_VARIABLE_FOUND] No variable found with name 'y'|[ASSERT_FAILURE] The condition is not fulfilled
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
              -- a_join
            > set #1 {"y":1}
            > resolve b
              incident b IO_MAPPING_ERROR resolved
              b activated
            > complete b
              b completing, completed
              -- b_join
              join activating, activated, completing, completed
              -- join_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
