//! The embedded store in a cluster: some brokers have a copy, each filled from its own records, and answer for the
//! others.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use broker::{OwnCopy, StoreQueries};
use broker_api::Positions;
use export::{Copies, Shown};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{FIRST_PARTITION, PartitionId};
use search::Question;
use search::wire;
use search::{EXPORTER_ID, Found, Progress, Reader, Row, Search, Statistics, StoreError, StoreState};
use secondary::{SqliteCleaner, SqliteReader, StoreExporter};

use super::opened::{Cleaning, Feed, Opened, exporter, storage};
use super::sqlite::{sqlite_filler, sqlite_options};
use crate::config::Config;
use crate::failure::Failure;

/// Time that another broker takes beyond that of the search itself.
const WAY: Duration = Duration::from_secs(1);
/// Files of a store, beside the one that has the name.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The part that this broker takes, of these.
pub(super) fn open(config: &Config, brokers: &[u32]) -> Result<Opened, Failure> {
    let copies = config.secondary_storage_sqlite.copies;
    let all = Arc::new(Progress::default());
    let opened = if has_copy(config.cluster.node_id, brokers, copies) {
        with_copy(config, all)
    } else {
        set_aside(&sqlite_options(config).path, copies)?;
        // There are no tables to wait for.
        all.opened();
        without_copy(config, all)
    };
    Ok(opened)
}

/// The brokers with the lowest numbers have copies.
fn has_copy(node_id: u32, brokers: &[u32], copies: usize) -> bool {
    brokers.iter().filter(|broker| **broker < node_id).count() < copies
}

fn with_copy(config: &Config, all: Arc<Progress>) -> Opened {
    let options = sqlite_options(config);
    let reader: Arc<dyn Reader> = Arc::new(SqliteReader::new(options.clone()));
    let cleaner = Box::new(SqliteCleaner::new(options.clone()));
    let copied = options.clone();
    let copies = Arc::new(Copies::new(move |target| {
        let copy = copied.copy(target).map_err(|error| error.to_string())?;
        Ok(copy.positions.into_iter().collect())
    }));
    let progress = Arc::new(Progress::of_copy(Arc::clone(&all)));
    let exporter = exporter(config, &progress, Some(copies), None, sqlite_filler(options));
    let answering = Arc::clone(&reader);
    let (shown, of_own) = (Arc::clone(&progress), Arc::clone(&progress));
    let own = OwnCopy {
        position: Box::new(move |partition| shown.position(partition)),
        lacking: Box::new(move || of_own.wholeness.lacking()),
        answer: Box::new(move |question| {
            let reader = Arc::clone(&answering);
            async move { wire::answer(&*reader, &question).await }.boxed()
        }),
    };
    let queries = queries(config, Some(own), &all);
    let own = Some((Arc::clone(&reader), Arc::clone(&progress)));
    let patience = config.secondary_storage.fresh_timeout;
    let nearest = Nearest { own, queries: Arc::clone(&queries), all: Arc::clone(&all), patience };
    Opened {
        feed: Feed { exporter: Some(exporter), unwanted_elsewhere: None, queries: Some(queries) },
        storage: Some(storage(config, Arc::new(nearest), all)),
        cleaning: Some(Cleaning { reader, cleaner }),
        progress: Some(progress),
    }
}

fn without_copy(config: &Config, all: Arc<Progress>) -> Opened {
    let queries = queries(config, None, &all);
    let patience = config.secondary_storage.fresh_timeout;
    let nearest = Nearest { own: None, queries: Arc::clone(&queries), all: Arc::clone(&all), patience };
    let unwanted_elsewhere = Some(StoreExporter::UNWANTED);
    Opened {
        feed: Feed { exporter: None, unwanted_elsewhere, queries: Some(queries) },
        storage: Some(storage(config, Arc::new(nearest), all)),
        cleaning: None,
        progress: None,
    }
}

fn queries(config: &Config, own: Option<OwnCopy>, all: &Arc<Progress>) -> Arc<StoreQueries> {
    let of_all = Arc::clone(all);
    let has_own = own.is_some();
    let shown: Shown = Arc::new(move |partition, position| {
        // The exporter of an own copy tells what it wrote, if a little later than another.
        if has_own {
            of_all.reached(partition, position);
        } else {
            of_all.reached_elsewhere(partition, position);
        }
    });
    let queries = StoreQueries::new(EXPORTER_ID, own, shown, config.secondary_storage.query_timeout + WAY);
    Arc::new(queries.with_copies(config.secondary_storage_sqlite.copies))
}

