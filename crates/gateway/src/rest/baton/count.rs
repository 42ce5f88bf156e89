//! `POST /baton/v1/process-instances/count`: how many instances pass a filter, exactly unless that takes too long.

use std::time::Duration;

use http::StatusCode;
use search::model::process_instance as instance;
use search::{Found, Search};
use tokio::time::{Instant, timeout_at};

use super::EXACT_MAX;
use super::rows::search;
use crate::rest::call::Call;
use crate::rest::limits::COUNT_MAX;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::filter_of;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// How long it is counted.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Each time it is counted this much further than before, so all that was counted in vain is little beside the last.
const FURTHER: u64 = 20;

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let filter = filter_of(call, &instance::ENTITY)?.and(call.visible_rows(&instance::ENTITY).await?);
    let storage = call.fresh_storage().await?;
    let counted = count(TIME_MAX, |count_up_to| {
        let one = search(&instance::ENTITY, filter.clone(), 1);
        storage.search(Search { count_up_to, columns: 1, ..one })
    });
    let counted = counted.await?;
    let mut out = Vec::with_capacity(64);
    object(&mut out).with("count", counted.count).with("isExact", counted.is_exact).end();
    Ok(Reply::json(out))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    count: u64,
    /// Whether there are no more.
    is_exact: bool,
}

/// Counts further and further until all is counted or the time is over.
async fn count<F>(time_max: Duration, search: impl Fn(u64) -> F) -> Result<Counted, Failure>
where
    F: Future<Output = Result<Found, Failure>>,
{
    let until = Instant::now() + time_max;
    let (mut counted, mut up_to) = (Counted::default(), COUNT_MAX);
    while !counted.is_exact && up_to <= EXACT_MAX {
        match timeout_at(until, search(up_to)).await {
            Ok(Ok(found)) => counted = Counted { count: found.total, is_exact: !found.has_more },
            Ok(Err(failure)) if failure.status() != StatusCode::GATEWAY_TIMEOUT => return Err(failure),
            Ok(Err(_)) | Err(_) => break,
        }
        up_to = up_to.saturating_mul(FURTHER);
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store with so many rows that counts some of them in a millisecond.
    async fn counted(rows: u64, rows_per_ms: u64) -> (Counted, u64) {
        let began = Instant::now();
        let counted = count(TIME_MAX, |up_to| async move {
            tokio::time::sleep(Duration::from_millis(rows.min(up_to) / rows_per_ms)).await;
            Ok(Found { total: rows.min(up_to), has_more: rows > up_to, rows: Vec::new() })
        });
        (counted.await.unwrap(), began.elapsed().as_millis() as u64)
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_counted_unless_the_time_is_over() {
        let exact = |count| Counted { count, is_exact: true };
        for rows in [0, 1, COUNT_MAX, COUNT_MAX + 1, 21_384, 1_000_000] {
            assert_eq!(counted(rows, 10_000).await.0, exact(rows));
        }
        let (found, took_ms) = counted(50_000_000, 10_000).await;
        assert_eq!(found, Counted { count: 4_000_000, is_exact: false });
        assert_eq!(took_ms, 2000);
        assert_eq!(counted(50_000_000, 1).await.0, Counted::default(), "nothing was counted in time");
    }

    #[tokio::test]
    async fn a_store_that_gives_up_leaves_what_was_counted() {
        let too_slow = count(TIME_MAX, |up_to| async move {
            match up_to {
                COUNT_MAX => Ok(Found { total: up_to, has_more: true, rows: Vec::new() }),
                _ => Err(Failure::too_slow(String::new())),
            }
        });
        assert_eq!(too_slow.await, Ok(Counted { count: COUNT_MAX, is_exact: false }));
        let away = count(TIME_MAX, |_| async { Err(Failure::storage_away()) });
        assert_eq!(away.await, Err(Failure::storage_away()));
    }
}
