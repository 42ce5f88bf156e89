//! Errors, escalations and ends from inside multi-instance activities, ad-hoc sub-processes and calls.

use expect_test::expect;

use crate::support::check;

#[test]
fn an_error_of_one_instance_ends_the_whole_multi_instance_activity() {
    check(
        r#"process p
           start s
           call c each="[1, 2]" process=q
           s -> c
           boundary b on=c error=E out:what==x
           job after
           b -> after
           process q
           start qs
           job t
           qs -> t"#,
        r#"show elements variables
           create p
           throw t@1 E {"x": 1}
           complete after"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c* activating, activated
              c activating
              c.loopCounter = 1 created
              #2.q activating
              #2.q.loopCounter = 1 created
              #2.q activated
              c activated
              c activating
              c.loopCounter = 2 created
              #3.q activating
              #3.q.loopCounter = 2 created
              #3.q activated
              c activated
              #2.qs activating, activated, completing, completed
              #3.qs activating, activated, completing, completed
              #2.t activating, activated
              #3.t activating, activated
              = created p v1
            > throw t@1 E {"x": 1}
              c* terminating
              c terminating
              c terminating
              #2.q terminating
              #3.q terminating
              #2.t terminating, terminated
              #3.t terminating, terminated
              #2.q terminated
              #3.q terminated
              c terminated
              c terminated
              c* terminated
              b activating
              b.x = 1 created
              b activated, completing
              p.what = 1 created
              b completed
              after activating, activated
            > complete after
              after completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn each_instance_escalates_to_the_multi_instance_activity() {
    check(
        r#"process p
           start s
           sub each each="['a', 'b']" as=x {
           start is
           throw up escalation==x
           job t
           is -> up -> t
           }
           s -> each
           boundary a on=each escalation=a interrupting=false
           task ta
           a -> ta
           boundary b on=each escalation=b
           task tb
           b -> tb"#,
        r#"show elements
           create p"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              each* activating, activated
              each activating, activated
              each activating, activated
              is activating, activated, completing, completed
              is activating, activated, completing, completed
              up activating, activated, completing, completed
              up activating, activated
              a activating, activated, completing, completed
              t activating, activated
              each* terminating
              ta activating, activated, completing, completed
              each terminating
              each terminating
              t terminating, terminated
              up terminating, terminated
              each terminated
              each terminated
              each* terminated
              b activating, activated, completing, completed
              tb activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn a_terminate_end_event_ends_one_instance_of_a_multi_instance_sub_process() {
    check(
        r#"process p
           start s
           sub each each="[true, false]" as=stop {
           start is
           and fork
           job t
           xor g
           end all terminate
           end one
           is -> fork
           fork -> t
           fork -> g
           g -> all if stop
           g -> one default
           }
           s -> each"#,
        r#"show elements
           create p
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              each* activating, activated
              each activating, activated
              each activating, activated
              is activating, activated, completing, completed
              is activating, activated, completing, completed
              fork activating, activated, completing, completed
              fork activating, activated, completing, completed
              g activating, activated, completing, completed
              t activating, activated
              g activating, activated, completing, completed
              t activating, activated
              all activating, activated, completing, completed
              one activating, activated, completing, completed
              t terminating, terminated
              each completing, completed
              = created p v1
            > complete t
              t completing, completed
              each completing, completed
              each* completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_error_in_an_ad_hoc_sub_process_is_caught_at_its_boundary() {
    check(
        r#"process p
           start s
           adhoc pick elements="['a', 'b']" {
           job a
           job b
           }
           s -> pick
           boundary x on=pick error=E
           task after
           x -> after"#,
        r#"show elements
           create p
           throw a E"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating, activated
              b activating, activated
              = created p v1
            > throw a E
              pick terminating
              pick#innerInstance terminating
              pick#innerInstance terminating
              a terminating, terminated
              b terminating, terminated
              pick#innerInstance terminated
              pick#innerInstance terminated
              pick terminated
              x activating, activated, completing, completed
              after activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn what_an_ad_hoc_sub_process_has_done_is_compensated() {
    check(
        r#"process p
           start s
           adhoc pick elements="['a', 'a', 'b']" {
           job a
           boundary undo on=a compensation=h
           job h handler
           task b
           }
           throw back compensate
           end e
           s -> pick -> back -> e"#,
        r#"show elements
           create p
           complete a@1
           complete a@2
           complete h@1
           complete h@2"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating, activated
              a activating, activated
              b activating, activated, completing, completed
              pick#innerInstance completing, completed
              = created p v1
            > complete a@1
              a completing, completed
              compensation a/h created
              pick#innerInstance completing, completed
              compensation pick#innerInstance/- created
            > complete a@2
              a completing, completed
              compensation a/h created
              pick#innerInstance completing, completed
              compensation pick#innerInstance/- created
              pick completing, completed
              compensation pick/- created {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}]}
              back activating, activated
              compensation pick/- triggered by back {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}]}
              compensation pick#innerInstance/- triggered by back
              compensation pick#innerInstance/- triggered by back
              compensation pick/- completed by back {"adHocSubProcessElements":[{"elementId":"a"},{"elementId":"b"}]}
              compensation a/h triggered by back
              compensation pick#innerInstance/- completed by back
              compensation a/h triggered by back
              compensation pick#innerInstance/- completed by back
              undo activating, activated, completing, completed
              h activating, activated
              undo activating, activated, completing, completed
              h activating, activated
            > complete h@1
              h completing, completed
              compensation a/h completed by back
            > complete h@2
              h completing, completed
              compensation a/h completed by back
              back completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_condition_does_not_see_what_its_activity_gives() {
    check(
        r#"process p
           start s
           job t out:x==r
           job u
           s -> t -> u
           boundary b on=t condition="x > 10"
           task tb
           b -> tb"#,
        r#"show elements
           create p {"x":1}
           complete t {"r":11}
           complete u"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":1}
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > complete t {"r":11}
              t completing, completed
              u activating, activated
            > complete u
              u completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_event_based_gateway_waits_anew_each_time() {
    check(
        r#"process p
           start s
           xor again
           events g
           catch m message=m key="'k'"
           catch n signal=n
           end e
           s -> again -> g
           g -> m -> again
           g -> n -> e"#,
        r#"show elements subscriptions
           create p
           publish m k
           publish m k
           broadcast n"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              again activating, activated, completing, completed
              g activating
              signal subscription g/n n created
              subscription g/m m/k created
              g activated
              = created p v1
            > publish m k
              subscription g/m m/k correlated
              signal subscription g/n n deleted
              g completing, completed
              m activating, activated, completing, completed
              again activating, activated, completing, completed
              g activating
              signal subscription g/n n created
              subscription g/m m/k created
              g activated
            > publish m k
              subscription g/m m/k correlated
              signal subscription g/n n deleted
              g completing, completed
              m activating, activated, completing, completed
              again activating, activated, completing, completed
              g activating
              signal subscription g/n n created
              subscription g/m m/k created
              g activated
            > broadcast n
              subscription g/m m/k deleted
              signal subscription g/n n deleted
              g completing, completed
              n activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_terminate_end_event_ends_calls_and_incidents_beside_it() {
    check(
        r#"process p
           start s
           and fork
           call c process=q
           script bad expr="assert(x, x != null)" result=y
           job t
           end all terminate
           s -> fork
           fork -> c
           fork -> bad
           fork -> t -> all
           process q
           start qs
           job qt
           qs -> qt"#,
        r#"show elements incidents
           create p
           complete t"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              t activating, activated
              bad activating
              incident bad EXTRACT_VALUE_ERROR created: failed to evaluate expression 'assert(x, x != null)': Assertion failure on evaluate the expression 'assert(x, x != null)': The condition is not fulfilled The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'x'|[NO_VARIABLE_FOUND] No variable found with name 'x'|[ASSERT_FAILURE] The condition is not fulfilled
              c activating
              #2.q activating, activated
              c activated
              #2.qs activating, activated, completing, completed
              #2.qt activating, activated
              = created p v1
            > complete t
              t completing, completed
              all activating, activated, completing, completed
              bad terminating
              incident bad EXTRACT_VALUE_ERROR resolved
              bad terminated
              c terminating
              #2.q terminating
              #2.qt terminating, terminated
              #2.q terminated
              c terminated
              p completing, completed
        "#]],
    );
}

#[test]
fn an_event_sub_process_of_the_process_ends_calls_with_all_inside() {
    check(
        r#"process p
           start s
           call c process=q
           s -> c
           on stop {
           start x signal=stop
           task after
           x -> after
           }
           process q
           start qs
           call d process=r
           qs -> d
           process r
           start rs
           user rt
           rs -> rt"#,
        r#"show elements
           create p
           broadcast stop"#,
        expect![[r#"
              = deployed p v1 q v1 r v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              #2.q activating, activated
              c activated
              #2.qs activating, activated, completing, completed
              #2.d activating
              #3.r activating, activated
              #2.d activated
              #3.rs activating, activated, completing, completed
              #3.rt activating, activated
              = created p v1
            > broadcast stop
              c terminating
              #2.q terminating
              #2.d terminating
              #3.r terminating
              #3.rt terminating, terminated
              #3.r terminated
              #2.d terminated
              #2.q terminated
              c terminated
              stop activating, activated
              x activating, activated, completing, completed
              after activating, activated, completing, completed
              stop completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn inclusive_joins_stand_in_every_kind_of_scope() {
    let body = |index: usize| {
        format!(
            "or fork{index}
             job a{index}
             xor b{index}
             job stay{index}
             or join{index}
             task last{index}
             fork{index} -> a{index} if true
             fork{index} -> b{index} if true
             a{index} -> join{index}
             b{index} -> join{index} if false
             b{index} -> stay{index} default
             join{index} -> last{index}"
        )
    };
    let model = format!(
        r#"process p
           start s
           sub each each="[1]" {{
           start s1
           {}
           s1 -> fork1
           }}
           adhoc pick elements="['fork2']" {{
           {}
           }}
           sub loop while=false {{
           start s3
           {}
           s3 -> fork3
           }}
           s -> each -> pick -> loop"#,
        body(1),
        body(2),
        body(3)
    );
    check(
        &model,
        "show elements
         create p
         complete a1
         complete stay1
         complete a2
         complete stay2
         complete a3
         complete stay3",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              each* activating, activated
              each activating, activated
              s1 activating, activated, completing, completed
              fork1 activating, activated, completing, completed
              b1 activating, activated, completing, completed
              a1 activating, activated
              stay1 activating, activated
              = created p v1
            > complete a1
              a1 completing, completed
              join1 activating, activated, completing, completed
              last1 activating, activated, completing, completed
            > complete stay1
              stay1 completing, completed
              each completing, completed
              each* completing, completed
              pick activating, activated
              pick#innerInstance activating, activated
              fork2 activating, activated, completing, completed
              b2 activating, activated, completing, completed
              a2 activating, activated
              stay2 activating, activated
            > complete a2
              a2 completing, completed
              join2 activating, activated, completing, completed
              last2 activating, activated, completing, completed
            > complete stay2
              stay2 completing, completed
              pick#innerInstance completing, completed
              pick completing, completed
              loop* activating, activated
              loop activating, activated
              s3 activating, activated, completing, completed
              fork3 activating, activated, completing, completed
              b3 activating, activated, completing, completed
              a3 activating, activated
              stay3 activating, activated
            > complete a3
              a3 completing, completed
              join3 activating, activated, completing, completed
              last3 activating, activated, completing, completed
            > complete stay3
              stay3 completing, completed
              loop completing, completed
              loop* completing, completed
              p completing, completed
        "#]],
    );
}
