//! Deleting process definitions.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

const FILES: &[(&str, &str)] = &[
    (
        "p",
        "process p
           start s
           start timed cycle=R/PT1H
           job t
           s -> t
           timed -> t",
    ),
    (
        "p@2",
        "process p
             start s
             start heard message=m
             job t2
             s -> t2
             heard -> t2",
    ),
];

#[test]
fn an_unused_definition_is_gone_at_once() {
    check_with(
        FILES,
        Options::default(),
        "show definitions timers
         deploy p
         delete p v=1
         delete p v=1
         create p
         deploy p",
        expect![[r#"
            > deploy p
              process p v1 created
              timer timed created due 3600000 repetitions -1
              = deployed p v1
            > delete p v=1
              resource deleting
              timer timed canceled
              process p v1 deleting
              process p v1 deleted
              resource deleted
            > delete p v=1
              = rejected NOT_FOUND: Expected to delete resource but no resource found with key `<key>`
            > create p
              = rejected NOT_FOUND: Expected to find process definition with process ID 'p', but none found
            > deploy p
              process p v2 created
              timer timed created due 3600000 repetitions -1
              = deployed p v2
            left: timers 1, timer_due 1, timer_by_owner 1
        "#]],
    );
}

#[test]
fn a_definition_in_use_drains() {
    check_with(
        FILES,
        Options::default(),
        "show definitions elements
         deploy p
         create p
         create p
         delete p v=1
         create p
         reopen
         complete t@1
         complete t@2",
        expect![[r#"
            > deploy p
              process p v1 created
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
              = created p v1
            > delete p v=1
              resource deleting
              process p v1 deleting
              resource deleted
            > create p
              = rejected NOT_FOUND: Expected to find process definition with process ID 'p', but none found
            > reopen
            > complete t@1
              t completing, completed
              p completing, completed
            > complete t@2
              #2.t completing, completed
              #2.p completing, completed
              process p v1 deleted
        "#]],
    );
}

#[test]
fn the_version_before_takes_over_the_start_events() {
    check_with(
        FILES,
        Options::default(),
        "show definitions timers subscriptions elements
         deploy p
         deploy p@2
         delete p v=2
         publish m -
         advance 1h
         delete p v=1
         complete t
         advance 2h",
        expect![[r#"
            > deploy p
              process p v1 created
              timer timed created due 3600000 repetitions -1
              = deployed p v1
            > deploy p@2
              process p v2 created
              timer timed canceled
              start subscription p/heard m created
              = deployed p v2
            > delete p v=2
              resource deleting
              start subscription p/heard m deleted
              process p v2 deleting
              timer timed created due 3600000 repetitions -1
              process p v2 deleted
              resource deleted
            > publish m -
            > advance 1h
              timer timed triggered
              timer timed created due 7200000 repetitions -1
              p activating, activated
              timed activating, activated, completing, completed
              t activating, activated
            > delete p v=1
              resource deleting
              timer timed canceled
              process p v1 deleting
              resource deleted
            > complete t
              t completing, completed
              p completing, completed
              process p v1 deleted
            > advance 2h
        "#]],
    );
}

#[test]
fn an_older_version_goes_quietly() {
    check_with(
        FILES,
        Options::default(),
        "show definitions timers subscriptions
         deploy p
         deploy p@2
         delete p v=1
         publish m -
         complete t2
         delete p v=2",
        expect![[r#"
            > deploy p
              process p v1 created
              timer timed created due 3600000 repetitions -1
              = deployed p v1
            > deploy p@2
              process p v2 created
              timer timed canceled
              start subscription p/heard m created
              = deployed p v2
            > delete p v=1
              resource deleting
              process p v1 deleting
              process p v1 deleted
              resource deleted
            > publish m -
              start subscription p/heard m correlated
            > complete t2
            > delete p v=2
              resource deleting
              start subscription p/heard m deleted
              process p v2 deleting
              process p v2 deleted
              resource deleted
        "#]],
    );
}
