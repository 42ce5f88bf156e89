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

/// A parent, two versions of its child, and a parent that calls by version tag.
const CALLS: &[(&str, &str)] = &[
    (
        "parent",
        "process parent
           start s
           call c process=child
           end e
           s -> c -> e",
    ),
    (
        "child",
        "process child
           start s2
           job one type=t
           end e2
           s2 -> one -> e2",
    ),
    (
        "child@2",
        "process child
           start s2
           job two type=t
           end e2
           s2 -> two -> e2",
    ),
];

#[test]
fn calls_find_no_draining_definition() {
    check_with(
        CALLS,
        Options::default(),
        "show elements definitions incidents
         deploy parent child
         deploy child@2
         create parent
         delete child v=2
         create parent
         create child v=2
         complete two
         complete one
         delete child v=1
         create parent
         modify #5 +c
         delete parent v=1
         create parent
         deploy child
         resolve c
         complete one
         cancel #5
         deploy parent",
        expect![[r#"
            > deploy parent child
              process parent v1 created
              process child v1 created
              = deployed parent v1 child v1
            > deploy child@2
              process child v2 created
              = deployed child v2
            > create parent
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              #2.child activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.two activating, activated
              = created parent v1
            > delete child v=2
              resource deleting
              process child v2 deleting
              resource deleted
            > create parent
              #3.parent activating, activated
              #3.s activating, activated, completing, completed
              #3.c activating
              #4.child activating, activated
              #3.c activated
              #4.s2 activating, activated, completing, completed
              #4.one activating, activated
              = created parent v1
            > create child v=2
              = rejected NOT_FOUND: Expected to find process definition with process ID 'child' and version '2', but none found
            > complete two
              #2.two completing, completed
              #2.e2 activating, activated, completing, completed
              #2.child completing, completed
              process child v2 deleted
              c completing, completed
              e activating, activated, completing, completed
              parent completing, completed
            > complete one
              #4.one completing, completed
              #4.e2 activating, activated, completing, completed
              #4.child completing, completed
              #3.c completing, completed
              #3.e activating, activated, completing, completed
              #3.parent completing, completed
            > delete child v=1
              resource deleting
              process child v1 deleting
              process child v1 deleted
              resource deleted
            > create parent
              #5.parent activating, activated
              #5.s activating, activated, completing, completed
              #5.c activating
              incident #5.c CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' to be deployed, but not found.
              = created parent v1
            > modify #5 +c
              #5.c activating
              #5 modified
              incident #5.c CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' to be deployed, but not found.
            > delete parent v=1
              resource deleting
              process parent v1 deleting
              resource deleted
            > create parent
              = rejected NOT_FOUND: Expected to find process definition with process ID 'parent', but none found
            > deploy child
              process child v3 created
              = deployed child v3
            > resolve c
              incident #5.c CALLED_ELEMENT_ERROR resolved
              #6.child activating, activated
              #5.c activated
              #6.s2 activating, activated, completing, completed
              #6.one activating, activated
            > complete one
              #6.one completing, completed
              #6.e2 activating, activated, completing, completed
              #6.child completing, completed
              #5.c completing, completed
              #5.e activating, activated, completing, completed
            > cancel #5
              #5.parent terminating
              #5.c terminating
              incident #5.c CALLED_ELEMENT_ERROR resolved
              #5.c terminated
              #5.parent terminated
              process parent v1 deleted
            > deploy parent
              process parent v2 created
              = deployed parent v2
        "#]],
    );
}

#[test]
fn a_draining_definition_goes_with_the_last_instance_that_is_modified_away() {
    check_with(
        CALLS,
        Options::default(),
        "show elements definitions
         deploy child
         create child
         create child
         delete child v=1
         modify #1 -one
         modify #2 +one
         modify #2 -one",
        expect![[r#"
            > deploy child
              process child v1 created
              = deployed child v1
            > create child
              child activating, activated
              s2 activating, activated, completing, completed
              one activating, activated
              = created child v1
            > create child
              #2.child activating, activated
              #2.s2 activating, activated, completing, completed
              #2.one activating, activated
              = created child v1
            > delete child v=1
              resource deleting
              process child v1 deleting
              resource deleted
            > modify #1 -one
              #1 modified
              one terminating, terminated
              child terminating, terminated
            > modify #2 +one
              #2.one activating
              #2 modified
              #2.one activated
            > modify #2 -one
              #2 modified
              #2.one terminating, terminated
              #2.one terminating, terminated
              #2.child terminating, terminated
              process child v1 deleted
        "#]],
    );
}

#[test]
fn the_history_of_what_has_ended_is_deleted_and_of_nothing_else() {
    crate::support::check(
        "process p
            start s
            catch wait timer=PT1M
            end e
            s -> wait -> e",
        "show history
         create p
         forget #1
         cancel #1
         forget #1",
        expect![[r#"
              = deployed p v1
            > create p
              = created p v1
            > forget #1
              = rejected INVALID_STATE: Expected to delete history of process instance with key '<key>', but it is still active
            > cancel #1
            > forget #1
              PROCESS_INSTANCE deleted
        "#]],
    );
}
