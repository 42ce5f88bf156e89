//! `/baton/v1/job-types`: jobs by type, and who is there to work on them.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use protocol::Name;
use search::model::job;
use search::{Aggregate, EntityRef, Filter, Operand, Position, Search, Sort, Statistics, Test};

use crate::management::WorkerStatus;
use crate::rest::call::Call;
use crate::rest::limits::GROUPS_MAX;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, number};
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::{Moment, object};

/// Default number of types in a page.
const LIMIT_DEFAULT: u64 = 100;
/// States of jobs that have not ended, in order.
const LIVING: [&str; 7] =
    ["CREATED", "FAILED", "MIGRATED", "PRIORITY_UPDATED", "RETRIES_UPDATED", "TIMED_OUT", "TIMEOUT_UPDATED"];

/// Numbers of one type and tenant.
#[derive(Default)]
struct Figures {
    waiting: i64,
    in_flight: i64,
    failed: i64,
    timed_out: i64,
    oldest_ms: Option<i64>,
    streams: u32,
    polls: u32,
    free_places: u64,
}

fn text(text: &str) -> Operand {
    Operand::Text(Name::from(text))
}

fn living() -> Filter {
    let living = Test::In(LIVING.map(text).into());
    // The index has what is not completed.
    Filter::Column(job::STATE, living).and(Filter::Column(job::STATE, Test::NotEqual(text("COMPLETED"))))
}

fn is(state: &str) -> Filter {
    Filter::Column(job::STATE, Test::Equal(text(state)))
}

/// A worker has it.
fn in_flight(now_ms: i64) -> Filter {
    Filter::Column(job::DEADLINE, Test::Greater(Operand::Integer(now_ms)))
}

/// No worker has it, and one could.
fn waiting(now_ms: i64) -> Filter {
    let is_free = Filter::Any(vec![
        Filter::Column(job::DEADLINE, Test::Exists(false)),
        Filter::Column(job::DEADLINE, Test::LessOrEqual(Operand::Integer(now_ms))),
    ]);
    is_free.and(Filter::Column(job::RETRIES, Test::Greater(Operand::Integer(0))))
}

pub(super) async fn types(call: &Call<'_>) -> Result<Reply, Failure> {
    let after = call.query_parameter("after")?.unwrap_or_default();
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT) as usize;
    let (workers, now_ms) = (visible_workers(call).await?, call.now_ms());
    let among = call.visible_rows(&job::ENTITY).await?;
    let mut types = counted(call, &after, among.clone(), now_ms).await?;
    for worker in workers.iter().flatten().filter(|worker| worker.job_type > after) {
        for tenant_id in &worker.tenant_ids {
            let place = (Name::from(&*worker.job_type), Name::from(&**tenant_id));
            let figures = types.entry(place).or_default();
            *(if worker.is_stream { &mut figures.streams } else { &mut figures.polls }) += 1;
            figures.free_places += u64::from(worker.free_places);
        }
    }
    let mut types: Vec<_> = types.into_iter().take(limit).collect();
    let oldest = types.iter().map(|((job_type, tenant_id), figures)| {
        let among = among.clone();
        async move {
            if figures.waiting == 0 {
                Ok(None)
            } else {
                oldest(call, job_type, tenant_id, among, now_ms).await
            }
        }
    });
    let oldest = try_join_all(oldest).await?;
    for ((_, figures), oldest_ms) in types.iter_mut().zip(oldest) {
        figures.oldest_ms = oldest_ms;
    }
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("items", &types, |((job_type, tenant_id), figures), out| {
            object(out)
                .with("jobType", job_type)
                .with("tenantId", tenant_id)
                .with("waiting", figures.waiting)
                .with("inFlight", figures.in_flight)
                .with("failed", figures.failed)
                .with("timedOut", figures.timed_out)
                .with("oldestWaitingSince", figures.oldest_ms.map(Moment))
                .with("streams", figures.streams)
                .with("polls", figures.polls)
                .with("freePlaces", figures.free_places)
                .end();
        })
        .with("isPartial", workers.is_none())
        .end();
    Ok(Reply::json(out))
}

