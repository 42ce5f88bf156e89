//! Has secondary storage forget what somebody asked to delete, at once, and what is too old, now and then.

use std::time::{Duration, Instant, SystemTime};

use search::StoreError;
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

/// Sweeps until `stop`, while `may_sweep`: the store of several brokers has one that sweeps.
pub(super) fn keep<F: Fn() -> bool>(
    config: &Config,
    Cleaning { reader, cleaner }: Cleaning,
    may_sweep: F,
    stop: CancellationToken,
) -> impl Future<Output = ()> + use<F> {
    let section = &config.secondary_storage_retention;
    let sweeper = Sweeper::new(reader, cleaner, retention(config));
    run(sweeper, section.enabled.then_some(section.interval), may_sweep, stop)
}

async fn sweep(sweeper: &Sweeper, by_age: bool, reclaims: bool) -> Result<Swept, StoreError> {
    let packed = sweeper.pack().await?;
    if packed > 0 {
        tracing::debug!(rows = packed, "rows of what has ended are packed");
    }
    let deleted = sweeper.sweep_deleted().await?;
    let mut old = Swept::default();
    if by_age {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        old = sweeper.sweep(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)).await?;
    } else if reclaims {
        sweeper.reclaim().await?;
    }
    Ok(Swept { things: deleted.things + old.things, rows: deleted.rows + old.rows })
}

async fn run(
    sweeper: Sweeper,
    interval: Option<Duration>,
    may_sweep: impl Fn() -> bool,
    stop: CancellationToken,
) {
    let mut failing = false;
    let mut swept_at = Instant::now();
    let mut reclaimed_at = Instant::now();
    while stop.run_until_cancelled(tokio::time::sleep(DELETION_INTERVAL)).await.is_some() {
        if !may_sweep() {
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
        match stop.run_until_cancelled(sweep(&sweeper, by_age, reclaims)).await {
            None => return,
            Some(Ok(swept)) => {
                failing = false;
                if swept.rows > 0 {
                    tracing::debug!(things = swept.things, rows = swept.rows, "history is removed");
                }
            }
            Some(Err(error)) => {
                if !failing {
                    tracing::warn!(%error, "history cannot be packed or removed; it is tried again");
                }
                failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
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
            sweep(&sweeper, by_age, reclaims).await.unwrap();
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
