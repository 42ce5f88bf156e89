//! Has secondary storage forget what somebody asked to delete, at once, and what is too old, now and then.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use broker::Node;
use gateway::management::{Component, ComponentState};
use parking_lot::Mutex;
use search::{EXPORTER_ID, Filling, Progress, StoreError, StoreState};
use secondary::{Retention, Sweeper, Swept};
use tokio_util::sync::CancellationToken;

use super::storage::Cleaning;
use crate::config::Config;

/// The ages and exceptions that are configured.
fn retention(config: &Config) -> Retention {
    let section = &config.secondary_storage_retention;
    Retention {
        ages: vec![
            ("process_instances", Some(section.process_instances)),
            ("decisions", Some(section.decisions)),
            ("batch_operations", Some(section.batch_operations)),
            ("audit_log", Some(section.audit_log)),
            ("usage_metrics", Some(section.usage_metrics)),
            ("job_metrics", Some(section.job_metrics)),
            ("durations", Some(section.durations)),
        ],
        rules: section.rules.0.clone(),
    }
}

/// How often it looks for what somebody asked to delete.
const DELETION_INTERVAL: Duration = Duration::from_secs(1);

/// How often the room of what was deleted is given back if nothing goes by age.
const RECLAIM_INTERVAL: Duration = Duration::from_mins(10);

/// A step stands still once it has failed in so many rounds, one after the other: a store that is about to be
/// created, or away for a moment, is no trouble.
const ROUNDS_BEFORE_TOLD: u32 = 5;

/// How maintenance of the history gets on, for those who look at the health of the broker.
#[derive(Default)]
pub(super) struct Maintenance(Mutex<MaintenanceState>);

#[derive(Default)]
struct MaintenanceState {
    /// Steps that fail now, and why.
    failing: Vec<String>,
    /// Rounds in a row in which some step failed.
    failed_rounds: u32,
    /// Things that cannot be packed, the latest of them with the reason.
    set_aside: usize,
    latest: Option<String>,
}

impl Maintenance {
    /// The steps that stand still, for people; `None` if none does.
    pub(super) fn trouble(&self) -> Option<String> {
        let state = self.0.lock();
        let mut told = state.failing.clone();
        if let Some(latest) = &state.latest {
            told.push(format!(
                "{} trees of ended instances cannot be packed, such as {latest}",
                state.set_aside
            ));
        }
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Takes over the outcome of a round; tells what is new in it.
    fn note(&self, round: Round) {
        let mut state = self.0.lock();
        for thing in round.set_aside {
            tracing::error!(
                reason = thing,
                "ended instances stay unpacked; the rest of the history is maintained"
            );
            state.set_aside += 1;
            state.latest = Some(thing);
        }
        state.failed_rounds =
            if round.failures.is_empty() { 0 } else { state.failed_rounds.saturating_add(1) };
        let is_told = state.failed_rounds >= ROUNDS_BEFORE_TOLD;
        let failing: Vec<_> = round
            .failures
            .iter()
            .map(|(step, error)| format!("{step} stands still: {error}"))
            .filter(|_| is_told)
            .collect();
        if !failing.is_empty() && state.failing.is_empty() {
            tracing::warn!(reason = failing.join("; "), "history is not maintained; it is tried again");
        }
        state.failing = failing;
        Sweeper::publish(state.failing.len(), state.set_aside);
    }
}

/// The store as it is maintained, and how that gets on.
pub(super) struct Upkeep {
    pub cleaning: Cleaning,
    pub maintenance: Arc<Maintenance>,
}

/// The history as the operators of this broker see it.
#[derive(Clone, Default)]
pub(super) struct History {
    pub maintenance: Arc<Maintenance>,
    /// Of the store that this broker feeds.
    pub progress: Option<Arc<Progress>>,
}

impl History {
    /// The troubles of the history. A copy that is on its way keeps the broker from being ready: whoever replaces disks
    /// one after the other waits for it.
    pub(super) fn components(&self, broker: &Node) -> Vec<Component> {
        let component = |name: &str, state, detail| Component { name: name.to_owned(), state, detail };
        let maintenance = self.maintenance.trouble();
        let mut components: Vec<_> = maintenance
            .map(|detail| component("history-maintenance", ComponentState::Degraded, detail))
            .into_iter()
            .collect();
        let Some(progress) = &self.progress else { return components };
        let wholeness = &progress.wholeness;
        let state = match wholeness.state() {
            StoreState::UnderWay(_) => ComponentState::Unhealthy,
            StoreState::Unknown | StoreState::Whole | StoreState::Lost(_) => ComponentState::Degraded,
        };
        let mut told: Vec<_> = wholeness.lacking().into_iter().collect();
        if matches!(wholeness.state(), StoreState::Lost(_)) {
            told.push(format!("{WAY_OUT} at this broker"));
        }
        for gap in wholeness.gaps().iter().filter(|gap| !gap.is_accepted) {
            let (after, upto) = (gap.after, gap.upto);
            told.push(format!("records after position {after} up to {upto} are missing for good; {WAY_OUT}"));
        }
        if broker.has_last_copy() {
            told.push(
                "this broker has the last whole copy of the history: do not remove its disk".to_owned(),
            );
        }
        if !told.is_empty() {
            components.push(component("history", state, told.join("; ")));
        }
        components
    }

