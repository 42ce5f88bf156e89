//! The embedded store in a cluster: some brokers have a copy, each filled from its own records, and answer for the
//! others.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use broker::{OwnCopy, StoreQueries};
use export::{Copies, Shown};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{FIRST_PARTITION, PartitionId};
use search::wire::{self, Question};
use search::{EXPORTER_ID, Found, Progress, Reader, Row, Search, Statistics, StoreError};
use secondary::{SqliteCleaner, SqliteReader, StoreExporter};

use super::{Cleaning, Feed, Opened, exporter, sqlite_filler, sqlite_options, storage};
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
        all.reached(FIRST_PARTITION, 0);
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
        // The file is one of the only partition, or of none yet.
        Ok(copy.positions.first().map_or(0, |(_, position)| *position))
    }));
    let progress = Arc::new(Progress::of_copy(Arc::clone(&all)));
    let exporter = exporter(config, &progress, Some(copies), None, sqlite_filler(options));
    let answering = Arc::clone(&reader);
    let own = OwnCopy {
        position: Box::new(move || progress.position(FIRST_PARTITION)),
        answer: Box::new(move |question| {
            let reader = Arc::clone(&answering);
            async move { wire::answer(&*reader, &question).await }.boxed()
        }),
    };
    let queries = queries(config, Some(own), &all);
    let nearest =
        Nearest { own: Some(Arc::clone(&reader)), queries: Arc::clone(&queries), all: Arc::clone(&all) };
    Opened {
        feed: Feed { exporter: Some(exporter), unwanted_elsewhere: None, queries: Some(queries) },
        storage: Some(storage(config, Arc::new(nearest), all)),
        cleaning: Some(Cleaning { reader, cleaner }),
    }
}

fn without_copy(config: &Config, all: Arc<Progress>) -> Opened {
    let queries = queries(config, None, &all);
    let nearest = Nearest { own: None, queries: Arc::clone(&queries), all: Arc::clone(&all) };
    let unwanted_elsewhere = Some(StoreExporter::UNWANTED);
    Opened {
        feed: Feed { exporter: None, unwanted_elsewhere, queries: Some(queries) },
        storage: Some(storage(config, Arc::new(nearest), all)),
        cleaning: None,
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
    Arc::new(StoreQueries::new(EXPORTER_ID, own, shown, config.secondary_storage.query_timeout + WAY))
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

/// Asks the copy of this broker if it shows what has been shown here and can be read; else that of another one.
struct Nearest {
    own: Option<Arc<dyn Reader>>,
    queries: Arc<StoreQueries>,
    /// The position that was shown here, by whichever copy.
    all: Arc<Progress>,
}

impl Nearest {
    /// The copy of this broker, if it is far enough.
    fn near(&self) -> Option<&dyn Reader> {
        self.own.as_deref().filter(|_| self.queries.is_here(self.shown()))
    }

    /// The position that an answer must show.
    fn shown(&self) -> u64 {
        self.all.position(FIRST_PARTITION)
    }

    /// The answer of the near copy, or that of another broker's.
    async fn answer<T>(
        &self,
        near: Option<BoxFuture<'_, Result<T, StoreError>>>,
        question: Question,
        read: fn(&[u8]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let failed = match near {
            None => None,
            Some(near) => match near.await {
                Err(error) if is_of_copy(&error) => Some(error),
                answer => return answer,
            },
        };
        match self.queries.ask(self.shown(), &wire::encode(&question)?).await {
            Ok(answer) => read(&answer),
            Err(reason) => Err(failed.unwrap_or(StoreError::NoCopy(reason))),
        }
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
        let near = self.near().map(|own| own.search(search.clone()));
        self.answer(near, Question::Search(search), wire::found).boxed()
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        let near = self.near().map(|own| own.statistics(statistics.clone()));
        self.answer(near, Question::Statistics(statistics), wire::rows).boxed()
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        async move { Ok(self.all.position(partition)) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