/// Puts away the file of a broker that has a copy no more: it would lack what happens from now on.
fn set_aside(path: &Path, copies: usize) -> Result<(), Failure> {
    let with = |suffix: &str| -> PathBuf {
        let mut path: OsString = path.into();
        path.push(suffix);
        path.into()
    };
    if !path.exists() {
        return Ok(());
    }
    // The file itself goes last, so that a start that ends in between does the rest.
    for suffix in SUFFIXES.into_iter().rev() {
        let (from, to) = (with(suffix), with(&format!(".unused{suffix}")));
        match std::fs::rename(&from, &to) {
            Ok(()) => {}
            // One that is there belongs to a file that was put away before.
            Err(error) if error.kind() == ErrorKind::NotFound => drop(std::fs::remove_file(to)),
            Err(error) => {
                return Err(Failure::new(format!("'{}' cannot be renamed: {error}", from.display())));
            }
        }
    }
    let file = with(".unused");
    tracing::info!(
        copies,
        file = %file.display(),
        "this broker has no copy of secondary storage any more: its file is renamed, and can be removed"
    );
    Ok(())
}

/// Asks the copy of this broker if it shows what has been shown here and can be read; else that of another one. If no
/// other answers, it waits for the copy of this broker.
struct Nearest {
    /// The copy of this broker, and how it is.
    own: Option<(Arc<dyn Reader>, Arc<Progress>)>,
    queries: Arc<StoreQueries>,
    /// The position that was shown here, by whichever copy.
    all: Arc<Progress>,
    /// Time that a search waits for the copy of this broker when no other answers.
    patience: Duration,
}

impl Nearest {
    /// The copy of this broker, if it shows positions.
    fn near(&self, shown: &Positions) -> Option<&dyn Reader> {
        let (own, progress) = self.own.as_ref()?;
        let is_whole = progress.wholeness.state() == StoreState::Whole;
        (is_whole && self.queries.is_here(shown)).then_some(&**own)
    }

    /// The copy of this broker if no exporter has looked at it yet, since that is off: it may be old. An empty one is
    /// that of a broker whose disk was replaced.
    async fn unseen(&self) -> Option<&dyn Reader> {
        let (own, progress) = self.own.as_ref()?;
        let is_unseen = progress.wholeness.state() == StoreState::Unknown;
        let has_rows = is_unseen && own.position(FIRST_PARTITION).await.is_ok_and(|stored| stored > 0);
        // The exporter may have looked meanwhile.
        (has_rows && progress.wholeness.state() == StoreState::Unknown).then_some(&**own)
    }

    /// The copy of this broker once it shows positions that the copy of a broker which is gone has shown; `None` if it
    /// takes longer than the patience.
    async fn near_soon(&self, shown: &Positions) -> Option<&dyn Reader> {
        let own = self.own.as_ref();
        let (_, progress) = own.filter(|(_, progress)| progress.wholeness.lacking().is_none())?;
        let reached = shown.iter().map(|(partition, at)| progress.wait(partition, at, self.patience));
        futures::future::join_all(reached).await;
        self.near(shown)
    }

    /// The positions that an answer must show. A copy that shows nothing is that of a broker that has not been brought
    /// up yet, or of a cluster in which nothing has happened, which the others know.
    fn shown(&self) -> Positions {
        let mut shown = Positions::at(FIRST_PARTITION, 1);
        self.all.positions().into_iter().for_each(|(partition, position)| shown.reach(partition, position));
        shown
    }

    /// The answer of the near copy, or that of another broker's.
    async fn answer<T>(
        &self,
        ask: impl for<'a> Fn(&'a dyn Reader) -> BoxFuture<'a, Result<T, StoreError>>,
        question: Question,
        read: fn(&[u8]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shown = self.shown();
        let mut failed = None;
        // The copy of a broker that is brought up shows what came long ago; others may show more.
        if let Some(own) = self.near(&shown).filter(|_| self.queries.has_caught_up()) {
            match ask(own).await {
                Err(error) if is_of_copy(&error) => failed = Some(error),
                answer => return answer,
            }
        }
        let reason = match self.queries.ask(&shown, &wire::encode(&question)?).await {
            Ok(answer) => return read(&answer),
            Err(reason) => reason,
        };
        if let Some(error) = failed {
            return Err(error);
        }
        let own = match self.unseen().await {
            Some(own) => Some(own),
            None => self.near_soon(&shown).await,
        };
        match own {
            Some(own) => ask(own).await,
            None => Err(StoreError::NoCopy(self.with_own(reason))),
        }
    }
}

impl Nearest {
    /// Why no other copy answers, with what ails that of this broker.
    fn with_own(&self, reason: String) -> String {
        let lacking = self.own.as_ref().and_then(|(_, progress)| progress.wholeness.lacking());
        lacking.map_or(reason.clone(), |lacking| format!("{reason}; the copy of this broker: {lacking}"))
    }
}

