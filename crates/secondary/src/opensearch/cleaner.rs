//! Removing rows. A recently changed row leaves a tombstone, so that a late request does not bring it
//! back; see `remove.painless`.

use std::time::{Duration, Instant};

use opensearch::{Blocking, Method};
use search::model::{ColumnId, Entity};
use search::{StoreError, Value};
use serde_json::{Value as Json, json};

use super::answer::{expect, unanswered};
use super::condition;
use super::options::OpensearchOptions;
use super::row::to_json;
use super::schema::{DELETED, REMOVE};
use crate::store::Cleaner;

/// How often rows are looked for that somebody has changed meanwhile.
const ATTEMPTS_MAX: u32 = 5;

/// A request that was sent is not under way for so long.
const MARKS_KEPT: Duration = Duration::from_secs(24 * 3600);
/// Between two looks for older marks.
const FORGET_INTERVAL: Duration = Duration::from_secs(3600);

/// Removes rows.
pub struct OpensearchCleaner {
    options: OpensearchOptions,
    client: Option<Blocking>,
    /// How long marks of deleted rows stay.
    marks_kept: Duration,
    /// When they were looked for last.
    forgot_at: Option<Instant>,
}

impl OpensearchCleaner {
    /// A cleaner that is not open yet.
    pub fn new(options: OpensearchOptions) -> Self {
        Self { options, client: None, marks_kept: MARKS_KEPT, forgot_at: None }
    }

    /// Requests sent before this time have arrived.
    fn forgotten(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.marks_kept.as_millis() as u64)
    }

    /// Keeps marks of deleted rows for this long.
    #[must_use]
    pub fn keeping_marks(self, marks_kept: Duration) -> Self {
        Self { marks_kept, ..self }
    }
}

impl Cleaner for OpensearchCleaner {
    fn open(&mut self) -> Result<(), StoreError> {
        self.client = Some(Blocking::new(&self.options.client).map_err(unanswered)?);
        Ok(())
    }

    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError> {
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let column = &entity.columns[column as usize];
        let values: Vec<Json> = values.iter().filter_map(|value| to_json(value, column.kind)).collect();
        let now = export::now_ms();
        let body = json!({
            "query": condition::one_of(column, values),
            "script": { "id": REMOVE.id(&self.options), "params": { "now": now, "before": self.forgotten(now) } },
        });
        let mut removed = 0;
        for _ in 0..ATTEMPTS_MAX {
            // Without the refresh, what is gone would be found once more, and the rest not be looked for.
            let path = format!(
                "/{}/_update_by_query?conflicts=proceed&refresh=true&max_docs={}",
                self.options.alias(entity),
                u64::from(limit) - removed
            );
            let answer = expect(&client.json(Method::POST, &path, Some(&body)).map_err(unanswered)?)?;
            if let Some(failure) = answer["failures"].get(0) {
                return Err(StoreError::Unavailable(failure.to_string()));
            }
            let number = |name: &str| answer[name].as_u64().unwrap_or(0);
            removed += number("updated") + number("deleted");
            if answer["version_conflicts"] == 0 || removed >= u64::from(limit) {
                return Ok(removed);
            }
        }
        Err(StoreError::Unavailable(format!("rows of {} are changed while they are removed", entity.name)))
    }

    /// The store merges what is left by itself; marks of rows that were deleted long ago are not needed any more.
    fn reclaim(&mut self) -> Result<bool, StoreError> {
        if self.forgot_at.is_some_and(|at| at.elapsed() < FORGET_INTERVAL) {
            return Ok(false);
        }
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let before = self.forgotten(export::now_ms());
        let body = json!({ "query": { "range": { DELETED: { "lt": before } } } });
        let path = format!("/{}-*/_delete_by_query?conflicts=proceed", self.options.index_prefix);
        expect(&client.json(Method::POST, &path, Some(&body)).map_err(unanswered)?)?;
        self.forgot_at = Some(Instant::now());
        Ok(false)
    }
}
