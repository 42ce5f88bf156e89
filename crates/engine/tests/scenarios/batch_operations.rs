//! Batch operations.

use engine::Options;
use expect_test::{Expect, expect};

use crate::support::check_with;

const TASK: &str = "process order\nstart s\njob a type=t\nend e\ns -> a -> e";
const OTHER: &str = "process invoice\nstart s\njob b type=u\nend e\ns -> b -> e";
const RENAMED: &str = "process order\nstart s\njob c type=t\nend e\ns -> c -> e";
const CALL: &str = "process outer\nstart s\ncall c process=order\nend e\ns -> c -> e";

const DEPLOYED: &str = "given deploy task\ngiven deploy task@2\ngiven deploy other\ngiven deploy call";

/// Deploys all of these and runs a script that shows batch operations alone.
fn batch(script: &str, expected: Expect) {
    batch_with(Options::default(), script, expected);
}

fn batch_with(options: Options, script: &str, expected: Expect) {
    let script = format!("{DEPLOYED}\nshow batches\n{script}");
    let files = [("task", TASK), ("task@2", RENAMED), ("other", OTHER), ("call", CALL)];
    check_with(&files, options, &script, expected);
}

#[test]
fn instances_are_canceled() {
    batch(
        "create order v=1
         create invoice
         create outer
         create order v=2
         batch cancel id=order
         items B1
         batch cancel state=ACTIVE
         items B2",
        expect![[r#"
            > create order v=1
              = created order v1
            > create invoice
              = created invoice v1
            > create outer
              = created outer v1
            > create order v=2
              = created order v2
            > batch cancel id=order
              B1 finds 2
              B1 item completed
              B1 item completed
              B1 completed
              = B1 CANCEL_PROCESS_INSTANCE
            > items B1
              B1 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #5 COMPLETED
            > batch cancel state=ACTIVE
              B2 finds 2
              B2 item completed
              B2 item completed
              B2 completed
              = B2 CANCEL_PROCESS_INSTANCE
            > items B2
              B2 COMPLETED: 2 of 2 done, 0 failed
              - #2 COMPLETED
              - #3 COMPLETED
        "#]],
    );
}

#[test]
fn instances_are_migrated_and_what_does_not_fit_fails_alone() {
    batch(
        "create order v=1
         create invoice
         create outer
         create order v=1
         hide batches
         show batches elements
         batch migrate order v=2 a:c state=ACTIVE
         items B1
         batch cancel state=ACTIVE",
        expect![[r#"
            > create order v=1
              = created order v1
            > create invoice
              = created invoice v1
            > create outer
              = created outer v1
            > create order v=1
              = created order v1
            > batch migrate order v=2 a:c state=ACTIVE
              B1 finds 5
              order migrated
              a becomes c
              c migrated
              #1 migrated
              B1 item completed
              B1 item failed: Expected to migrate process instance '<key>', but mapping instructions contain non-existing source element ids 'a': they must exist in the source process definition.
              B1 item failed: Expected to migrate process instance '<key>', but mapping instructions contain non-existing source element ids 'a': they must exist in the source process definition.
              B1 item failed: Expected to migrate process instance '<key>', but mapping instructions contain non-existing source element ids 'a': they must exist in the source process definition.
              #5.order migrated
              #5.a becomes c
              #5.c migrated
              #5 migrated
              B1 item completed
              B1 completed
              = B1 MIGRATE_PROCESS_INSTANCE
            > items B1
              B1 COMPLETED: 2 of 5 done, 3 failed
              - #1 COMPLETED
              - #2 FAILED
              - #3 FAILED
              - #4 FAILED
              - #5 COMPLETED
            > batch cancel state=ACTIVE
              B2 finds 4
              order terminating
              B2 item completed
              #2.invoice terminating
              B2 item completed
              c terminating, terminated
              #3.outer terminating
              B2 item completed
              order terminated
              #2.b terminating, terminated
              #5.order terminating
              B2 item completed
              #2.invoice terminated
              #3.c terminating
              B2 completed
              #4.order terminating
              #5.c terminating, terminated
              #5.order terminated
              #4.c terminating, terminated
              #4.order terminated
              #3.c terminated
              #3.outer terminated
              = B2 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}

#[test]
fn incidents_are_resolved_and_jobs_get_a_retry() {
    batch(
        "create order v=1
         create order v=1
         create outer
         activate t max=3
         fail a@1
         fail a@2
         fail c
         show batches incidents jobs
         batch resolve version=1
         items B1
         activate t max=3
         resolve-all #3
         resolve-all #4
         items B2
         items B3
         resolve-all #9
         batch cancel state=ACTIVE",
        expect![[r#"
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > create outer
              = created outer v1
            > activate t max=3
              < job a retries 3 deadline 600000 variables {}
              < job #2.a retries 3 deadline 600000 variables {}
              < job #4.c retries 3 deadline 600000 variables {}
            > fail a@1
            > fail a@2
            > fail c
            > batch resolve version=1
              B1 finds 2
              job a retries updated retries 1
              incident a JOB_NO_RETRIES resolved
              B1 item completed
              job #2.a retries updated retries 1
              incident #2.a JOB_NO_RETRIES resolved
              B1 item completed
              B1 completed
              = B1 RESOLVE_INCIDENT
            > items B1
              B1 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
            > activate t max=3
              job a activated
              job #2.a activated
              < job a retries 1 deadline 600000 variables {}
              < job #2.a retries 1 deadline 600000 variables {}
            > resolve-all #3
              B2 finds 1
              job #4.c retries updated retries 1
              incident #4.c JOB_NO_RETRIES resolved
              B2 item completed
              B2 completed
              = B2 RESOLVE_INCIDENT
            > resolve-all #4
              B3 completed
              = B3 RESOLVE_INCIDENT
            > items B2
              B2 COMPLETED: 1 of 1 done, 0 failed
              - #4 COMPLETED
            > items B3
              B3 COMPLETED: 0 of 0 done, 0 failed
            > resolve-all #9
              = rejected NOT_FOUND: Expected to resolve incidents of process instance with key '1', but no such process instance was found
            > batch cancel state=ACTIVE
              B4 finds 3
              B4 item completed
              B4 item completed
              job a canceled
              B4 item completed
              job #2.a canceled
              B4 completed
              job #4.c canceled
              = B4 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}

#[test]
fn it_stands_still_while_suspended_and_leaves_the_rest_when_canceled() {
    let options = Options { max_steps_per_command: 1, ..Options::default() };
    batch_with(
        options,
        "create order v=1
         create order v=1
         create order v=1
         create order v=1
         create order v=1
         only batch cancel id=order
         find 4
         only suspend B1
         step 5
         items B1
         only suspend B1
         only resume B1
         only resume B1
         find 2
         step 3
         items B1
         only suspend B1
         only resume B1
         step 2
         only stop B1
         step 7
         items B1
         only stop B1
         only stop B9
         go on
         batch cancel id=order",
        expect![[r#"
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > only batch cancel id=order
              = B1 CANCEL_PROCESS_INSTANCE
            > find 4
              B1 finds 4
            > only suspend B1
              B1 suspended
            > step 5
            > items B1
              B1 SUSPENDED: 0 of 4 done, 0 failed
              - #1 ACTIVE
              - #2 ACTIVE
              - #3 ACTIVE
              - #4 ACTIVE
            > only suspend B1
              = rejected INVALID_STATE: Expected to suspend a batch operation with key '<key>', but it is in state 'SUSPENDED'
            > only resume B1
              B1 resumed
            > only resume B1
              = rejected INVALID_STATE: Expected to resume a batch operation with key '<key>', but it is in state 'CREATED'
            > find 2
              B1 finds 1
            > step 3
              B1 item completed
              B1 item completed
            > items B1
              B1 ACTIVE: 2 of 5 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
              - #3 ACTIVE
              - #4 ACTIVE
              - #5 ACTIVE
            > only suspend B1
              B1 suspended
            > only resume B1
              B1 resumed
            > step 2
            > only stop B1
              B1 canceled
            > step 7
              B1 item canceled
            > items B1
              B1 CANCELED: 2 of 5 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
              - #3 CANCELED
              - #4 CANCELED
              - #5 CANCELED
            > only stop B1
              = rejected INVALID_STATE: Expected to cancel a batch operation with key '<key>', but it is in state 'CANCELED'
            > only stop B9
              = rejected NOT_FOUND: Expected to cancel a batch operation with key '1', but no such batch operation was found
            > go on
            > batch cancel id=order
              B2 finds 3
              B2 item completed
              B2 item completed
              B2 item completed
              B2 completed
              = B2 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}

#[test]
fn an_item_that_is_gone_is_skipped() {
    let options = Options { max_steps_per_command: 1, ..Options::default() };
    batch_with(
        options,
        "create order v=1
         create order v=1
         only batch cancel id=order
         find 9
         only suspend B1
         cancel #2
         resume B1
         items B1",
        expect![[r#"
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > only batch cancel id=order
              = B1 CANCEL_PROCESS_INSTANCE
            > find 9
              B1 finds 2
            > only suspend B1
              B1 suspended
            > cancel #2
            > resume B1
              B1 resumed
              B1 item completed
              B1 item skipped: it has ended or been resolved meanwhile
              B1 completed
            > items B1
              B1 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 SKIPPED
        "#]],
    );
}

#[test]
fn an_instance_on_the_move_is_migrated_a_little_later() {
    let options = Options { max_steps_per_command: 1, ..Options::default() };
    batch_with(
        options,
        "only create order v=1
         only batch migrate order v=2 a:c id=order
         find 9
         go on
         items B1
         cancel #1",
        expect![[r#"
            > only create order v=1
              = created order v1
            > only batch migrate order v=2 a:c id=order
              = B1 MIGRATE_PROCESS_INSTANCE
            > find 9
              B1 finds 1
            > go on
              B1 item completed
              B1 completed
            > items B1
              B1 COMPLETED: 1 of 1 done, 0 failed
              - #1 COMPLETED
            > cancel #1
        "#]],
    );
}

#[test]
fn the_engine_failing_on_one_instance_spares_the_others() {
    let fault = Some((engine::FaultPoint::Activate, "x".into()));
    let options = Options { fault, ..Options::default() };
    let model = "process p\nstart s\njob a type==kind\nend e\ns -> a -> e";
    check_with(
        &[("p", model), ("p@2", "process p\nstart s\njob x type=t\nend e\ns -> x -> e")],
        options,
        "deploy p
         show batches errors incidents
         create p
         deploy p@2
         migrate #1 p v=2 a:x
         create p v=1
         batch resolve incident=true
         items B1
         batch cancel id=p
         items B2",
        expect![[r#"
              = deployed p v1
            > create p
              incident a EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
              = created p v1
            > deploy p@2
              = deployed p v2
            > migrate #1 p v=2 a:x
              incident x EXTRACT_VALUE_ERROR migrated
            > create p v=1
              incident #2.a EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
              = created p v1
            > batch resolve incident=true
              B1 finds 2
              incident x EXTRACT_VALUE_ERROR resolved
              B1 item completed
              error in #1: a fault of the test at 'x'
              incident #2.a EXTRACT_VALUE_ERROR resolved
              B1 item completed
              incident #2.a EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
              B1 completed
              banned #1: a fault of the test at 'x'
              = B1 RESOLVE_INCIDENT
            > items B1
              B1 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
            > batch cancel id=p
              B2 finds 2
              B2 item completed
              B2 item completed
              B2 completed
              incident #2.a EXTRACT_VALUE_ERROR resolved
              = B2 CANCEL_PROCESS_INSTANCE
            > items B2
              B2 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
        "#]],
    );
}

#[test]
fn old_ones_are_forgotten() {
    let options = Options { max_ended_batch_operations: 2, max_ended_batch_items: 3, ..Options::default() };
    batch_with(
        options,
        "create order v=1
         create order v=1
         batch migrate order v=1 a id=order
         batch migrate order v=1 a id=invoice
         batch migrate order v=1 a id=invoice
         items B1
         batch migrate order v=1 a id=order
         items B2
         items B3
         batch migrate order v=1 a id=order
         items B3
         items B4
         items B5
         batch cancel id=order",
        expect![[r#"
            > create order v=1
              = created order v1
            > create order v=1
              = created order v1
            > batch migrate order v=1 a id=order
              B1 finds 2
              B1 item completed
              B1 item completed
              B1 completed
              = B1 MIGRATE_PROCESS_INSTANCE
            > batch migrate order v=1 a id=invoice
              B2 completed
              = B2 MIGRATE_PROCESS_INSTANCE
            > batch migrate order v=1 a id=invoice
              B3 completed
              = B3 MIGRATE_PROCESS_INSTANCE
            > items B1
              forgotten
            > batch migrate order v=1 a id=order
              B4 finds 2
              B4 item completed
              B4 item completed
              B4 completed
              = B4 MIGRATE_PROCESS_INSTANCE
            > items B2
              forgotten
            > items B3
              B3 COMPLETED: 0 of 0 done, 0 failed
            > batch migrate order v=1 a id=order
              B5 finds 2
              B5 item completed
              B5 item completed
              B5 completed
              = B5 MIGRATE_PROCESS_INSTANCE
            > items B3
              forgotten
            > items B4
              forgotten
            > items B5
              B5 COMPLETED: 2 of 2 done, 0 failed
              - #1 COMPLETED
              - #2 COMPLETED
            > batch cancel id=order
              B6 finds 2
              B6 item completed
              B6 item completed
              B6 completed
              = B6 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}

#[test]
fn tokens_are_moved() {
    let model = "process p\nstart s\njob a type=t\njob b type=t\nend e\ns -> a -> b -> e";
    check_with(
        &[("p", model)],
        Options::default(),
        "deploy p
         create p
         create p
         activate t
         complete a@1
         show batches elements
         batch modify a>b id=p
         items B1
         batch cancel id=p",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_a
              a activating
              job a created type t retries 3
              a activated
              = created p v1
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              -- s_a
              #2.a activating
              job #2.a created type t retries 3
              #2.a activated
              = created p v1
            > activate t
              job a activated
              < job a retries 3 deadline 600000 variables {}
            > complete a@1
              job a completed
              a completing, completed
              -- a_b
              b activating
              job b created type t retries 3
              b activated
            > batch modify a>b id=p
              B1 finds 2
              B1 item failed: Expected to modify process instance with key '<key>', but it has no active instance of element 'a'
              #2.b activating
              #2 modified
              B1 item completed
              #2.b activated
              B1 completed
              #2.a terminating, terminated
              = B1 MODIFY_PROCESS_INSTANCE
            > items B1
              B1 COMPLETED: 1 of 2 done, 1 failed
              - #1 FAILED
              - #2 COMPLETED
            > batch cancel id=p
              B2 finds 2
              p terminating
              B2 item completed
              #2.p terminating
              B2 item completed
              b terminating, terminated
              B2 completed
              p terminated
              #2.b terminating, terminated
              #2.p terminated
              = B2 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}
