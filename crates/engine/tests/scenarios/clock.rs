//! The clock of the engine.

use expect_test::expect;

use crate::support::check;

const WAIT: &str = "process p
    start s
    catch wait timer=PT1M
    end e
    s -> wait -> e";

#[test]
fn a_pinned_clock_stands_still() {
    check(
        WAIT,
        "show timers elements
         create p
         pin 59s
         advance 5m
         pin 60s
         tick",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              timer wait created due 60000
              wait activated
              = created p v1
            > pin 59s
            > advance 5m
            > pin 60s
            > tick
              timer wait triggered
              wait completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_released_clock_shows_the_time_on_the_wall() {
    check(
        WAIT,
        "show timers elements
         pin 365d
         create p
         unpin
         create p
         advance 1m
         cancel #1",
        expect![[r#"
              = deployed p v1
            > pin 365d
            > create p
              p activating, activated
              s activating, activated, completing, completed
              wait activating
              timer wait created due 31536060000
              wait activated
              = created p v1
            > unpin
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.wait activating
              timer wait created due 60000
              #2.wait activated
              = created p v1
            > advance 1m
              timer wait triggered
              #2.wait completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
            > cancel #1
              p terminating
              wait terminating
              timer wait canceled
              wait terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_clock_that_is_moved_runs_on_or_stays_pinned() {
    check(
        WAIT,
        "show timers clock
         create p
         shift 59s
         advance 999ms
         advance 1ms
         create p
         pin 10m
         shift 59m
         tick
         unpin
         create p
         advance 1m",
        expect![[r#"
              = deployed p v1
            > create p
              timer wait created due 60000
              = created p v1
            > shift 59s
              clock resetted at 59000
            > advance 999ms
            > advance 1ms
              timer wait triggered
            > create p
              timer wait created due 120000
              = created p v1
            > pin 10m
              clock pinned at 600000
            > shift 59m
              clock pinned at 4140000
            > tick
              timer wait triggered
            > unpin
              clock resetted at 1000
            > create p
              timer wait created due 61000
              = created p v1
            > advance 1m
              timer wait triggered
        "#]],
    );
}
