//! Checks a cancellation, for any model and beside any other work: the instance and all its rows are gone within a
//! bound, and other instances are unharmed.
//!
//! The bound counts turns. A batch runs at least one left-over step, and up to
//! [`engine::Options::max_steps_per_command`] if the other limits of a command allow it. Owners of left-over steps
//! take turns, a step each. So an instance whose end takes a number of steps is gone after that many rounds of all
//! owners, which are as many batches at the very most.

use std::collections::BTreeSet;

use engine::entity::Phase;
use engine::user_task::row::UserTaskState;
use engine::{Effects, Engine};
use protocol::{Command, CompleteJob, Document, Intent, JobListenerEventType, Key, Record, RecordValue};

/// Most owners of left-over steps for which the bound is checked: with more, each round may begin with twice as many.
pub const OWNERS_MAX: u64 = 100;
/// Steps that end a row, including the steps of its scope and its slices.
const STEPS_PER_ROW: u64 = 4;
/// Minimum of the steps of an end.
const STEPS_AT_LEAST: u64 = 100;

/// A run in which something is cancelled.
pub trait Subject {
    /// The engine under test.
    fn engine(&self) -> &Engine;

    /// Applies a batch with this command only, and shows what it did.
    fn command(&mut self, command: Command, seen: &mut dyn FnMut(&Effects));
}

/// Owners of left-over steps, up to one more than [`OWNERS_MAX`].
pub fn owners(engine: &Engine) -> u64 {
    let rows = &engine.tables().pending_by_owner;
    let (mut count, mut from) = (0, 0);
    while count <= OWNERS_MAX {
        let Some(((owner, _), _)) = rows.first((from, 0)..).expect("readable") else { break };
        (count, from) = (count + 1, owner + 1);
    }
    count
}

/// Root instances, the oldest first, that are not ending yet and that a cancellation ends completely.
///
/// Excludes banned instances, and instances of which a cancelled user task or called process waits for listeners: a
/// worker may have failed these.
pub fn cancellable(engine: &Engine) -> Vec<Key> {
    let tables = engine.tables();
    let instances = tables.instances.scan(.., usize::MAX).expect("readable");
    let root_of = |key: &Key| tables.instances.get(key).expect("readable").map(|instance| instance.root_key);
    let banned = tables.banned.keys(.., usize::MAX).expect("readable");
    let tasks = tables.user_tasks.scan(.., usize::MAX).expect("readable");
    let canceling = tasks.iter().filter(|(_, task)| task.state == UserTaskState::Canceling);
    let canceling = canceling.map(|(_, task)| task.process_instance_key);
    let ending = instances.iter().map(|(key, _)| *key).filter(|key| is_ending(engine, *key));
    let left_out: BTreeSet<Key> =
        banned.into_iter().chain(canceling).chain(ending).filter_map(|key| root_of(&key)).collect();
    let roots = instances.iter().filter(|(_, instance)| instance.parent.is_none()).map(|(key, _)| *key);
    roots.filter(|key| !left_out.contains(key)).collect()
}

fn is_ending(engine: &Engine, key: Key) -> bool {
    let row = engine.tables().element_instances.get(&key).expect("readable");
    row.is_none_or(|row| row.phase == Phase::Terminating)
}

/// Cancels a root instance and checks the promises of [the module](self).
///
/// `others_last` says that nothing but a cancellation ends another root instance early: no modification, for example.
///
/// # Panics
///
/// If a promise is broken.
pub fn check_cancellation(subject: &mut impl Subject, root: Key, others_last: bool) {
    let before = Before::of(subject.engine(), root, others_last);
    let steps_before = subject.engine().counters().steps;
    let command = Command::CancelInstance { process_instance_key: root, operation_reference: None };
    before.apply(subject, command);
    let (mut batches, mut owners_most) = (0, owners(subject.engine()));
    while before.is_there(subject.engine()) {
        let ran = (subject.engine().counters().steps - steps_before).max(batches);
        owners_most = owners_most.max(owners(subject.engine()));
        if owners_most > OWNERS_MAX {
            return;
        }
        assert!(
            ran <= before.turns() * (owners_most + 1),
            "{root} is not gone after {ran} steps in {batches} batches among {owners_most} owners: {before:?}"
        );
        before.go_on(subject);
        batches += 1;
    }
    before.check_rows(subject.engine());
}

/// State before a cancellation.
#[derive(Debug)]
struct Before {
    root: Key,
    /// Element instances of the call hierarchy.
    elements: BTreeSet<Key>,
    /// Other rows; the end of each is a step or a part of one.
    rows: u64,
    /// Left-over steps of the call hierarchy.
    pending: u64,
    /// Root instances that go on.
    others: BTreeSet<Key>,
}