/// The jobs that have not ended, by type and tenant. Without secondary storage, they are not counted.
async fn counted(
    call: &Call<'_>,
    after: &str,
    among: Filter,
    now_ms: i64,
) -> Result<BTreeMap<(Name, Name), Figures>, Failure> {
    if call.storage().is_err() {
        return Ok(BTreeMap::new());
    }
    let behind = Filter::Column(job::TYPE, Test::Greater(text(after)));
    let no_retries = Filter::Column(job::RETRIES, Test::LessOrEqual(Operand::Integer(0)));
    let asked = Statistics {
        entity: EntityRef(&job::ENTITY),
        filter: living().and(behind).and(among),
        group_by: vec![job::TYPE, job::TENANT],
        aggregates: vec![
            Aggregate::Count(waiting(now_ms)),
            Aggregate::Count(in_flight(now_ms)),
            Aggregate::Count(is("FAILED").and(no_retries)),
            Aggregate::Count(is("TIMED_OUT")),
        ],
        limit: GROUPS_MAX,
    };
    let rows = statistics::ask(call, asked).await?;
    let figures = rows.into_iter().map(|row| {
        let name = |at: usize| row[at].text().cloned().unwrap_or_default();
        let figures = Figures {
            waiting: number(&row, 2),
            in_flight: number(&row, 3),
            failed: number(&row, 4),
            timed_out: number(&row, 5),
            ..Figures::default()
        };
        ((name(0), name(1)), figures)
    });
    Ok(figures.collect())
}

/// Since when the job waits that has waited for longest.
async fn oldest(
    call: &Call<'_>,
    job_type: &Name,
    tenant_id: &Name,
    among: Filter,
    now_ms: i64,
) -> Result<Option<i64>, Failure> {
    let of_type = Filter::Column(job::TYPE, Test::Equal(Operand::Text(job_type.clone())));
    let of_tenant = Filter::Column(job::TENANT, Test::Equal(Operand::Text(tenant_id.clone())));
    let search = Search {
        entity: EntityRef(&job::ENTITY),
        filter: living().and(of_type).and(of_tenant).and(waiting(now_ms)).and(among),
        sort: vec![Sort { column: job::CREATED, descending: false }],
        position: Position::Offset(0),
        limit: 1,
        count_up_to: 0,
        columns: 1 << job::CREATED,
        cut: None,
    };
    let found = call.storage()?.search(search).await?;
    Ok(found.rows.first().and_then(|row| row[job::CREATED as usize].integer()))
}

/// Workers that ask for jobs of tenants that may be known, with these tenants alone.
async fn visible_workers(call: &Call<'_>) -> Result<Option<Vec<WorkerStatus>>, Failure> {
    let Some(mut workers) = call.operations()?.workers() else { return Ok(None) };
    if let Some(sight) = ReadAuthorization::of(call).await? {
        for worker in &mut workers {
            worker.tenant_ids.retain(|tenant_id| sight.is_of_tenant(tenant_id));
        }
        workers.retain(|worker| !worker.tenant_ids.is_empty());
    }
    Ok(Some(workers))
}

pub(super) async fn workers(call: &Call<'_>) -> Result<Reply, Failure> {
    let workers = visible_workers(call).await?;
    let is_partial = workers.is_none();
    let mut grouped: BTreeMap<_, [u64; 3]> = BTreeMap::new();
    let of_type = |worker: &WorkerStatus| worker.job_type == call.parameter();
    for worker in workers.into_iter().flatten().filter(of_type) {
        let place = (worker.worker, worker.is_stream, worker.tenant_ids);
        let numbers = grouped.entry(place).or_default();
        numbers[0] += 1;
        numbers[1] += u64::from(worker.free_places);
        numbers[2] += u64::from(worker.holds);
    }
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("items", &grouped, |((worker, is_stream, tenant_ids), [count, free_places, holds]), out| {
            object(out)
                .with("worker", worker)
                .with("jobType", call.parameter())
                .with("kind", if *is_stream { "STREAM" } else { "POLL" })
                .with("count", count)
                .with("freePlaces", free_places)
                .with("holds", holds)
                .with("tenantIds", tenant_ids)
                .end();
        })
        .with("isPartial", is_partial)
        .end();
    Ok(Reply::json(out))
}
