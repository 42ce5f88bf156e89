//! Exclusive and parallel gateways, joins and loops.

use expect_test::expect;

use crate::support::check;

#[test]
fn of_two_true_conditions_the_later_one_in_the_document_wins() {
    check(
        "process p
         start s
         xor g
         end a
         end b
         end c
         s -> g
         g -> a if x > 1
         g -> b if x > 2
         g -> c default",
        r#"show elements flows
           create p {"x":2}
           create p {"x":3}
           create p {"x":0}"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":2}
              p activating, activated
              s activating, activated, completing, completed
              -- s_g
              g activating, activated, completing, completed
              -- g_a
              a activating, activated, completing, completed
              p completing, completed
              = created p v1
            > create p {"x":3}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_g
              #2.g activating, activated, completing, completed
              -- g_b
              #2.b activating, activated, completing, completed
              #2.p completing, completed
              = created p v1
            > create p {"x":0}
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              -- s_g
              #3.g activating, activated, completing, completed
              -- g_c
              #3.c activating, activated, completing, completed
              #3.p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn a_fork_takes_its_flows_from_the_last_to_the_first() {
    check(
        "process p
         start s
         and fork
         job a
         job b
         job c
         and join
         end e
         s -> fork
         fork -> a -> join
         fork -> b -> join
         fork -> c -> join
         join -> e",
        "create p
         complete b
         complete a
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
              c activating
              job c created type c retries 3
              c activated
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > complete b
              job b completed
              b completing, completed
              -- b_join
            > complete a
              job a completed
              a completing, completed
              -- a_join
            > complete c
              job c completed
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
fn a_merging_exclusive_gateway_passes_each_token() {
    check(
        "process p
         start s
         and fork
         xor merge
         end e
         s -> fork
         fork -> merge
         fork -> merge
         merge -> e",
        "show elements flows
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_fork
              fork activating, activated, completing, completed
              -- fork_merge_2
              -- fork_merge
              merge activating, activated, completing, completed
              -- merge_e
              merge activating, activated, completing, completed
              -- merge_e
              e activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn extra_tokens_wait_for_the_next_join() {
    check(
        "process p
         start s
         and fork
         job a1
         job a2
         job b1
         job b2
         xor ma
         xor mb
         and join
         end e
         s -> fork
         fork -> a1 -> ma
         fork -> a2 -> ma
         fork -> b1 -> mb
         fork -> b2 -> mb
         ma -> join
         mb -> join
         join -> e",
        "show elements
         create p
         complete a1
         complete a2
         complete b1
         complete b2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              b2 activating, activated
              b1 activating, activated
              a2 activating, activated
              a1 activating, activated
              = created p v1
            > complete a1
              a1 completing, completed
              ma activating, activated, completing, completed
            > complete a2
              a2 completing, completed
              ma activating, activated, completing, completed
            > complete b1
              b1 completing, completed
              mb activating, activated, completing, completed
              join activating, activated, completing, completed
              e activating, activated, completing, completed
            > complete b2
              b2 completing, completed
              mb activating, activated, completing, completed
              join activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_token_that_waits_at_a_join_keeps_the_instance_alive() {
    check(
        "process p
         start s
         xor g
         job a
         job b
         and join
         end e
         s -> g
         g -> a if x
         g -> b default
         a -> join
         b -> join
         join -> e",
        r#"show elements
           create p {"x":true}
           complete a
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":true}
              p activating, activated
              s activating, activated, completing, completed
              g activating, activated, completing, completed
              a activating, activated
              = created p v1
            > complete a
              a completing, completed
            > cancel #1
              p terminating, terminated
        "#]],
    );
}

#[test]
fn one_gateway_joins_and_forks() {
    check(
        "process p
         start s
         and fork
         and both
         job x
         job y
         end e
         s -> fork
         fork -> both
         fork -> both
         both -> x -> e
         both -> y -> e",
        "show elements
         create p
         complete x
         complete y",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              both activating, activated, completing, completed
              y activating, activated
              x activating, activated
              = created p v1
            > complete x
              x completing, completed
              e activating, activated, completing, completed
            > complete y
              y completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_loop_counts_down() {
    check(
        r#"process p
           start s
           xor again
           job t
           script less expr="n - 1" result=n
           xor more
           end e
           s -> again -> t -> less -> more
           more -> again if n > 0
           more -> e default"#,
        r#"show elements variables
           create p {"n":2}
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"n":2}
              p activating
              p.n = 2 created
              p activated
              s activating, activated, completing, completed
              again activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t
              t completing, completed
              less activating, activated, completing
              p.n = 1 updated
              less completed
              more activating, activated, completing, completed
              again activating, activated, completing, completed
              t activating, activated
            > complete t
              t completing, completed
              less activating, activated, completing
              p.n = 0 updated
              less completed
              more activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_choice_with_one_way_out_needs_no_condition_but_keeps_to_the_one_it_has() {
    check(
        "process p
         start s
         xor free
         xor bound
         end e
         s -> free -> bound
         bound -> e if x",
        r#"show flows incidents
           create p {"x":false}
           set #1 {"x":null}
           resolve bound
           set #1 {"x":true}
           resolve bound"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":false}
              -- s_free
              -- free_bound
              incident bound CONDITION_ERROR created: Expected at least one condition to evaluate to true, or to have a default flow
              = created p v1
            > set #1 {"x":null}
            > resolve bound
              incident bound CONDITION_ERROR resolved
              incident bound EXTRACT_VALUE_ERROR created: Expected result of the expression 'x' to be 'BOOLEAN', but was 'NULL'.
            > set #1 {"x":true}
            > resolve bound
              incident bound EXTRACT_VALUE_ERROR resolved
              -- bound_e
        "#]],
    );
}

#[test]
fn conditions_are_looked_at_one_by_one_until_one_is_true() {
    check(
        "process p
         start s
         xor g
         end a
         end b
         end c
         s -> g
         g -> a if not_there > 1
         g -> b if x
         g -> c default",
        r#"show flows incidents
           create p {"x":true}
           create p {"x":false}
           set #2 {"not_there":1}
           resolve g"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":true}
              -- s_g
              -- g_b
              = created p v1
            > create p {"x":false}
              -- s_g
              incident #2.g EXTRACT_VALUE_ERROR created: Expected result of the expression 'not_there > 1' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'not_there'|[NOT_COMPARABLE] Can't compare 'null' with '1'
              = created p v1
            > set #2 {"not_there":1}
            > resolve g
              incident #2.g EXTRACT_VALUE_ERROR resolved
              -- g_c
        "#]],
    );
}

#[test]
fn all_conditions_of_an_inclusive_gateway_must_be_boolean() {
    check(
        "process p
         start s
         or g
         end a
         end b
         s -> g
         g -> a if not_there > 1
         g -> b if x",
        r#"show flows incidents
           create p {"x":true}
           set #1 {"not_there":1}
           resolve g"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":true}
              -- s_g
              incident g EXTRACT_VALUE_ERROR created: Expected result of the expression 'not_there > 1' to be 'BOOLEAN', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'not_there'|[NOT_COMPARABLE] Can't compare 'null' with '1'
              = created p v1
            > set #1 {"not_there":1}
            > resolve g
              incident g EXTRACT_VALUE_ERROR resolved
              -- g_b
        "#]],
    );
}
