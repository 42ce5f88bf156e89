//! Has secondary storage forget what is too old, now and then.

use std::time::{Duration, SystemTime};

use gateway::rest::Storage;
use secondary::{Cleaner, Retention, Sweeper};
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

/// Sweeps until `stop`; `None` if nothing is to be removed.
pub(super) fn keep(
    config: &Config,
    storage: &Storage,
    cleaner: Box<dyn Cleaner>,
    stop: CancellationToken,
) -> Option<impl Future<Output = ()> + use<>> {
    let section = &config.secondary_storage_retention;
    let sweeper = Sweeper::new(storage.reader.clone(), cleaner, retention(config));
    section.enabled.then(|| run(sweeper, section.interval, stop))
}

async fn run(sweeper: Sweeper, interval: Duration, stop: CancellationToken) {
    let mut failing = false;
    while stop.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        match stop.run_until_cancelled(sweeper.sweep(now_ms)).await {
            None => return,
            Some(Ok(swept)) => {
                failing = false;
                if swept.rows > 0 {
                    tracing::debug!(
                        things = swept.things,
                        rows = swept.rows,
                        "history that is too old is removed"
                    );
                }
            }
            Some(Err(error)) => {
                if !failing {
                    tracing::warn!(%error, "history that is too old cannot be removed; it is tried again");
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