impl Before {
    fn of(engine: &Engine, root: Key, others_last: bool) -> Self {
        let tables = engine.tables();
        let instances = instances_of(engine, root);
        let elements = tables.element_instances.scan(.., usize::MAX).expect("readable").into_iter();
        let elements = elements.filter(|(_, row)| instances.contains(&row.process_instance_key));
        let elements: BTreeSet<Key> = elements.map(|(key, _)| key).collect();
        let compensations = tables.compensations.scan(.., usize::MAX).expect("readable").into_iter();
        let compensations = compensations.filter(|(_, row)| instances.contains(&row.process_instance_key));
        let pending = tables.pending_by_owner.keys((root, 0)..(root + 1, 0), usize::MAX).expect("readable");
        let others = if others_last { cancellable(engine) } else { Vec::new() };
        Self {
            root,
            elements,
            rows: compensations.count() as u64,
            pending: pending.len() as u64,
            others: others.into_iter().filter(|key| *key != root).collect(),
        }
    }

    /// Turns within which the instance is gone.
    fn turns(&self) -> u64 {
        STEPS_AT_LEAST + STEPS_PER_ROW * (self.elements.len() as u64 + self.rows + self.pending)
    }

    fn is_there(&self, engine: &Engine) -> bool {
        engine.tables().instances.contains(&self.root).expect("readable")
    }

    fn apply(&self, subject: &mut impl Subject, command: Command) {
        subject.command(command, &mut |effects| {
            let harmed = effects.records.iter().find(|record| self.is_harm(record));
            assert!(harmed.is_none(), "the cancellation of {} ended another: {harmed:?}", self.root);
        });
    }

    fn is_harm(&self, record: &Record) -> bool {
        matches!(record.value, RecordValue::ProcessInstance(_))
            && matches!(record.intent, Intent::ElementTerminating | Intent::ElementTerminated)
            && self.others.contains(&record.key)
    }

    /// Runs left-over steps, or completes the listeners of cancelled user tasks and processes, which the end waits for.
    fn go_on(&self, subject: &mut impl Subject) {
        let tables = subject.engine().tables();
        let mine = (self.root, 0)..(self.root + 1, 0);
        if !tables.pending_by_owner.keys(mine, 1).expect("readable").is_empty() {
            return self.apply(subject, Command::GO_ON);
        }
        let instances = instances_of(subject.engine(), self.root);
        let jobs = tables.jobs.scan(.., usize::MAX).expect("readable").into_iter();
        let mut canceling = jobs.filter(|(_, job)| {
            matches!(job.listener_event_type, JobListenerEventType::Canceling | JobListenerEventType::Cancel)
                && instances.contains(&job.process_instance_key)
        });
        let Some((job_key, _)) = canceling.next() else {
            panic!("{} is not gone, and nothing is left to do for it: {self:?}", self.root)
        };
        let complete = CompleteJob::of(job_key, Document::empty());
        self.apply(subject, Command::CompleteJob(complete));
    }

    /// Asserts that no row of an element instance outlives it.
    fn check_rows(&self, engine: &Engine) {
        let tables = engine.tables();
        let called = instances_of(engine, self.root);
        assert!(called.is_empty(), "instances that {} called outlive it: {called:?}", self.root);
        for &key in &self.elements {
            let owned = (key, 0)..(key + 1, 0);
            let left = [
                ("an element instance", tables.element_instances.contains(&key)),
                ("an incident", tables.incident_by_owner.contains(&key)),
                ("bytes of variables", tables.variable_bytes.contains(&key)),
                ("a loop", tables.loops.contains(&key)),
                ("a child", tables.children.keys(owned.clone(), 1).map(|rows| !rows.is_empty())),
                ("a timer", tables.timer_by_owner.keys(owned.clone(), 1).map(|rows| !rows.is_empty())),
                (
                    "a subscription",
                    tables.subscription_by_owner.keys(owned.clone(), 1).map(|rows| !rows.is_empty()),
                ),
                ("a signal", tables.signal_by_owner.keys(owned.clone(), 1).map(|rows| !rows.is_empty())),
                ("a condition", tables.condition_by_owner.keys(owned, 1).map(|rows| !rows.is_empty())),
            ];
            for (what, is_there) in left {
                assert!(!is_there.expect("readable"), "{what} of {key} outlives {}", self.root);
            }
        }
        let jobs = tables.jobs.scan(.., usize::MAX).expect("readable");
        let left = jobs.iter().find(|(_, job)| self.elements.contains(&job.element_instance_key));
        assert!(left.is_none(), "a job outlives {}: {left:?}", self.root);
    }
}

/// Instances of a call hierarchy.
fn instances_of(engine: &Engine, root: Key) -> BTreeSet<Key> {
    let instances = engine.tables().instances.scan(.., usize::MAX).expect("readable").into_iter();
    instances.filter(|(_, instance)| instance.root_key == root).map(|(key, _)| key).collect()
}
