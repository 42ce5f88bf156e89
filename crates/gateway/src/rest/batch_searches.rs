//! Finds the items of batch operations in secondary storage, page by page, and hands them to the engine.
//!
//! The engine keeps the filter and how far the search is, so it goes on where it was after a restart. The
//! items are those of the creation: an entity with a higher key than the batch operation came later.

use std::sync::Arc;
use std::time::Duration;

use broker_api::{Leadership, SubmitError};
use protocol::{
    AddBatchItems, BatchOperationItem, BatchOperationType, BatchSearch, Command, HistoryKind, Key, Name,
    Query, QueryReply, compose_key, partition_of,
};
use search::model::{ColumnId, Entity, incident, job, process_instance as instance};
use search::{EXPORTER_ID, EntityRef, Filter, Position, Related, Row, Search, Sort};
use search::{Operand, Test};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::operation::history::{Kept, Owner, kept};
use super::problem::Failure;
use super::query;
use super::{Gateway, Storage};

/// Items of one command.
const PAGE: u32 = 1000;
/// How often a page is asked for before the batch operation fails.
const ATTEMPTS_MAX: u32 = 6;
/// Interval at which the leader of a cluster looks for searches.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Back-off after the first failure. It doubles with each.
const PAUSE: Duration = Duration::from_millis(500);

/// Reasons why a search does not go on.
enum Trouble {
    /// Secondary storage does not answer.
    Storage(Failure),
    /// The broker does not.
    Broker(SubmitError),
}

impl Trouble {
    /// Whether the search itself is wrong, so that it is no use to try again.
    fn is_final(&self) -> bool {
        matches!(self, Self::Storage(failure) if failure.status().is_client_error())
    }
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
            () = next_look(&gateway) => {}
        }
    }
}

/// The leader of a cluster looks for what other brokers have taken; a broker that is alone is told of everything.
async fn next_look(gateway: &Gateway) {
    match gateway.broker.leadership() {
        Leadership::Alone => std::future::pending().await,
        Leadership::Leads | Leadership::Follows => sleep(LOOK_INTERVAL).await,
    }
}

