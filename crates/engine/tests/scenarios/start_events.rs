//! Triggers of process start events are evaluated at the deployment.

use expect_test::expect;

use crate::support::{check, check_with};

#[test]
fn names_and_times_are_evaluated_at_the_deployment() {
    check_with(
        &[
            (
                "m",
                r#"process m
               start s message="='a' + 'b'"
               s -> t
               task t"#,
            ),
            (
                "n",
                r#"process n
               start s signal="='a' + 'b'"
               s -> t
               task t"#,
            ),
            (
                "c",
                r#"process c
               start s cycle="=cycle(2, duration('PT1H'))"
               s -> t
               task t"#,
            ),
            (
                "d",
                r#"process d
               start s date="=now() + duration('PT2H')"
               s -> t
               task t"#,
            ),
        ],
        engine::Options::default(),
        "show elements timers
         deploy m n c d
         publish ab -
         broadcast ab
         advance 1h
         advance 1h
         advance 1h",
        expect![[r#"
              timer s created due 3600000 repetitions 2
              timer s created due 7200000
              = deployed m v1 n v1 c v1 d v1
            > publish ab -
              m activating, activated
              s activating, activated, completing, completed
              t activating, activated, completing, completed
              m completing, completed
            > broadcast ab
              #2.n activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated, completing, completed
              #2.n completing, completed
            > advance 1h
              timer s triggered
              timer s created due 7200000
              #3.c activating, activated
              #3.s activating, activated, completing, completed
              #3.t activating, activated, completing, completed
              #3.c completing, completed
            > advance 1h
              timer s triggered
              #4.d activating, activated
              #4.s activating, activated, completing, completed
              #4.t activating, activated, completing, completed
              #4.d completing, completed
              timer s triggered
              #5.c activating, activated
              #5.s activating, activated, completing, completed
              #5.t activating, activated, completing, completed
              #5.c completing, completed
            > advance 1h
        "#]],
    );
}

#[test]
fn a_start_event_passes_what_came_and_maps_it_out() {
    check(
        r#"process p
           start s message=m out:y="=x + 1"
           job t
           s -> t"#,
        r#"show elements variables
           publish m - {"x": 1, "z": 2}
           complete t"#,
        expect![[r#"
              start subscription p/s m created
              = deployed p v1
            > publish m - {"x": 1, "z": 2}
              p activating, activated
              s activating, activated, completing
              s.x = 1 created
              s.z = 2 created
              p.y = 2 created
              s completed
              t activating, activated
            > complete t
              t completing, completed
              p completing, completed
        "#]],
    );
}
