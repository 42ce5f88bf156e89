//! Finds the items of batch operations in secondary storage, page by page, and hands them to the engine.
//!
//! The engine keeps the filter and how far the search is, so it goes on where it was after a restart. What the items are is
//! settled at the creation: whatever has a higher key than the batch operation came later.

use std::sync::Arc;
use std::time::Duration;

use broker::api::SubmitError;
use protocol::{
    AddBatchItems, BatchOperationItem, BatchOperationType, BatchSearch, Command, FIRST_PARTITION, Name,
    Operand, Query, QueryReply, Test,
};
use secondary::model::{incident, process_instance as instance};
use secondary::{EntityRef, Filter, Position, Related, Row, Search};
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::problem::Failure;
use super::query;
use super::{Gateway, Storage};

/// Items of one command.
const PAGE: u32 = 1000;
/// How often a page is asked for before the batch operation fails.
const ATTEMPTS_MAX: u32 = 6;
/// The pause after the first failure; it doubles with each.
const PAUSE: Duration = Duration::from_millis(500);

/// Tells of new batch operations.
#[derive(Default)]
pub(super) struct BatchSearches(Notify);

impl BatchSearches {
    /// There is one more.
    pub(super) fn wake(&self) {
        self.0.notify_one();
    }
}

/// Why a search does not go on now.
enum Trouble {
    /// Secondary storage does not answer.
    Storage(Failure),
    /// The broker does not.
    Broker(SubmitError),
}

/// Works on searches until `stop`.
pub(super) async fn run(gateway: Arc<Gateway>, stop: CancellationToken) {
    let Some(storage) = gateway.options.storage.clone() else { return };
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = work_on_all(&gateway, &storage) => {}
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = gateway.batch_searches.0.notified() => {}
        }
    }
}

/// Brings all searches to their end that there are.
async fn work_on_all(gateway: &Gateway, storage: &Storage) {
    loop {
        match gateway.broker.read(Query::BatchSearches).await {
            Ok(QueryReply::BatchSearches(searches)) if searches.is_empty() => return,
            Ok(QueryReply::BatchSearches(searches)) => {
                for search in searches {
                    work_on(gateway, storage, search).await;
                }
            }
            Ok(_) => return,
            // There may be no leader yet.
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Brings one search to its end.
pub(super) async fn work_on(gateway: &Gateway, storage: &Storage, mut search: BatchSearch) {
    // What is not there yet in time is as if it had come later.
    storage.progress.wait(FIRST_PARTITION, search.position, storage.wait_max).await;
    let mut failures = 0;
    loop {
        match hand_over(gateway, storage, &mut search).await {
            Ok(false) => failures = 0,
            // All are handed over; or it has ended, or is gone.
            Ok(true) | Err(Trouble::Broker(SubmitError::Rejected(_))) => return,
            Err(trouble) => {
                failures = (failures + 1).min(ATTEMPTS_MAX);
                if let (Trouble::Storage(failure), ATTEMPTS_MAX) = (trouble, failures) {
                    let add = AddBatchItems {
                        batch_operation_key: search.key,
                        items: Vec::new(),
                        is_last: true,
                        error: Some(Name::from(&*failure.detail)),
                    };
                    if gateway.broker.submit(Command::AddBatchItems(add)).await.is_ok() {
                        return;
                    }
                }
                sleep(PAUSE * 2_u32.pow(failures)).await;
            }
        }
    }
}

/// Hands over the next page. True if it is the last one.
async fn hand_over(gateway: &Gateway, storage: &Storage, search: &mut BatchSearch) -> Result<bool, Trouble> {
    let question = question(search).map_err(Trouble::Storage)?;
    let found = storage.reader.search(question).await;
    let rows = found.map_err(|error| Trouble::Storage(Failure::storage(&error)))?.rows;
    let is_last = rows.len() < PAGE as usize;
    let items: Vec<_> = rows.iter().map(|row| item(search.kind, row)).collect();
    let up_to = items.last().map_or(search.found_up_to, |last| last.item_key);
    let add = AddBatchItems { batch_operation_key: search.key, items, is_last, error: None };
    gateway.broker.submit(Command::AddBatchItems(add)).await.map_err(Trouble::Broker)?;
    search.found_up_to = up_to;
    Ok(is_last)
}

fn item(kind: BatchOperationType, row: &Row) -> BatchOperationItem {
    let key = |column: u8| row[column as usize].integer().unwrap_or_default().cast_unsigned();
    let (process_instance, root) = match kind {
        BatchOperationType::ResolveIncident => (incident::INSTANCE_KEY, incident::ROOT_INSTANCE_KEY),
        _ => (instance::KEY, instance::ROOT_INSTANCE_KEY),
    };
    BatchOperationItem {
        item_key: key(0),
        process_instance_key: key(process_instance),
        root_process_instance_key: key(root),
    }
}

/// The next page: running instances, or open incidents of instances, that pass the filter.
fn question(search: &BatchSearch) -> Result<Search, Failure> {
    let wanted = query::instances(&search.filter)?;
    let is = |column, text: &str| Filter::Column(column, Test::Equal(Operand::Text(Name::from(text))));
    let number = |key: u64| Operand::Integer(key.cast_signed());
    let (entity, filter, columns) = match search.kind {
        BatchOperationType::ResolveIncident => {
            let instances = Filter::Related(Box::new(Related {
                column: incident::INSTANCE_KEY,
                entity: EntityRef(&instance::ENTITY),
                other: instance::KEY,
                filter: wanted,
                exists: true,
            }));
            let columns = 1 | 1 << incident::INSTANCE_KEY | 1 << incident::ROOT_INSTANCE_KEY;
            let filter = Filter::All(vec![is(incident::STATE, "ACTIVE"), instances]);
            (&incident::ENTITY, filter, columns)
        }
        kind => {
            let mut all = vec![is(instance::STATE, "ACTIVE")];
            if kind == BatchOperationType::CancelProcessInstance {
                // Whoever was called ends with its caller.
                all.push(Filter::Column(instance::PARENT_INSTANCE_KEY, Test::Exists(false)));
            }
            (&instance::ENTITY, Filter::All(all).and(wanted), 1 | 1 << instance::ROOT_INSTANCE_KEY)
        }
    };
    let range = vec![
        Filter::Column(0, Test::Greater(number(search.found_up_to))),
        Filter::Column(0, Test::Less(number(search.key))),
    ];
    Ok(Search {
        entity: EntityRef(entity),
        filter: Filter::All(range).and(filter),
        sort: Vec::new(),
        position: Position::Offset(0),
        limit: PAGE,
        count_up_to: 0,
        columns,
        cut: None,
    })
}