/// Brings all searches to their end that there are.
async fn work_on_all(gateway: &Gateway, storage: &Storage) {
    while gateway.broker.leadership() != Leadership::Follows {
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
    // Instances that are not searchable in time count as later ones.
    let recorded = gateway.broker.hasten_exports(EXPORTER_ID);
    let own = partition_of(search.key);
    let mut is_shown = storage.progress.wait(own, search.position, storage.wait_max).await;
    for (other, position) in recorded.positions.iter().filter(|(partition, _)| *partition != own) {
        is_shown &= storage.progress.wait(other, position, storage.wait_max).await;
    }
    if !is_shown && gateway.broker.leadership() != Leadership::Alone {
        // The copy of another broker may be further when that one leads.
        return;
    }
    let mut failures = 0;
    while gateway.broker.leadership() != Leadership::Follows {
        match hand_over(gateway, storage, &mut search).await {
            Ok(false) => failures = 0,
            // All are handed over; or it has ended, or is gone.
            Ok(true) | Err(Trouble::Broker(SubmitError::Rejected(_))) => return,
            Err(trouble) => {
                failures = if trouble.is_final() { ATTEMPTS_MAX } else { (failures + 1).min(ATTEMPTS_MAX) };
                if let (Trouble::Storage(failure), ATTEMPTS_MAX) = (trouble, failures) {
                    let add = AddBatchItems {
                        batch_operation_key: search.key,
                        items: Vec::new(),
                        is_last: true,
                        error: Some(Name::from(&*failure.detail)),
                        owners: Vec::new(),
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
    let sought = Sought::of(search.kind);
    let question =
        question(search, &sought, gateway.broker.topology().partitions_count).map_err(Trouble::Storage)?;
    let mut rows = storage.search(question).await.map_err(Trouble::Storage)?.rows;
    let is_last = rows.len() < PAGE as usize;
    // One evaluation has a row for each of its decisions.
    rows.dedup_by_key(|row| key(row, sought.key));
    let items: Vec<_> = rows.iter().map(|row| sought.item(row)).collect();
    let up_to = items.last().map_or(search.found_up_to, |last| last.item_key);
    // The engine knows the owner of what runs on its own partition.
    let owner = sought.owner(gateway.broker.topology().partitions_count);
    let owners = owner.map(|owner| rows.iter().map(|row| owner.of(row)).collect()).unwrap_or_default();
    let add = AddBatchItems { batch_operation_key: search.key, items, is_last, error: None, owners };
    gateway.broker.submit(Command::AddBatchItems(add)).await.map_err(Trouble::Broker)?;
    search.found_up_to = up_to;
    Ok(is_last)
}

fn key(row: &Row, column: ColumnId) -> Key {
    row[column as usize].integer().unwrap_or_default().cast_unsigned()
}

/// Where the items of a batch operation are.
struct Sought {
    entity: &'static Entity,
    /// The column of the key of an item.
    key: ColumnId,
    /// The column of its process instance.
    instance: ColumnId,
    root: ColumnId,
    owner: Owner,
    /// Columns of history, if the engine has forgotten the items.
    kept: Option<Kept>,
}

impl Sought {
    fn of(kind: BatchOperationType) -> Self {
        match kind {
            BatchOperationType::ResolveIncident => Self {
                entity: &incident::ENTITY,
                key: incident::KEY,
                instance: incident::INSTANCE_KEY,
                root: incident::ROOT_INSTANCE_KEY,
                owner: Owner { definition_id: incident::PROCESS_ID, tenant: incident::TENANT },
                kept: None,
            },
            BatchOperationType::DeleteProcessInstance | BatchOperationType::DeleteProcessDefinition => {
                Self::kept(HistoryKind::ProcessInstance)
            }
            BatchOperationType::DeleteDecisionInstance | BatchOperationType::DeleteDecisionDefinition => {
                Self::kept(HistoryKind::DecisionInstance)
            }
            BatchOperationType::UpdateJob => Self {
                entity: &job::ENTITY,
                key: job::KEY,
                instance: job::INSTANCE_KEY,
                root: job::ROOT_INSTANCE_KEY,
                owner: Owner { definition_id: job::PROCESS_ID, tenant: job::TENANT },
                kept: None,
            },
            BatchOperationType::CancelProcessInstance
            | BatchOperationType::SuspendProcessInstance
            | BatchOperationType::ResumeProcessInstance
            | BatchOperationType::MigrateProcessInstance
            | BatchOperationType::ModifyProcessInstance => {
                Self { kept: None, ..Self::kept(HistoryKind::ProcessInstance) }
            }
        }
    }

    const fn kept(kind: HistoryKind) -> Self {
        let kept = kept(kind);
        let (entity, key, instance, root) = (kept.entity, kept.key, kept.instance, kept.root);
        Self { entity, key, instance, root, owner: kept.owner(), kept: Some(kept) }
    }

    /// The columns of the owner, where the engine does not know it: of history, and of what other partitions have.
    fn owner(&self, partitions: u32) -> Option<Owner> {
        (self.kept.is_some() || partitions > 1).then_some(self.owner)
    }

    fn item(&self, row: &Row) -> BatchOperationItem {
        BatchOperationItem {
            item_key: key(row, self.key),
            process_instance_key: key(row, self.instance),
            root_process_instance_key: key(row, self.root),
        }
    }
}

/// The next page: running instances, or open incidents of instances, that pass the filter; of a deletion whatever
/// passes it, so that each that still runs is told of.
fn question(search: &BatchSearch, sought: &Sought, partitions: u32) -> Result<Search, Failure> {
    let wanted = query::selected(search.kind, &search.filter)?;
    let is = |column, text: &str| Filter::Column(column, Test::Equal(Operand::Text(Name::from(text))));
    let number = |key: u64| Operand::Integer(key.cast_signed());
    let filter = match search.kind {
        _ if sought.kept.is_some() => wanted,
        BatchOperationType::ResolveIncident => {
            let held_by = |column| {
                Filter::Related(Box::new(Related {
                    column,
                    entity: EntityRef(&instance::ENTITY),
                    other: instance::KEY,
                    filter: wanted.clone(),
                    exists: true,
                }))
            };
            // An instance has the incidents of those that it called, too.
            let held =
                Filter::Any(vec![held_by(incident::INSTANCE_KEY), held_by(incident::ROOT_INSTANCE_KEY)]);
            Filter::All(vec![is(incident::STATE, "ACTIVE"), held])
        }
        BatchOperationType::UpdateJob => {
            Filter::All(vec![Filter::Column(job::END, Test::Exists(false))]).and(wanted)
        }
        kind => {
            let mut all = vec![match kind {
                BatchOperationType::ResumeProcessInstance => is(instance::STATE, "SUSPENDED"),
                BatchOperationType::CancelProcessInstance => {
                    let states = ["ACTIVE", "SUSPENDED"].map(|state| Operand::Text(Name::from(state)));
                    Filter::Column(instance::STATE, Test::In(states.to_vec()))
                }
                // Suspended instances refuse it.
                _ => is(instance::STATE, "ACTIVE"),
            }];
            if kind == BatchOperationType::CancelProcessInstance {
                // A called instance ends with its caller.
                all.push(Filter::Column(instance::PARENT_INSTANCE_KEY, Test::Exists(false)));
            }
            Filter::All(all).and(wanted)
        }
    };
    // Later keys of other partitions cannot be told from earlier ones.
    let own_last = compose_key(partition_of(search.key) + 1, 0);
    let earlier = Filter::Any(vec![
        Filter::Column(sought.key, Test::Less(number(search.key))),
        Filter::Column(sought.key, Test::Greater(number(own_last))),
    ]);
    let after = Filter::Column(sought.key, Test::Greater(number(search.found_up_to)));
    let range = if partitions > 1 {
        vec![after, earlier]
    } else {
        vec![after, Filter::Column(sought.key, Test::Less(number(search.key)))]
    };
    let owner = sought.owner(partitions).map_or(0, Owner::columns);
    Ok(Search {
        entity: EntityRef(sought.entity),
        filter: Filter::All(range).and(filter),
        // The identity comes last by itself.
        sort: if sought.key == 0 { vec![] } else { vec![Sort { column: sought.key, descending: false }] },
        position: Position::Offset(0),
        limit: PAGE,
        count_up_to: 0,
        columns: 1 | 1 << sought.key | 1 << sought.instance | 1 << sought.root | owner,
        cut: None,
    })
}
