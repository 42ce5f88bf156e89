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
