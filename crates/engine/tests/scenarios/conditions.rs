//! Conditional events: evaluated at subscription and when one of their variables changes.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

#[test]
fn an_event_waits_until_its_condition_is_met() {
    check(
        "process p
         start s
         catch c condition=\"x > 10\"
         s -> c",
        r#"show elements variables subscriptions
           create p
           set #1 {"y":20}
           set #1 {"x":5}
           set #1 {"x":11}
           create p {"x":12}"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              c activating
              condition c/c x > 10 created
              c activated
              = created p v1
            > set #1 {"y":20}
              p.y = 20 created
            > set #1 {"x":5}
              p.x = 5 created
            > set #1 {"x":11}
              p.x = 11 updated
              condition c/c x > 10 triggered
              condition c/c x > 10 deleted
              c completing, completed
              p completing, completed
            > create p {"x":12}
              #2.p activating
              #2.p.x = 12 created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.c activating
              condition c/c x > 10 created
              #2.c activated
              condition c/c x > 10 triggered
              condition c/c x > 10 deleted
              #2.c completing, completed
              #2.p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn several_variables_of_one_change_trigger_once() {
    check(
        "process p
         start s
         job t
         boundary b on=t condition=\"x > 10 or y > 5\" interrupting=false
         s -> t",
        r#"show elements
           create p
           set #1 {"x":11,"y":6}
           // It sees each change of its own variables again.
           set #1 {"x":12}
           set #1 {"z":1}
           set #1 {"x":12}
           complete t {"x":13}"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > set #1 {"x":11,"y":6}
              b activating, activated, completing, completed
            > set #1 {"x":12}
              b activating, activated, completing, completed
            > set #1 {"z":1}
            > set #1 {"x":12}
            > complete t {"x":13}
              t completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_condition_that_is_met_at_once_ends_its_activity() {
    check(
        "process p
         start s
         job t in:x==limit
         boundary b on=t condition=\"x > 10\"
         s -> t",
        r#"show elements jobs
           create p {"limit":11}"#,
        expect![[r#"
              = deployed p v1
            > create p {"limit":11}
              p activating, activated
              s activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated, terminating
              job t canceled
              t terminated
              b activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn the_filter_says_which_changes_count() {
    check(
        "process p
         start s
         job t
         boundary b on=t condition=\"x > 1\" after=create interrupting=false
         boundary c on=t condition=\"x > 2\" after=update interrupting=false
         s -> t",
        r#"show elements
           create p
           set #1 {"x":5}
           set #1 {"x":6}
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > set #1 {"x":5}
              b activating, activated, completing, completed
            > set #1 {"x":6}
              c activating, activated, completing, completed
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn it_goes_from_the_top_down_until_a_scope_is_interrupted() {
    let model = |limit: u32| {
        format!(
            "process p
             start s
             sub outer {{
             start s2
             job t
             boundary inner on=t condition=\"x > 1\"
             job v
             inner -> v
             s2 -> t
             }}
             boundary b on=outer condition=\"x > {limit}\"
             s -> outer"
        )
    };
    check(
        &model(1),
        "show elements\ncreate p\nset #1 {\"x\":5}",
        expect![[r#"
          = deployed p v1
        > create p
          p activating, activated
          s activating, activated, completing, completed
          outer activating, activated
          s2 activating, activated, completing, completed
          t activating, activated
          = created p v1
        > set #1 {"x":5}
          outer terminating
          t terminating, terminated
          outer terminated
          b activating, activated, completing, completed
          p completing, completed
    "#]],
    );
    check(
        &model(9),
        "show elements\ncreate p\nset #1 {\"x\":5}\ncomplete v",
        expect![[r#"
          = deployed p v1
        > create p
          p activating, activated
          s activating, activated, completing, completed
          outer activating, activated
          s2 activating, activated, completing, completed
          t activating, activated
          = created p v1
        > set #1 {"x":5}
          t terminating, terminated
          inner activating, activated, completing, completed
          v activating, activated
        > complete v
          v completing, completed
          outer completing, completed
          p completing, completed
    "#]],
    );
}

#[test]
fn only_those_who_see_the_variable_are_looked_at() {
    check(
        "process p
         start s
         and fork
         job a in:x=\"=1\"
         job b
         boundary ba on=a condition=\"x > 5\" interrupting=false
         boundary bb on=b condition=\"x > 5\" interrupting=false
         s -> fork
         fork -> a
         fork -> b",
        r#"show elements
           create p
           set a local {"x":6}
           set b local {"x":7}
           set #1 {"x":8}
           complete a
           complete b"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              b activating, activated
              a activating, activated
              = created p v1
            > set a local {"x":6}
              ba activating, activated, completing, completed
            > set b local {"x":7}
              bb activating, activated, completing, completed
            > set #1 {"x":8}
            > complete a
              a completing, completed
            > complete b
              b completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn event_sub_processes_and_gateways_wait_for_conditions() {
    check(
        "process p
         start s
         events g
         catch c condition=\"go = true\"
         catch d timer=PT1H
         job t
         s -> g
         g -> c -> t
         g -> d
         on note {
         start n condition=\"x > 1\" interrupting=false
         }
         on stop {
         start m condition=\"stop = true\"
         job u
         m -> u
         }",
        r#"show elements subscriptions
           create p
           set #1 {"x":2}
           set #1 {"go":true}
           set #1 {"x":3}
           complete t {"stop":true}
           create p
           set #2 {"stop":true}
           complete u
           complete u@1"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating
              condition p/n x > 1 created
              condition p/m stop = true created
              p activated
              s activating, activated, completing, completed
              g activating
              condition g/c go = true created
              g activated
              = created p v1
            > set #1 {"x":2}
              condition p/n x > 1 triggered
              note activating, activated
              n activating, activated, completing, completed
              note completing, completed
            > set #1 {"go":true}
              condition g/c go = true triggered
              condition g/c go = true deleted
              g completing, completed
              c activating, activated, completing, completed
              t activating, activated
            > set #1 {"x":3}
              condition p/n x > 1 triggered
              note activating, activated
              n activating, activated, completing, completed
              note completing, completed
            > complete t {"stop":true}
              t completing, completed
              condition p/m stop = true triggered
              condition p/n x > 1 deleted
              condition p/m stop = true deleted
              stop activating, activated
              m activating, activated, completing, completed
              u activating, activated
            > create p
              #2.p activating
              condition p/n x > 1 created
              condition p/m stop = true created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.g activating
              condition g/c go = true created
              #2.g activated
              = created p v1
            > set #2 {"stop":true}
              condition p/m stop = true triggered
              condition p/n x > 1 deleted
              condition p/m stop = true deleted
              #2.g terminating
              condition g/c go = true deleted
              #2.g terminated
              #2.stop activating, activated
              #2.m activating, activated, completing, completed
              #2.u activating, activated
            > complete u
              #2.u completing, completed
              #2.stop completing, completed
              #2.p completing, completed
            > complete u@1
              u completing, completed
              stop completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn what_is_no_boolean_is_an_incident() {
    check(
        "process p
         start s
         catch c condition=x
         s -> c",
        r#"show elements incidents
           create p {"x":"text"}
           set #1 {"x":true}
           resolve c"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":"text"}
              p activating, activated
              s activating, activated, completing, completed
              c activating
              incident c CONDITION_ERROR created: Expected result of the expression 'x' to be 'BOOLEAN', but was 'STRING'.
              = created p v1
            > set #1 {"x":true}
            > resolve c
              incident c CONDITION_ERROR resolved
              c activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn start_events_are_evaluated_when_somebody_asks() {
    check_with(
        &[
            (
                "p",
                "process p\nstart s condition=\"x > 1\"\njob t\ns -> t\nstart s2 condition=\"x > 2\"\nend e\ns2 -> e",
            ),
            ("p@2", "process p\nstart s condition=\"x > 5\"\njob t\ns -> t"),
            ("q", "process q\nstart s condition=\"x = 1 or y\"\nend e\ns -> e"),
        ],
        Options::default(),
        r#"show elements variables subscriptions messages
           deploy p q
           conditions {"x":3}
           conditions {"x":1}
           conditions q v=1 {"x":3,"y":true}
           conditions q v=2 {"x":1}
           deploy p@2
           conditions {"x":4}
           conditions p v=2 {"x":6}
           complete t@1
           complete t@2"#,
        expect![[r#"
              condition p/s x > 1 created
              condition p/s2 x > 2 created
              condition q/s x = 1 or y created
              = deployed p v1 q v1
            > conditions {"x":3}
              p activating, activated
              #2.p activating, activated
              conditions evaluated, 2 started
              s activating, activated, completing
              p.x = 3 created
              s completed
              #2.s2 activating, activated, completing
              #2.p.x = 3 created
              #2.s2 completed
              t activating, activated
              #2.e activating, activated, completing, completed
              #2.p completing, completed
              = started [#1 #2]
            > conditions {"x":1}
              #3.q activating, activated
              conditions evaluated, 1 started
              #3.s activating, activated, completing
              #3.q.x = 1 created
              #3.s completed
              #3.e activating, activated, completing, completed
              #3.q completing, completed
              = started [#3]
            > conditions q v=1 {"x":3,"y":true}
              #4.q activating, activated
              conditions evaluated, 1 started
              #4.s activating, activated, completing
              #4.q.x = 3 created
              #4.q.y = true created
              #4.s completed
              #4.e activating, activated, completing, completed
              #4.q completing, completed
              = started [#4]
            > conditions q v=2 {"x":1}
              = rejected NOT_FOUND: Expected to find process definition with key '1', but none found
            > deploy p@2
              condition p/s x > 1 deleted
              condition p/s2 x > 2 deleted
              condition p/s x > 5 created
              = deployed p v2
            > conditions {"x":4}
              conditions evaluated, 0 started
              = started []
            > conditions p v=2 {"x":6}
              #5.p activating, activated
              conditions evaluated, 1 started
              #5.s activating, activated, completing
              #5.p.x = 6 created
              #5.s completed
              #5.t activating, activated
              = started [#5]
            > complete t@1
              t completing, completed
              p completing, completed
            > complete t@2
              #5.t completing, completed
              #5.p completing, completed
        "#]],
    );
}