/// Whether another copy may give an answer where this one does not.
fn is_of_copy(error: &StoreError) -> bool {
    match error {
        StoreError::Unavailable(_) | StoreError::Schema(_) => true,
        StoreError::NoCopy(_)
        | StoreError::TooSlow(_)
        | StoreError::Query(_)
        | StoreError::PageTooLarge(_)
        | StoreError::Refused { .. } => false,
    }
}

impl Reader for Nearest {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        async move {
            let asked = search.clone();
            self.answer(|own| own.search(asked.clone()), Question::Search(search), wire::found).await
        }
        .boxed()
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        async move {
            let asked = statistics.clone();
            self.answer(|own| own.statistics(asked.clone()), Question::Statistics(statistics), wire::rows)
                .await
        }
        .boxed()
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        async move { Ok(self.all.position(partition)) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy without rows that has stored this position.
    struct Stored(u64);

    impl Reader for Stored {
        fn search(&self, _: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
            async { Ok(Found::default()) }.boxed()
        }

        fn statistics(&self, _: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
            async { Ok(Vec::new()) }.boxed()
        }

        fn position(&self, _: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
            let Self(position) = *self;
            async move { Ok(position) }.boxed()
        }
    }

    fn nearest(reader: Stored, all: &Arc<Progress>, progress: &Arc<Progress>, patience: Duration) -> Nearest {
        let of_own = Arc::clone(progress);
        let own = OwnCopy {
            position: Box::new(move |partition| of_own.position(partition)),
            lacking: Box::new(|| None),
            answer: Box::new(|_| async { Ok(Vec::new()) }.boxed()),
        };
        let queries = Arc::new(StoreQueries::new(EXPORTER_ID, Some(own), Arc::new(|_, _| {}), WAY));
        let own: (Arc<dyn Reader>, _) = (Arc::new(reader), Arc::clone(progress));
        Nearest { own: Some(own), queries, all: Arc::clone(all), patience }
    }

    fn search() -> Search {
        Search::one(&search::model::process_instance::ENTITY, search::Operand::Integer(1), 1)
    }

    #[tokio::test(start_paused = true)]
    async fn an_empty_copy_that_no_exporter_has_looked_at_answers_nothing() {
        let all = Arc::new(Progress::default());
        let progress = Arc::new(Progress::of_copy(Arc::clone(&all)));
        let of = |stored| nearest(Stored(stored), &all, &progress, Duration::from_millis(1));
        let failed = of(0).search(search()).await.unwrap_err();
        assert!(matches!(failed, StoreError::NoCopy(_)), "{failed}");
        assert!(of(7).search(search()).await.is_ok(), "an old one does");
    }

    #[tokio::test(start_paused = true)]
    async fn a_search_waits_for_the_copy_of_this_broker_when_no_other_answers() {
        let all = Arc::new(Progress::default());
        let progress = Arc::new(Progress::of_copy(Arc::clone(&all)));
        let patience = Duration::from_secs(1);
        progress.wholeness.has_all_but(1, Vec::new());
        let nearest = nearest(Stored(0), &all, &progress, patience);
        // The copy of a broker that is gone has shown it.
        all.reached(FIRST_PARTITION, 7);
        let writes = async {
            tokio::time::sleep(patience / 2).await;
            progress.reached(FIRST_PARTITION, 7);
        };
        let (found, ()) = tokio::join!(nearest.search(search()), writes);
        assert!(found.is_ok(), "{found:?}");
        all.reached(FIRST_PARTITION, 8);
        let began = tokio::time::Instant::now();
        let failed = nearest.search(search()).await.unwrap_err();
        assert!(matches!(failed, StoreError::NoCopy(_)), "{failed}");
        assert!(began.elapsed() >= patience && began.elapsed() < patience * 2, "{:?}", began.elapsed());
    }

    #[test]
    fn the_lowest_numbers_have_copies() {
        let having = |brokers: &[u32], copies| -> Vec<u32> {
            brokers.iter().copied().filter(|broker| has_copy(*broker, brokers, copies)).collect()
        };
        assert_eq!(having(&[0, 1, 2], 2), [0, 1]);
        assert_eq!(having(&[7, 3, 5], 1), [3]);
        assert_eq!(having(&[0, 1, 2], 3), [0, 1, 2]);
        assert_eq!(having(&[0, 1, 2], 9), [0, 1, 2]);
    }

    #[test]
    fn a_file_is_put_away_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        set_aside(&path, 1).unwrap();
        std::fs::write(&path, "rows").unwrap();
        std::fs::write(directory.path().join("store-wal"), "log").unwrap();
        set_aside(&path, 1).unwrap();
        set_aside(&path, 1).unwrap();
        let files = || {
            let files = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name());
            let mut files: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
            files.sort();
            files
        };
        assert_eq!(files(), ["store.unused", "store.unused-wal"]);
    }
}
