//! Deployments: versions, duplicates, all or nothing.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

const FILES: &[(&str, &str)] = &[
    (
        "a",
        "process a
           start s
           end e
           s -> e",
    ),
    (
        "a@2",
        "process a
             start s
             job t
             s -> t",
    ),
    (
        "b",
        "process b
           start s
           end e
           s -> e",
    ),
    (
        "copy-of-a",
        "process a
                   start s
                   end e
                   s -> e",
    ),
    (
        "two",
        "process one
             start s
             s -> e
             end e
             process two
             start s2
             s2 -> e2
             end e2",
    ),
    (
        "bad-timer",
        "process bad
                   start s timer=PT1S
                   s -> e
                   end e",
    ),
    (
        "bad-name",
        r#"process worse
                   start s message="=nothing"
                   s -> e
                   end e"#,
    ),
    (
        "unknown",
        "process u
                 start s
                 s -> missing",
    ),
];

#[test]
fn versions_count_up_and_the_same_again_is_no_version() {
    check_with(
        FILES,
        Options::default(),
        "show definitions
         deploy a
         deploy a
         deploy a@2
         deploy a@2 b
         deploy a
         deploy copy-of-a
         deploy two",
        expect![[r#"
            > deploy a
              process a v1 created
              = deployed a v1
            > deploy a
              = deployed a v1
            > deploy a@2
              process a v2 created
              = deployed a v2
            > deploy a@2 b
              process a v3 created
              process b v1 created
              = deployed a v3 b v1
            > deploy a
              process a v4 created
              = deployed a v4
            > deploy copy-of-a
              process a v5 created
              = deployed a v5
            > deploy two
              process one v1 created
              process two v1 created
              = deployed one v1 two v1
        "#]],
    );
}

#[test]
fn instances_are_created_of_the_latest_or_of_a_version() {
    check_with(
        FILES,
        Options::default(),
        "deploy a
         deploy a@2
         show elements
         create a v=1
         create a
         create a v=3
         create nothing
         complete t",
        expect![[r#"
              = deployed a v1
            > deploy a@2
              = deployed a v2
            > create a v=1
              a activating, activated
              s activating, activated, completing, completed
              e activating, activated, completing, completed
              a completing, completed
              = created a v1
            > create a
              #2.a activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
              = created a v2
            > create a v=3
              = rejected NOT_FOUND: Expected to find process definition with process ID 'a' and version '3', but none found
            > create nothing
              = rejected NOT_FOUND: Expected to find process definition with process ID 'nothing', but none found
            > complete t
              #2.t completing, completed
              #2.a completing, completed
        "#]],
    );
}

#[test]
fn a_deployment_happens_as_a_whole_or_not_at_all() {
    check_with(
        FILES,
        Options::default(),
        "show definitions
         deploy a bad-name
         deploy a unknown bad-timer
         deploy a a
         deploy a copy-of-a
         deploy
         deploy notes.txt
         deploy broken.bpmn
         create a
         deploy a",
        expect![[r#"
            > deploy a bad-name
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'bad-name.bpmn': Element: s - Expected result of the expression 'nothing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'nothing'
            > deploy a unknown bad-timer
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'unknown.bpmn': sequenceFlow 's_missing': targetRef refers to 'missing', which is not an element of the process|'bad-timer.bpmn': startEvent 's': a timer start event must have a date or a cycle
            > deploy a a
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'a.bpmn': the deployment has two resources of this name
            > deploy a copy-of-a
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|Duplicated process id 'a' in resources 'a.bpmn' and 'copy-of-a.bpmn'
            > deploy
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|Expected to deploy at least one resource, but none given
            > deploy notes.txt
              file notes.txt v1 created
              = deployed file:notes.txt v1
            > deploy broken.bpmn
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'broken.bpmn': malformed XML at line 1, column 12: there is text outside the root element
            > create a
              = rejected NOT_FOUND: Expected to find process definition with process ID 'a', but none found
            > deploy a
              process a v1 created
              = deployed a v1
        "#]],
    );
}

#[test]
fn definitions_survive_a_restart() {
    check_with(
        FILES,
        Options::default(),
        "deploy a@2
         show elements definitions
         create a
         reopen
         create a
         complete t@1
         reopen
         complete t@2
         deploy a@2",
        expect![[r#"
              = deployed a v1
            > create a
              a activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created a v1
            > reopen
            > create a
              #2.a activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating, activated
              = created a v1
            > complete t@1
              t completing, completed
              a completing, completed
            > reopen
            > complete t@2
              #2.t completing, completed
              #2.a completing, completed
            > deploy a@2
              = deployed a v1
        "#]],
    );
}
