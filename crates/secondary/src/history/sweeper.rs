//! One sweep after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use protocol::HistoryKind;
use search::model::{
    ColumnId, Entity, decision_instance as decision, history_deletion as deletion,
    process_instance as instance,
};
use search::{EntityRef, Filter, Position, Reader, Row, Search, Sort, StoreError, Value};
use search::{Operand, Test};

use super::Retention;
use super::kinds::{DECISIONS, KINDS, Kind, PROCESS_DEFINITIONS, PROCESS_INSTANCES, REQUESTS};
use crate::store::{Cleaner, Packed};

/// Things that are looked at together.
const PAGE: u32 = 100;
/// Rows that are removed at once; writers may have to wait for that long.
const SLICE: u32 = 500;
/// After a slice, it rests for this many times as long as that took.
const REST_FACTOR: u32 = 3;

/// Removes what has expired.
pub struct Sweeper {
    reader: Arc<dyn Reader>,
    cleaner: Arc<Mutex<Opened>>,
    retention: Retention,
}

/// A cleaner, and whether it can be used.
struct Opened {
    cleaner: Box<dyn Cleaner>,
    is_open: bool,
}

/// The result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Things that are gone, such as process instances.
    pub things: u64,
    /// Rows that are gone.
    pub rows: u64,
}

/// The first failure that is of some rows alone: the others are swept all the same.
#[derive(Default)]
struct Failures(Option<StoreError>);

impl Failures {
    /// Notes the failure of a step, `None`; that of the store as a whole is the end.
    fn note<T>(&mut self, done: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(
                error @ (StoreError::Query(_)
                | StoreError::TooSlow(_)
                | StoreError::PageTooLarge(_)
                | StoreError::Refused { .. }),
            ) => {
                self.0.get_or_insert(error);
                Ok(None)
            }
            Err(error @ (StoreError::Unavailable(_) | StoreError::Schema(_) | StoreError::NoCopy(_))) => {
                Err(error)
            }
        }
    }

    fn or(self, swept: Swept) -> Result<Swept, StoreError> {
        self.0.map_or(Ok(swept), Err)
    }
}

impl Sweeper {
    /// A sweeper of one store.
    pub fn new(reader: Arc<dyn Reader>, cleaner: Box<dyn Cleaner>, retention: Retention) -> Self {
        Self { reader, cleaner: Arc::new(Mutex::new(Opened { cleaner, is_open: false })), retention }
    }

    /// Publishes how many steps fail now, and how many trees of instances cannot be packed.
    pub fn publish(failing: usize, unpacked: usize) {
        metrics::gauge!("baton_secondary_storage_maintenance_failing").set(failing as f64);
        metrics::gauge!("baton_secondary_storage_unpacked_trees").set(unpacked as f64);
    }

