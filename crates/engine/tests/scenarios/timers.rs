//! Timers.

use expect_test::expect;

use crate::support::check;

#[test]
fn a_duration_is_waited_for() {
    check(
        "process p
         start s
         catch wait timer=PT10S
         end e
         s -> wait -> e",
        "show elements timers
         create p
         advance 9999ms
         advance 1ms",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              timer wait created due 10000
              wait activated
              = created p v1
            > advance 9999ms
            > advance 1ms
              timer wait triggered
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn dates_and_expressions() {
    check(
        r#"process p
           start s
           catch day date="=when"
           catch span timer="=duration(span)"
           catch past timer=-PT1S
           end e
           s -> day -> span -> past -> e"#,
        r#"show elements timers incidents
           create p {"when":"2026-01-01T00:00:05Z","span":"PT1M"}
           advance 5s
           advance 1m"#,
        expect![[r#"
              = deployed p v1
            > create p {"when":"2026-01-01T00:00:05Z","span":"PT1M"}
              p activating, activated
              s activating, activated, completing, completed
              day activating
              timer day created due 5000
              day activated
              = created p v1
            > advance 5s
              timer day triggered
              day completing, completed
              span activating
              timer span created due 65000
              span activated
            > advance 1m
              timer span triggered
              span completing, completed
              past activating
              timer past created due 64000
              past activated
              timer past triggered
              past completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn an_interrupting_boundary_timer_ends_its_task() {
    check(
        "process p
         start s
         job t
         boundary late on=t timer=PT5S
         end e
         end e2
         s -> t -> e
         late -> e2",
        "show elements jobs timers
         create p
         activate t
         advance 5s
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              timer late created due 5000
              job t created type t retries 3
              t activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {}
            > advance 5s
              timer late triggered
              t terminating
              job t canceled
              t terminated
              late activating, activated, completing, completed
              e2 activating, activated, completing, completed
              p completing, completed
            > complete t
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
        "#]],
    );
}

#[test]
fn a_boundary_timer_ends_with_its_task() {
    check(
        "process p
         start s
         job t
         boundary late on=t timer=PT5S
         end e
         s -> t -> e
         late -> e",
        "show elements timers
         create p
         complete t
         advance 5s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              timer late created due 5000
              t activated
              = created p v1
            > complete t
              t completing
              timer late canceled
              t completed
              e activating, activated, completing, completed
              p completing, completed
            > advance 5s
        "#]],
    );
}

#[test]
fn a_non_interrupting_cycle_fires_as_often_as_it_says() {
    check(
        "process p
         start s
         job t
         boundary tick on=t cycle=R3/PT10S interrupting=false
         job remind
         end e
         s -> t -> e
         tick -> remind",
        "show jobs timers
         create p
         advance 10s
         advance 25s
         advance 1h
         complete remind@1
         complete remind@2
         complete remind@3
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              timer tick created due 10000 repetitions 3
              job t created type t retries 3
              = created p v1
            > advance 10s
              timer tick triggered
              timer tick created due 20000 repetitions 2
              job remind created type remind retries 3
            > advance 25s
              timer tick triggered
              timer tick created due 35000
              job remind created type remind retries 3
              timer tick triggered
              job remind created type remind retries 3
            > advance 1h
            > complete remind@1
              job remind completed
            > complete remind@2
              job remind completed
            > complete remind@3
              job remind completed
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn an_endless_cycle_ends_with_its_task() {
    check(
        "process p
         start s
         job t
         boundary tick on=t cycle=R/PT10S interrupting=false
         end e
         end e2
         s -> t -> e
         tick -> e2",
        "show timers
         create p
         advance 10s
         advance 10s
         complete t
         advance 1h",
        expect![[r#"
              = deployed p v1
            > create p
              timer tick created due 10000 repetitions -1
              = created p v1
            > advance 10s
              timer tick triggered
              timer tick created due 20000 repetitions -1
            > advance 10s
              timer tick triggered
              timer tick created due 30000 repetitions -1
            > complete t
              timer tick canceled
            > advance 1h
        "#]],
    );
}

#[test]
fn a_timer_on_a_sub_process_ends_all_inside() {
    check(
        "process p
         start s
         sub inner {
         start s2
         job a
         job b
         boundary soon on=b timer=PT1M
         end e2
         s2 -> a -> e2
         s2 -> b -> e2
         soon -> e2
         }
         boundary late on=inner timer=PT5S
         end e
         s -> inner -> e
         late -> e",
        "show elements jobs timers
         create p
         advance 5s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating
              timer late created due 5000
              inner activated
              s2 activating, activated, completing, completed
              b activating
              timer soon created due 60000
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > advance 5s
              timer late triggered
              inner terminating
              b terminating
              job b canceled
              timer soon canceled
              b terminated
              a terminating
              job a canceled
              a terminated
              inner terminated
              late activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_timer_at_the_event_based_gateway() {
    check(
        "process p
         start s
         events choose
         catch slow timer=PT10S
         catch slower timer=PT20S
         end e
         end e2
         s -> choose -> slow -> e
         choose -> slower -> e2",
        "show elements flows timers
         create p
         advance 10s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_choose
              choose activating
              timer slower created due 20000
              timer slow created due 10000
              choose activated
              = created p v1
            > advance 10s
              timer slow triggered
              timer slower canceled
              choose completing, completed
              -- choose_slow
              slow activating, activated, completing, completed
              -- slow_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_start_timer_belongs_to_the_latest_version() {
    super::support::check_with(
        &[
            (
                "p",
                "process p
                   start s cycle=R/PT10S
                   end e
                   s -> e",
            ),
            (
                "p@2",
                "process p
                     start s cycle=R2/PT1M
                     end e
                     s -> e",
            ),
            (
                "p@3",
                "process p
                     start s
                     end e
                     s -> e",
            ),
        ],
        engine::Options::default(),
        "show timers elements definitions
         deploy p
         advance 10s
         deploy p
         deploy p@2
         advance 59s
         advance 1s
         advance 5m
         deploy p
         deploy p@3
         advance 5m",
        expect![[r#"
            > deploy p
              process p v1 created
              timer s created due 10000 repetitions -1
              = deployed p v1
            > advance 10s
              timer s triggered
              timer s created due 20000 repetitions -1
              p activating, activated
              s activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > deploy p
              = deployed p v1
            > deploy p@2
              process p v2 created
              timer s canceled
              timer s created due 70000 repetitions 2
              = deployed p v2
            > advance 59s
            > advance 1s
              timer s triggered
              timer s created due 130000
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
            > advance 5m
              timer s triggered
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.e activating, activated, completing, completed
              #3.p completing, completed
            > deploy p
              process p v3 created
              timer s created due 380000 repetitions -1
              = deployed p v3
            > deploy p@3
              process p v4 created
              timer s canceled
              = deployed p v4
            > advance 5m
        "#]],
    );
}

#[test]
fn a_start_date_fires_once() {
    check(
        "process p
         start s date=2026-01-01T00:00:30Z
         end e
         s -> e",
        "show timers elements
         advance 30s
         advance 1h",
        expect![[r#"
              timer s created due 30000
              = deployed p v1
            > advance 30s
              timer s triggered
              p activating, activated
              s activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > advance 1h
        "#]],
    );
}

#[test]
fn a_timer_that_cannot_be_read_is_an_incident() {
    check(
        r#"process p
           start s
           catch wait timer="=span"
           end e
           s -> wait -> e"#,
        r#"show elements timers incidents
           create p {"span":"soon"}
           set #1 {"span":"PT1S"}
           resolve wait
           advance 1s"#,
        expect![[r#"
              = deployed p v1
            > create p {"span":"soon"}
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              incident wait EXTRACT_VALUE_ERROR created: Invalid timer 'soon': 'soon' is not a duration such as PT1H30M or P1DT12H: it must start with P
              = created p v1
            > set #1 {"span":"PT1S"}
            > resolve wait
              incident wait EXTRACT_VALUE_ERROR resolved
              timer wait created due 1000
              wait activated
            > advance 1s
              timer wait triggered
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
