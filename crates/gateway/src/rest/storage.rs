//! Secondary storage as the gateway sees it: how fresh it is, and how many searches are open.

use super::list_ticks::ListTicks;
use super::outage::Outage;
use super::problem::Failure;
use super::shared_answers::SharedAnswers;
use broker_api::Broker;
use search::{EXPORTER_ID, Found, Progress, Question, Reader, Row, Search, Statistics, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time-out of searches that wait for the store to open, from the start of the program on. One that is away then is
/// said to be.
const OPENING_MAX: Duration = Duration::from_secs(2);

/// Time after that in which a store that is still being opened is no trouble: it may be making its tables.
const SLOW_OPENING: Duration = Duration::from_secs(30);

/// Secondary storage as a gateway sees it.
#[derive(Clone)]
pub struct Storage {
    reader: Arc<dyn Reader>,
    /// Progress of secondary storage.
    pub(super) progress: Arc<Progress>,
    /// Longest wait of a request for a position.
    pub(super) wait_max: Duration,
    /// Longest wait of a search for records of earlier answers.
    fresh_max: Duration,
    /// Whether durations are counted.
    counts_durations: bool,
    /// Until when whoever asks waits for it to open.
    opening_until: Instant,
    outage: Outage,
    answers: Arc<SharedAnswers>,
    /// When changes of lists are told.
    pub(super) list_ticks: Arc<ListTicks>,
}

/// Secondary storage as one request reads it.
#[derive(Clone, Copy)]
pub(super) struct Reads<'a> {
    pub(super) storage: &'a Storage,
    /// Whether answers that other requests got will do.
    pub(super) shares_answers: bool,
}

impl Reads<'_> {
    pub(super) async fn search(self, search: Search) -> Result<Found, Failure> {
        self.ask(Question::Search(search)).await
    }

    pub(super) async fn statistics(self, statistics: Statistics) -> Result<Vec<Row>, Failure> {
        Ok(self.ask(Question::Statistics(statistics)).await?.rows)
    }

    async fn ask(self, question: Question) -> Result<Found, Failure> {
        if !self.shares_answers {
            return self.storage.ask(question).await;
        }
        let storage = self.storage;
        let place = storage.progress.changes.place();
        let ask = async |question| storage.answer(question).await;
        let answer = storage.answers.find(question, place, ask).await;
        storage.told(answer)
    }
}

impl Storage {
    /// The storage that answers, with how far it is and how long a request may wait for a position.
    pub fn new(reader: Arc<dyn Reader>, progress: Arc<Progress>, wait_max: Duration) -> Self {
        let opening_until = Instant::now() + OPENING_MAX;
        let fresh_max = Duration::ZERO;
        let (counts_durations, outage) = (false, Outage::default());
        let (answers, list_ticks) = (Arc::default(), Arc::default());
        Self {
            reader,
            progress,
            wait_max,
            fresh_max,
            counts_durations,
            opening_until,
            outage,
            answers,
            list_ticks,
        }
    }

    /// Sets the longest wait of searches for records of earlier answers.
    #[must_use]
    pub fn fresh_within(self, fresh_max: Duration) -> Self {
        Self { fresh_max, ..self }
    }

    /// Sets whether durations of elements are counted.
    #[must_use]
    pub fn with_durations(self, counts_durations: bool) -> Self {
        Self { counts_durations, ..self }
    }

    /// Whether durations of elements are counted.
    pub(super) fn counts_durations(&self) -> bool {
        self.counts_durations
    }

    /// Waits until the store shows the records of all earlier answers. Returns how old the oldest record is that it
    /// does not show, if that takes too long.
    pub(super) async fn freshen(&self, broker: &dyn Broker) -> Option<Duration> {
        if self.fresh_max.is_zero() {
            return None;
        }
        let began = Instant::now();
        let is_known = self.catch_up(broker, self.fresh_max).await;
        let recorded = broker.hasten_exports(EXPORTER_ID);
        let wait_max = if recorded.is_stalled { Duration::ZERO } else { self.fresh_max };
        let until = tokio::time::Instant::now() + wait_max.saturating_sub(began.elapsed());
        for (partition, position) in recorded.positions.iter() {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            let is_shown = self.progress.position(partition) >= position
                || self.progress.wait(partition, position, left).await;
            if !is_shown {
                return Some(broker.hasten_exports(EXPORTER_ID).lag.max(began.elapsed()));
            }
        }
        (!is_known).then(|| began.elapsed())
    }