    /// Removes everything that has expired at a moment, Unix milliseconds, and gives its room back. May be dropped at
    /// any point: the next sweep goes on.
    pub async fn sweep(&self, now_ms: i64) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let mut failures = Failures::default();
        for kind in KINDS {
            for filter in self.retention.expired(kind, now_ms) {
                let found = self.sweep_filter(kind, filter, &mut swept, &mut failures).await;
                failures.note(found)?;
            }
        }
        self.reclaim().await?;
        failures.or(swept)
    }

    /// Gives back the room of what was removed.
    pub async fn reclaim(&self) -> Result<(), StoreError> {
        while self.work(|cleaner| cleaner.reclaim()).await? {}
        Ok(())
    }

    /// Removes what somebody asked to delete, however old it is.
    pub async fn sweep_deleted(&self) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let mut failures = Failures::default();
        let mut position = Position::Offset(0);
        loop {
            let search = Search {
                entity: EntityRef(&deletion::ENTITY),
                filter: Filter::everything(),
                sort: Vec::new(),
                position,
                limit: PAGE,
                count_up_to: 0,
                columns: u64::MAX,
                cut: None,
            };
            let rows = self.reader.search(search).await?.rows;
            let Some(last) = rows.last() else { return failures.or(swept) };
            position = Position::After(vec![last[0].clone()]);
            let met = self.meet(&rows, &mut swept).await;
            // One that cannot be met keeps no other from it.
            if failures.note(met)?.is_none() {
                for row in &rows {
                    let met = self.meet(std::slice::from_ref(row), &mut swept).await;
                    failures.note(met)?;
                }
            }
            if rows.len() < PAGE as usize {
                return failures.or(swept);
            }
        }
    }

    /// Removes what these requests ask for, themselves last, so that what is cut off is found again.
    async fn meet(&self, requests: &[Row], swept: &mut Swept) -> Result<(), StoreError> {
        let is_kind =
            |row: &&Row, kind: &str| row[deletion::TYPE as usize].text().is_some_and(|name| **name == *kind);
        let of_kind = |kind: HistoryKind| -> Vec<Value> {
            let these = requests.iter().filter(|row| is_kind(row, kind.as_str()));
            these.map(|row| row[deletion::RESOURCE_KEY as usize].clone()).collect()
        };
        self.forget(&PROCESS_INSTANCES, &of_kind(HistoryKind::ProcessInstance), swept).await?;
        let evaluations = of_kind(HistoryKind::DecisionInstance);
        let removed =
            self.remove(&DECISIONS, &decision::ENTITY, decision::EVALUATION_KEY, &evaluations).await?;
        swept.rows += removed;
        swept.things += removed;
        let (definitions, others): (Vec<_>, Vec<_>) =
            requests.iter().partition(|row| is_kind(row, HistoryKind::PROCESS_DEFINITION));
        let mut met: Vec<_> = others.into_iter().map(|row| row[0].clone()).collect();
        for row in definitions {
            let key = &row[deletion::RESOURCE_KEY as usize];
            if !self.has_instances(key).await? {
                self.forget(&PROCESS_DEFINITIONS, std::slice::from_ref(key), swept).await?;
                met.push(row[0].clone());
            }
        }
        self.remove(&REQUESTS, &deletion::ENTITY, 0, &met).await?;
        Ok(())
    }

    /// Whether anything is kept of an instance of a process definition.
    async fn has_instances(&self, definition_key: &Value) -> Result<bool, StoreError> {
        let Value::Integer(key) = definition_key else { return Ok(false) };
        let of_definition = Filter::Column(instance::DEFINITION_KEY, Test::Equal(Operand::Integer(*key)));
        let search = search(&PROCESS_INSTANCES, of_definition, Vec::new(), Position::Offset(0));
        let found = self.reader.search(Search { limit: 1, ..search }).await?;
        Ok(!found.rows.is_empty())
    }

    async fn sweep_filter(
        &self,
        kind: &'static Kind,
        filter: Filter,
        swept: &mut Swept,
        failures: &mut Failures,
    ) -> Result<(), StoreError> {
        self.remove_packed(kind, &filter, swept).await?;
        let sort = vec![Sort { column: kind.end, descending: false }];
        let mut position = Position::Offset(0);
        loop {
            let search = search(kind, filter.clone(), sort.clone(), position);
            let rows = self.reader.search(search).await?.rows;
            let Some(last) = rows.last() else { return Ok(()) };
            position = Position::After(vec![last[kind.end as usize].clone(), last[0].clone()]);
            let ids = identities(&rows);
            let gone = self.forget_trees(kind, &ids, swept).await;
            if failures.note(gone)?.is_none() {
                for id in &ids {
                    let gone = self.forget_trees(kind, std::slice::from_ref(id), swept).await;
                    failures.note(gone)?;
                }
            }
            if rows.len() < PAGE as usize {
                return Ok(());
            }
        }
    }

    /// Removes things with what stands below them.
    async fn forget_trees(
        &self,
        kind: &'static Kind,
        ids: &[Value],
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        if let Some(root) = kind.root {
            self.forget_descendants(kind, root, ids, swept).await?;
        }
        self.forget(kind, ids, swept).await
    }

    /// Removes what is kept together and has expired as a whole.
    async fn remove_packed(&self, kind: &Kind, filter: &Filter, swept: &mut Swept) -> Result<(), StoreError> {
        let removed = metrics::counter!("baton_secondary_storage_removed_rows_total", "kind" => kind.name);
        loop {
            let (entity, filter) = (kind.entity, filter.clone());
            let (things, rows) = self.work(move |cleaner| cleaner.remove_packed(entity, &filter)).await?;
            if things == 0 {
                return Ok(());
            }
            removed.increment(rows);
            swept.things += things;
            swept.rows += rows;
        }
    }

    /// Brings rows of what has ended into the form in which they are kept.
    pub async fn pack(&self) -> Result<Packed, StoreError> {
        let mut all = Packed::default();
        loop {
            let packed = self.work(|cleaner| cleaner.pack()).await?;
            all.set_aside.extend(packed.set_aside);
            if packed.rows == 0 {
                return Ok(all);
            }
            all.rows += packed.rows;
        }
    }

    /// Removes what stands below these in their trees.
    async fn forget_descendants(
        &self,
        kind: &'static Kind,
        root: ColumnId,
        roots: &[Value],
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        let Some(owner) = kind.owner else { return Ok(()) };
        let operands = roots.iter().filter_map(|root| match root {
            Value::Integer(key) => Some(Operand::Integer(*key)),
            Value::Text(text) => Some(Operand::Text(text.clone())),
            Value::Null => None,
        });
        let mut operands: Vec<_> = operands.collect();
        operands.sort_unstable();
        let filter = Filter::All(vec![
            Filter::Column(root, Test::In(operands)),
            Filter::Column(owner, Test::Exists(true)),
        ]);
        let mut position = Position::Offset(0);
        loop {
            let search = search(kind, filter.clone(), Vec::new(), position);
            let rows = self.reader.search(search).await?.rows;
            let Some(last) = rows.last() else { return Ok(()) };
            position = Position::After(vec![last[0].clone()]);
            self.forget(kind, &identities(&rows), swept).await?;
        }
    }

    /// Removes things and what belongs to them, themselves last.
    async fn forget(&self, kind: &'static Kind, ids: &[Value], swept: &mut Swept) -> Result<(), StoreError> {
        for (entity, column) in kind.parts {
            swept.rows += self.remove(kind, entity, *column, ids).await?;
        }
        let gone = self.remove(kind, kind.entity, 0, ids).await?;
        swept.rows += gone;
        swept.things += gone;
        Ok(())
    }

    async fn remove(
        &self,
        kind: &'static Kind,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
    ) -> Result<u64, StoreError> {
        if values.is_empty() {
            return Ok(0);
        }
        let values: Arc<[Value]> = values.into();
        let removed = metrics::counter!("baton_secondary_storage_removed_rows_total", "kind" => kind.name);
        let mut count = 0;
        loop {
            let values = Arc::clone(&values);
            let slice = self.work(move |cleaner| cleaner.remove(entity, column, &values, SLICE)).await?;
            removed.increment(slice);
            count += slice;
            if slice < u64::from(SLICE) {
                return Ok(count);
            }
        }
    }

    /// Has the cleaner do something, on a thread that may block, and rests.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Cleaner) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.cleaner);
        let worked = tokio::task::spawn_blocking(move || {
            let mut opened = shared.lock();
            let began = Instant::now();
            let opened = &mut *opened;
            if !std::mem::replace(&mut opened.is_open, false) {
                opened.cleaner.open()?;
            }
            let done = work(&mut *opened.cleaner)?;
            opened.is_open = true;
            Ok::<(T, Duration), StoreError>((done, began.elapsed()))
        });
        let (done, took) = worked.await.map_err(|error| StoreError::Unavailable(error.to_string()))??;
        tokio::time::sleep(took * REST_FACTOR).await;
        Ok(done)
    }
}

fn search(kind: &'static Kind, filter: Filter, sort: Vec<Sort>, position: Position) -> Search {
    let columns = 1 | 1 << kind.end;
    let entity = EntityRef(kind.entity);
    Search { entity, filter, sort, position, limit: PAGE, count_up_to: 0, columns, cut: None }
}

fn identities(rows: &[Row]) -> Vec<Value> {
    rows.iter().map(|row| row[0].clone()).collect()
}
