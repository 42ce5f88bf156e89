//! Has secondary storage forget what somebody asked to delete, at once, and what is too old, now and then.

use std::time::{Duration, Instant, SystemTime};

use gateway::rest::Storage;
use secondary::{Cleaner, Retention, StoreError, Sweeper, Swept};
use tokio_util::sync::CancellationToken;

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
        ],
        rules: section.rules.0.clone(),
    }
}

/// How often it looks for what somebody asked to delete.
const DELETION_INTERVAL: Duration = Duration::from_secs(1);

/// Sweeps until `stop`.
pub(super) fn keep(
    config: &Config,
    storage: &Storage,
    cleaner: Box<dyn Cleaner>,
    stop: CancellationToken,
) -> impl Future<Output = ()> + use<> {
    let section = &config.secondary_storage_retention;
    let sweeper = Sweeper::new(storage.reader(), cleaner, retention(config));
    run(sweeper, section.enabled.then_some(section.interval), stop)
}

async fn sweep(sweeper: &Sweeper, now_ms: i64, by_age: bool) -> Result<Swept, StoreError> {
    let deleted = sweeper.sweep_deleted().await?;
    let old = if by_age { sweeper.sweep(now_ms).await? } else { Swept::default() };
    Ok(Swept { things: deleted.things + old.things, rows: deleted.rows + old.rows })
}

async fn run(sweeper: Sweeper, interval: Option<Duration>, stop: CancellationToken) {
    let mut failing = false;
    let mut swept_at = Instant::now();
    while stop.run_until_cancelled(tokio::time::sleep(DELETION_INTERVAL)).await.is_some() {
        let by_age = interval.is_some_and(|interval| swept_at.elapsed() >= interval);
        if by_age {
            swept_at = Instant::now();
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        match stop.run_until_cancelled(sweep(&sweeper, now_ms, by_age)).await {
            None => return,
            Some(Ok(swept)) => {
                failing = false;
                if swept.rows > 0 {
                    tracing::debug!(things = swept.things, rows = swept.rows, "history is removed");
                }
            }
            Some(Err(error)) => {
                if !failing {
                    tracing::warn!(%error, "history cannot be removed; it is tried again");
                }
                failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use secondary::model::history::KINDS;

    use super::*;

    #[test]
    fn every_kind_has_an_age() {
        let retention = retention(&Config::default());
        for kind in KINDS {
            assert!(retention.ages.iter().any(|(name, _)| *name == kind.name), "{}", kind.name);
        }
    }
}
