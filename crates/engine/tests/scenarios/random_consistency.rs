//! Consistency of the rows of an engine, after any commands.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engine::entity::{Cancelling, JobState, JoinCheck, Phase};
use engine::user_task::row::UserTaskState;
use engine::{LARGE_BYTES, Tables};
use protocol::Key;

use crate::support::Harness;

/// The running count of the bytes of large variables must equal a new count, which includes the items and outputs in
/// the bodies of loops and the compensation data of completed scopes.
fn check_variable_bytes(harness: &Harness) {
    let tables = harness.engine().tables();
    let mut counted = BTreeMap::new();
    for ((scope_key, _), variable) in tables.variables.scan(.., usize::MAX).unwrap() {
        let bytes = variable.value.as_bytes().len();
        if bytes >= LARGE_BYTES {
            let scope = tables.element_instances.get(&scope_key).unwrap().expect("the scope of a variable");
            *counted.entry(scope.process_instance_key).or_insert(0) += bytes as u64;
        }
    }
    for (body_key, state) in tables.loops.scan(.., usize::MAX).unwrap() {
        let bytes = state.counted_bytes.unwrap_or_default();
        if bytes > 0 {
            let body = tables.element_instances.get(&body_key).unwrap().expect("the body of a loop");
            *counted.entry(body.process_instance_key).or_insert(0) += bytes;
        }
    }
    for (_, row) in tables.compensations.scan(.., usize::MAX).unwrap() {
        let values = row.variables.iter().map(|(_, value)| value.as_bytes().len());
        let bytes: usize = values.filter(|bytes| *bytes >= LARGE_BYTES).sum();
        if bytes > 0 {
            *counted.entry(row.process_instance_key).or_insert(0) += bytes as u64;
        }
    }
    let rows = tables.variable_bytes.scan(.., usize::MAX).unwrap();
    let rows: BTreeMap<_, _> = rows.into_iter().map(|(key, bytes)| (key, *bytes)).collect();
    assert_eq!(rows, counted, "bytes of variables");
}