    /// Spans of records that the store lacks, unless somebody has accepted that.
    pub(super) fn gaps(&self) -> Vec<(u64, u64)> {
        let gaps = self.progress.wholeness.gaps().into_iter().filter(|gap| !gap.is_accepted);
        gaps.map(|gap| (gap.after, gap.upto)).collect()
    }

    /// Waits until the store shows everything that was recorded, for so long at the most. Returns whether it does.
    pub async fn shows_all(&self, broker: &dyn Broker, wait_max: Duration) -> bool {
        let until = tokio::time::Instant::now() + wait_max;
        let recorded = broker.hasten_exports(EXPORTER_ID);
        for (partition, position) in recorded.positions.iter() {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            if !self.progress.wait(partition, position, left).await {
                return false;
            }
        }
        true
    }

    /// Hastens the exporter, unless `secondary_storage.fresh_timeout` is zero.
    pub(super) fn hasten(&self, broker: &dyn Broker) {
        if !self.fresh_max.is_zero() {
            broker.hasten_exports(EXPORTER_ID);
        }
    }

    /// Has the broker catch up with the others for so long at the most. Returns whether it has.
    pub(super) async fn catch_up(&self, broker: &dyn Broker, time: Duration) -> bool {
        tokio::time::timeout(time, broker.catch_up()).await.is_ok_and(|caught_up| caught_up.is_ok())
    }

    /// Waits for what a store does in the first moments of the program: until then it may have no tables.
    async fn open(&self) {
        let left = self.opening_until.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            self.progress.wait_open(left).await;
        }
    }

    pub(super) async fn search(&self, search: Search) -> Result<Found, Failure> {
        self.ask(Question::Search(search)).await
    }

    async fn ask(&self, question: Question) -> Result<Found, Failure> {
        let answer = self.answer(question).await;
        self.told(answer)
    }

    async fn answer(&self, question: Question) -> Result<Found, StoreError> {
        self.open().await;
        match question {
            Question::Search(search) => self.reader.search(search).await,
            Question::Statistics(statistics) => {
                Ok(Found { rows: self.reader.statistics(statistics).await?, ..Found::default() })
            }
        }
    }

    /// Whether what has ended is counted in rows of its own.
    pub(super) fn has_counts(&self) -> bool {
        self.reader.has_counts()
    }

    /// An answer for whoever asked. Why there is none is for operators, once for each outage.
    pub(super) fn told<T>(&self, answer: Result<T, StoreError>) -> Result<T, Failure> {
        let error = match answer {
            Ok(answer) => {
                if self.outage.note(false) {
                    tracing::info!("secondary storage answers again");
                }
                return Ok(answer);
            }
            Err(StoreError::TooSlow(reason)) => return Err(Failure::too_slow(reason)),
            Err(error @ StoreError::PageTooLarge(_)) => return Err(Failure::invalid(error.to_string())),
            Err(StoreError::Query(reason)) => {
                // The store is well, and what it says is about its tables.
                tracing::debug!(reason, "secondary storage does not take a query");
                return Err(Failure::too_complex());
            }
            Err(error) => error,
        };
        if self.progress.is_opening() && Instant::now() < self.opening_until + SLOW_OPENING {
            tracing::debug!(%error, "secondary storage is not open yet");
        } else if self.outage.note(true) {
            tracing::warn!(%error, "secondary storage cannot answer");
        }
        Err(if matches!(error, StoreError::NoCopy(_)) { Failure::no_copy() } else { Failure::storage_away() })
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}