    /// Has the history go on without what is missing, with what there is now. An error is the reason why not.
    pub(super) fn begin(&self, broker: &Node) -> Result<(), String> {
        let progress = self.progress.as_ref().ok_or("this broker has no copy of the history")?;
        if !progress.wholeness.is_incomplete() {
            return Err("nothing is missing in the history".to_owned());
        }
        let exports = broker.exports().ok_or("this broker has no exporters")?;
        let (position, records) = broker.describe()?;
        progress.wholeness.begin(Filling { position, records });
        exports.reopen(EXPORTER_ID);
        Ok(())
    }
}

/// The way to go on.
const WAY_OUT: &str = "`baton history begin` goes on without them";

/// Sweeps until `stop`, while `may_sweep`: the store of several brokers has one that sweeps.
pub(super) fn keep<F: Fn() -> bool>(
    config: &Config,
    Upkeep { cleaning: Cleaning { reader, cleaner }, maintenance }: Upkeep,
    may_sweep: F,
    stop: CancellationToken,
) -> impl Future<Output = ()> + use<F> {
    let section = &config.secondary_storage_retention;
    let sweeper = Sweeper::new(reader, cleaner, retention(config));
    run(sweeper, section.enabled.then_some(section.interval), may_sweep, maintenance, stop)
}

/// The outcome of one round.
#[derive(Default)]
struct Round {
    swept: Swept,
    set_aside: Vec<String>,
    /// Steps that failed. None of them keeps another from its turn.
    failures: Vec<(&'static str, StoreError)>,
}

impl Round {
    fn take<T: Default>(&mut self, step: &'static str, done: Result<T, StoreError>) -> T {
        done.unwrap_or_else(|error| {
            self.failures.push((step, error));
            T::default()
        })
    }
}

async fn sweep(sweeper: &Sweeper, by_age: bool, reclaims: bool) -> Round {
    let mut round = Round::default();
    let packed = round.take("packing", sweeper.pack().await);
    if packed.rows > 0 {
        tracing::debug!(rows = packed.rows, "rows of what has ended are packed");
    }
    round.set_aside = packed.set_aside;
    let deleted = round.take("deletion", sweeper.sweep_deleted().await);
    let mut old = Swept::default();
    if by_age {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        old = round.take("retention", sweeper.sweep(now).await);
    } else if reclaims {
        round.take("giving back room", sweeper.reclaim().await);
    }
    round.swept = Swept { things: deleted.things + old.things, rows: deleted.rows + old.rows };
    round
}

async fn run(
    sweeper: Sweeper,
    interval: Option<Duration>,
    may_sweep: impl Fn() -> bool,
    maintenance: Arc<Maintenance>,
    stop: CancellationToken,
) {
    let mut swept_at = Instant::now();
    let mut reclaimed_at = Instant::now();
    while stop.run_until_cancelled(tokio::time::sleep(DELETION_INTERVAL)).await.is_some() {
        if !may_sweep() {
            maintenance.note(Round::default());
            continue;
        }
        let by_age = interval.is_some_and(|interval| swept_at.elapsed() >= interval);
        if by_age {
            swept_at = Instant::now();
        }
        let reclaims = interval.is_none() && reclaimed_at.elapsed() >= RECLAIM_INTERVAL;
        if reclaims {
            reclaimed_at = Instant::now();
        }
        let Some(round) = stop.run_until_cancelled(sweep(&sweeper, by_age, reclaims)).await else { return };
        if round.swept.rows > 0 {
            tracing::debug!(things = round.swept.things, rows = round.swept.rows, "history is removed");
        }
        maintenance.note(round);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use protocol::PartitionId;
    use search::model::{ColumnId, Entity};
    use search::{Found, Reader, Row, Search, Statistics, Value};
    use secondary::{Cleaner, KINDS};

    use super::*;

    /// A store with nothing in it; counts how often room is given back.
    #[derive(Clone, Default)]
    struct Empty(Arc<AtomicU32>);

    impl Reader for Empty {
        fn search(&self, _: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
            async { Ok(Found::default()) }.boxed()
        }

        fn statistics(&self, _: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
            async { Ok(Vec::new()) }.boxed()
        }

        fn position(&self, _: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
            async { Ok(0) }.boxed()
        }
    }

    impl Cleaner for Empty {
        fn open(&mut self) -> Result<(), StoreError> {
            Ok(())
        }

        fn remove(
            &mut self,
            _: &'static Entity,
            _: ColumnId,
            _: &[Value],
            _: u32,
        ) -> Result<u64, StoreError> {
            Ok(0)
        }

        fn reclaim(&mut self) -> Result<bool, StoreError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(false)
        }
    }

    #[tokio::test]
    async fn room_is_given_back_without_ages_too() {
        let store = Empty::default();
        let sweeper =
            Sweeper::new(Arc::new(store.clone()), Box::new(store.clone()), retention(&Config::default()));
        let mut counts = Vec::new();
        for (by_age, reclaims) in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(sweep(&sweeper, by_age, reclaims).await.failures.is_empty());
            counts.push(store.0.swap(0, Ordering::Relaxed));
        }
        assert_eq!(counts, [0, 1, 1, 1]);
    }

    #[test]
    fn every_kind_has_an_age() {
        let retention = retention(&Config::default());
        for kind in KINDS {
            assert!(retention.ages.iter().any(|(name, _)| *name == kind.name), "{}", kind.name);
        }
    }
}