/// Consistency of rows when no steps are left over.
pub fn check_consistency(harness: &Harness) {
    check_variable_bytes(harness);
    let tables = harness.engine().tables();
    if !tables.suspended.is_empty().unwrap() {
        // Steps and timers of suspended instances are set aside.
        return;
    }
    // Interruptions wait for the listeners of tasks and called processes that they cancel.
    let canceling = awaits_listeners(tables);
    tables
        .element_instances
        .visit(.., |key, row| {
            let children = tables.children.keys((*key, 0)..(*key + 1, 0), usize::MAX).unwrap();
            assert_eq!(children.len(), row.active_children as usize, "children of {key}: {row:?}");
            let mut tokens = 0;
            tables
                .join_tokens
                .visit((*key, 0, 0)..(*key + 1, 0, 0), |_, count| {
                    tokens += **count;
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(tokens, row.waiting_tokens, "tokens in {key}: {row:?}");
            let starts = row.phase == Phase::Activating && row.scope_key == 0;
            let goes_on = !row.interrupted && row.interrupting_event.is_none();
            assert!(
                canceling || goes_on && (starts || row.pending_event.is_none()),
                "unfinished business of {key}: {row:?}"
            );
            assert!(row.join_check != JoinCheck::Underway, "a look at joins that never came: {key}: {row:?}");
            // A scope under cancellation may wait for listeners of user tasks inside.
            let cancels = row.cancelling == Cancelling::Ending && row.active_children == 0;
            assert!(!cancels, "a cancellation that stopped: {key}: {row:?}");
            if let Some(job_key) = row.job_key {
                assert!(tables.jobs.contains(&job_key).unwrap(), "the job of {key}");
            }
            let waits = !tables.timer_by_owner.keys((*key, 0)..(*key + 1, 0), 1).unwrap().is_empty()
                || !tables.subscription_by_owner.keys((*key, 0)..(*key + 1, 0), 1).unwrap().is_empty()
                || !tables.signal_by_owner.keys((*key, 0)..(*key + 1, 0), 1).unwrap().is_empty()
                || !tables.condition_by_owner.keys((*key, 0)..(*key + 1, 0), 1).unwrap().is_empty();
            assert!(!waits || row.subscribed, "{key} waits for events unseen: {row:?}");
            ControlFlow::Continue(())
        })
        .unwrap();
    let triggered = tables.compensations.scan(.., usize::MAX).unwrap();
    for (thrower_key, _) in tables.compensation_by_thrower.keys(.., usize::MAX).unwrap() {
        // A modification may terminate the throw event while handlers run.
        let handlers_run = triggered.iter().any(|(_, row)| row.thrower_key == Some(thrower_key));
        assert!(
            handlers_run || tables.element_instances.contains(&thrower_key).unwrap(),
            "waits for handlers: {thrower_key}"
        );
    }
    for (handler_key, scope_key, key) in tables.compensation_by_handler.keys(.., usize::MAX).unwrap() {
        assert!(tables.element_instances.contains(&handler_key).unwrap(), "a handler: {handler_key}");
        assert!(
            tables.compensations.contains(&(scope_key, key)).unwrap(),
            "the compensation of {handler_key}"
        );
    }
    tables
        .jobs
        .visit(.., |key, job| {
            let (job_type, tenant) = (job.job_type.0.clone(), job.tenant_id.0.clone());
            let queued = match -i64::from(job.priority()) {
                0 => tables.job_queue.contains(&(job_type, tenant, *key)).unwrap(),
                rank => tables.job_queue_by_priority.contains(&(job_type, tenant, rank, *key)).unwrap(),
            };
            assert_eq!(queued, job.state == JobState::Activatable, "job {key}: {job:?}");
            let due = tables.job_due.contains(&(job.due_ms, *key)).unwrap();
            assert_eq!(
                due,
                matches!(job.state, JobState::Activated | JobState::Backoff),
                "job {key}: {job:?}"
            );
            let owner = tables
                .element_instances
                .get(&job.element_instance_key)
                .unwrap()
                .expect("the element of a job");
            assert_eq!(owner.job_key, Some(*key));
            ControlFlow::Continue(())
        })
        .unwrap();
    let rows =
        |name: &str| tables.row_counts().into_iter().find(|(table, _)| *table == name).expect("a table").1;
    assert_eq!(rows("timers"), rows("timer_due") + rows("timer_queue"), "each timer has one place");
    let mut queued = BTreeMap::<Key, u64>::new();
    for (round, due_ms, key) in tables.timer_queue.keys(.., usize::MAX).unwrap() {
        let timer = tables.timers.get(&key).unwrap().expect("a queued timer");
        let turn = timer.turn.expect("the turn of a queued timer");
        assert_eq!((turn.round, timer.due_ms), (round, due_ms), "timer {key}");
        *queued.entry(turn.owner).or_default() += 1;
    }
    let turns = tables.timer_turns.scan(.., usize::MAX).unwrap();
    let turns: BTreeMap<_, _> = turns.into_iter().map(|(owner, row)| (owner, row.queued)).collect();
    assert_eq!(queued, turns, "owners of queued timers");
    for (one, other) in [
        ("timers", "timer_by_owner"),
        ("subscriptions", "subscription_by_name"),
        ("subscriptions", "subscription_by_owner"),
        ("signal_subscriptions", "signal_by_name"),
        ("signal_subscriptions", "signal_by_owner"),
        ("condition_subscriptions", "condition_by_owner"),
        ("condition_subscriptions", "condition_by_instance"),
        ("messages", "message_due"),
        ("messages", "message_by_name"),
        ("incidents", "incident_by_owner"),
    ] {
        assert_eq!(rows(one), rows(other), "rows of {one} and {other}");
    }
}

/// Whether a user task that is cancelled or an instance that ends may wait for its listeners.
fn awaits_listeners(tables: &Tables) -> bool {
    let tasks = tables.user_tasks.scan(.., usize::MAX).unwrap();
    let instances = tables.instances.keys(.., usize::MAX).unwrap();
    let phase = |key| tables.element_instances.get(key).unwrap().map(|row| row.phase);
    tasks.iter().any(|(_, task)| task.state == UserTaskState::Canceling)
        || instances.iter().any(|key| phase(key) == Some(Phase::Terminating))
}
