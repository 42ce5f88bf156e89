//! The exporters of one partition, and the threads that serve them.

use parking_lot::Mutex;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use protocol::{PartitionId, Record};

use crate::directory;
use crate::exporter::Exporter;
use crate::floor::FloorFile;
use crate::metric_definitions::{ExporterMetrics, publish};
use crate::missing::MissingFile;
use crate::options::StreamOptions;
use crate::parking::{Parked, ParkedFile, ParkedRecords};
use crate::phase::{Phase, PhaseFile};
use crate::reader::Replayed;
use crate::runner::Runner;
use crate::spill::SpillError;
use crate::status::{Hastened, Overload, Status};
use crate::stop::Stop;
use crate::stream::{Beginning, FetchRecords, Kept, RecordsAfter, Stream};
use crate::switch::SwitchFile;

/// Pause after the spill could not be written.
const RETRY_SPILL: Duration = Duration::from_secs(1);
/// How long dropping a hub waits for exporters; one that is blocked is left behind.
const ABANDON_TIMEOUT: Duration = Duration::from_secs(1);

/// Why exporting cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The spill cannot be opened.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// The file that keeps a pause, or which exporters are switched off.
    #[error("'{path}': {source}")]
    Kept {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("thread: {0}")]
    Thread(#[from] std::io::Error),
    /// Another hub has the directory open.
    #[error("'{0}' is in use")]
    InUse(PathBuf),
    /// Two exporters have the same ID.
    #[error("there are two exporters with the ID '{0}'")]
    DuplicateId(String),
}

/// An exporter and what state knows of it.
pub struct Assigned {
    /// The exporter.
    pub exporter: Box<dyn Exporter>,
    /// Position up to which it has acknowledged; 0 for a new one.
    pub acknowledged: u64,
    /// Whether its target is that of all replicas: then it begins when this one leads.
    pub is_shared: bool,
}

/// The exporters of one partition at work. They end when it is dropped.
pub struct Hub {
    stream: Arc<Stream>,
    partition: PartitionId,
    /// Locked for a change, so that a file and the stream agree on the last one.
    files: Mutex<Files>,
}

struct Files {
    phase: PhaseFile,
    switch: SwitchFile,
    missing: MissingFile,
}

/// Why an exporter was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// No exporter has this ID.
    #[error("there is no exporter with the ID '{0}'")]
    Unknown(String),
    /// It is switched off.
    #[error("the exporter '{0}' is disabled")]
    Disabled(String),
    /// It did not come to it in time.
    #[error("the exporter '{0}' is busy or failing; list its parked records later")]
    Busy(String),
    /// The change cannot be kept.
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl Hub {
    /// Opens what was spilled in a directory of its own, and starts the exporters, each on its own thread. `state` is
    /// the position of the state that the partition begins with.
    pub fn open(
        options: StreamOptions,
        directory: &Path,
        partition: PartitionId,
        exporters: Vec<Assigned>,
        state: u64,
    ) -> Result<Self, HubError> {
        for (number, assigned) in exporters.iter().enumerate() {
            let id = assigned.exporter.id();
            if exporters[..number].iter().any(|other| other.exporter.id() == id) {
                return Err(HubError::DuplicateId(id.to_owned()));
            }
        }
        directory::create(directory).map_err(SpillError::file(directory))?;
        let phase_file = PhaseFile::new(directory);
        let phase = phase_file
            .read()
            .map_err(|source| HubError::Kept { path: phase_file.path().to_owned(), source })?;
        let switch_file = SwitchFile::new(directory);
        let disabled = switch_file
            .read()
            .map_err(|source| HubError::Kept { path: switch_file.path().to_owned(), source })?;
        let missing_file = MissingFile::new(directory);
        let missing = missing_file
            .read()
            .map_err(|source| HubError::Kept { path: missing_file.path().to_owned(), source })?;
        let floor_path = directory.join("floor.json");
        let floor = FloorFile::open(directory);
        let floor = floor.map_err(|source| HubError::Kept { path: floor_path, source })?;
        let lock = lock(directory)?;
        let beginning = exporters.iter().map(|assigned| Beginning {
            id: assigned.exporter.id().to_owned(),
            acknowledged: assigned.acknowledged,
            missing: assigned.is_shared.then_some(missing),
        });
        let kept = Kept { disabled, phase, lock, floor, state };
        let stream = Stream::open(options, directory, beginning.collect(), kept)?;
        let stream = Arc::new(stream);
        let files = Mutex::new(Files { phase: phase_file, switch: switch_file, missing: missing_file });
        let hub = Self { stream, partition, files };
        let overflow = Arc::clone(&hub.stream);
        hub.spawn(format!("spill-{partition}"), move || relieve(&overflow))?;
        for (reader, Assigned { exporter, .. }) in exporters.into_iter().enumerate() {
            let id = exporter.id().to_owned();
            let metrics = ExporterMetrics::new(partition, &id);
            let runner = Runner::new(exporter, id, Arc::clone(&hub.stream), reader, metrics);
            hub.spawn(format!("export-{}", runner.id), move || runner.run())?;
        }
        Ok(hub)
    }

    fn spawn(&self, name: String, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let ended = Ended(Arc::clone(&self.stream));
        self.stream.thread_began();
        thread::Builder::new().name(name).spawn(move || {
            let _ended = ended;
            work();
        })?;
        Ok(())
    }

    /// Takes the records of an applied batch. Never waits for an exporter or a disk. Records that are known already,
    /// because the log is replayed, are skipped: positions only grow.
    pub fn append(&self, records: Vec<Record>) {
        self.stream.append(records);
    }

    /// To be called before a snapshot takes the place of the state: the records up to its position that did not come
    /// yet never come. Exporters begin again after it, and must have what they lack from elsewhere. Those whose target
    /// is that of all replicas ask other replicas for it.
    pub fn skip_to(&self, position: u64) -> std::io::Result<()> {
        let (last, acknowledged) = self.stream.extent();
        // Records of before are no longer in the log: they must be on disk to be known as here.
        self.stream.make_durable(last).map_err(std::io::Error::other)?;
        let missing = {
            let files = self.files.lock();
            let missing = files.missing.read()?;
            let missing = if position > last { missing.and(last, position, acknowledged) } else { missing };
            files.missing.write(missing)?;
            missing
        };
        self.stream.note_skipped(position)?;
        self.stream.skip_to(position, missing);
        Ok(())
    }

    /// This replica leads, or leads no more: exporters begin or end whose target is that of all replicas.
    pub fn lead(&self, leads: bool) {
        self.stream.lead(leads);
    }

    /// Another replica has exported up to a position.
    pub fn acknowledged_elsewhere(&self, id: &str, position: u64) {
        if let Some(reader) = self.stream.reader(id) {
            self.stream.acknowledged_elsewhere(reader, position);
        }
    }

    /// Tells how records after a position, up to another one, are obtained from other replicas. It may block.
    pub fn fetch_with(
        &self,
        fetch: impl Fn(u64, u64) -> Result<RecordsAfter, String> + Send + Sync + 'static,
    ) {
        let is_first = self.stream.fetch.set(FetchRecords(Box::new(fetch))).is_ok();
        assert!(is_first, "there is one way to other replicas");
    }

    /// Tells where records are parked whose exporter's target is that of all replicas.
    pub fn park_with(&self, parked: impl ParkedRecords + 'static) {
        let is_first = self.stream.shared_parked.set(Box::new(parked)).is_ok();
        assert!(is_first, "there is one place for records of shared targets");
    }

    /// Records after a position for another replica that lacks them, not beyond another position. Reads files.
    pub fn records_after(&self, position: u64, upto: u64) -> Result<RecordsAfter, String> {
        self.stream.records_after(position, upto)
    }

    /// Has an exporter begin again where it is, to take notice of what was asked of its target. False if no exporter
    /// has the ID.
    pub fn reopen(&self, id: &str) -> bool {
        let reader = self.stream.reader(id);
        reader.map(|reader| self.stream.reopen(reader)).is_some()
    }

    /// Position up to which an exporter has handed on what it took, durable or not.
    pub fn handed_on(&self, id: &str) -> Option<u64> {
        self.stream.reader(id).map(|reader| self.stream.handed_on(reader))
    }

    /// Position up to which records have come, or were skipped.
    pub fn last(&self) -> u64 {
        self.stream.last()
    }

    /// To be called before state as of a record position becomes durable, because the log may be purged then: all
    /// records up to it are either acknowledged by every exporter or on disk when this returns. May wait for exporters
    /// that keep up (a short time) and for the disk; not for the partition's thread.
    pub fn make_durable(&self, position: u64) -> Result<(), SpillError> {
        self.stream.make_durable(position)
    }

    /// Whether work must be refused because exporters lag, and why. Costs next to nothing while they do not.
    pub fn overload(&self) -> Option<Overload> {
        self.stream.overload()
    }

    /// Has an exporter hand on everything there is, since somebody is about to look for it. `None` if no exporter
    /// has the ID.
    pub fn hasten(&self, id: &str) -> Option<Hastened> {
        self.stream.reader(id).map(|reader| self.stream.hasten(reader))
    }

    /// How exporting is.
    pub fn status(&self) -> Status {
        self.stream.status()
    }

    /// Publishes how exporting is as metrics.
    pub fn publish(&self) {
        publish(self.partition, &self.status(), |id| self.parked_count(id));
    }

    /// Pauses or resumes; kept over restarts. Writes a small file.
    pub fn set_phase(&self, phase: Phase) -> std::io::Result<()> {
        let files = self.files.lock();
        files.phase.write(phase)?;
        self.stream.set_phase(phase);
        Ok(())
    }

    fn reader(&self, id: &str) -> Result<usize, ChangeError> {
        self.stream.reader(id).ok_or_else(|| ChangeError::Unknown(id.to_owned()))
    }

    fn enabled_reader(&self, id: &str) -> Result<usize, ChangeError> {
        let reader = self.reader(id)?;
        if self.stream.status().exporters.get(reader).is_some_and(|status| !status.enabled) {
            return Err(ChangeError::Disabled(id.to_owned()));
        }
        Ok(reader)
    }

    /// Switches an exporter on or off; kept over restarts. One that is off holds no records back. One that is
    /// switched on begins with what comes from now on, or where another exporter is that is on. Writes a small
    /// file.
    pub fn set_enabled(&self, id: &str, enabled: bool, like: Option<&str>) -> Result<(), ChangeError> {
        let reader = self.reader(id)?;
        let like = like.map(|other| self.enabled_reader(other)).transpose()?;
        let files = self.files.lock();
        let mut disabled = files.switch.read()?;
        if enabled == disabled.contains(id) {
            if enabled {
                disabled.remove(id)
            } else {
                disabled.insert(id.to_owned())
            };
            files.switch.write(&disabled)?;
        }
        self.stream.switch(reader, enabled, like);
        Ok(())
    }

    /// Forgets what is kept of an exporter that is not configured any more: that it was switched off, and its
    /// parked records.
    pub fn forget(&self, id: &str) -> Result<(), ChangeError> {
        let files = self.files.lock();
        forget(&files.switch, &self.stream.own_parked, id)
    }

    /// Forgets what is kept of an exporter, as [`Self::forget`], in a directory that no hub has open.
    pub fn forget_in(directory: &Path, id: &str) -> Result<(), ChangeError> {
        if !directory.exists() {
            return Ok(());
        }
        let _lock = lock(directory).map_err(std::io::Error::other)?;
        let parked = ParkedFile::open(directory).map_err(std::io::Error::other)?;
        forget(&SwitchFile::new(directory), &parked, id)
    }

    /// The records of an exporter that its target refused, in the order in which they were parked.
    pub fn parked(&self, id: &str) -> Result<Vec<Parked>, ChangeError> {
        let parked = self.stream.parked(self.reader(id)?).list(id);
        Ok(parked.map_err(std::io::Error::other)?)
    }

    /// How many records of an exporter are parked. May wait for the partition's thread.
    pub fn parked_count(&self, id: &str) -> u64 {
        self.stream.reader(id).map_or(0, |reader| self.stream.parked(reader).count(id))
    }

    /// Has an exporter try its parked records again, in their order; those that its target takes are not parked any
    /// more. Waits for it as long as given.
    pub fn replay(&self, id: &str, timeout: Duration) -> Result<Replayed, ChangeError> {
        let reader = self.enabled_reader(id)?;
        let (answer, replayed) = std::sync::mpsc::sync_channel(1);
        self.stream.ask_for_replay(reader, answer);
        replayed.recv_timeout(timeout).map_err(|_| ChangeError::Busy(id.to_owned()))
    }

    /// Stops exporters, once they have flushed what they took. False if one did not end in time. Records that are
    /// not acknowledged are exported after the next start. Then the hub must not be used any more: the directory is
    /// free for another one.
    pub fn shutdown(&self, timeout: Duration) -> bool {
        self.stream.stop(Stop::Flush);
        let ended = self.stream.await_end(timeout);
        if ended {
            self.stream.unlock();
        }
        ended
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.stream.stop(Stop::Abandon);
        if self.stream.await_end(ABANDON_TIMEOUT) {
            self.stream.unlock();
        }
    }
}

fn forget(switch: &SwitchFile, own: &ParkedFile, id: &str) -> Result<(), ChangeError> {
    let mut disabled = switch.read()?;
    if disabled.remove(id) {
        switch.write(&disabled)?;
    }
    let parked = own.positions(id).map_err(std::io::Error::other)?;
    if !parked.is_empty() {
        own.remove(id, &parked).map_err(std::io::Error::other)?;
    }
    Ok(())
}

/// Makes sure that nobody else writes to a directory.
fn lock(directory: &Path) -> Result<File, HubError> {
    let path = directory.join("lock");
    let lock = File::create(&path).map_err(SpillError::file(&path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(HubError::InUse(directory.to_owned())),
        Err(TryLockError::Error(source)) => Err(SpillError::File { path, source }.into()),
    }
}

/// Says that a thread has ended, whichever way.
struct Ended(Arc<Stream>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.thread_ended();
    }
}

fn relieve(stream: &Stream) {
    let mut failing = false;
    while let Some(outcome) = stream.relieve() {
        match outcome {
            Ok(()) => failing = false,
            Err(error) => {
                if !failing {
                    tracing::error!(%error, "records that exporters have not taken cannot be spilled; it is tried again");
                }
                failing = true;
                stream.pause_after_failure(RETRY_SPILL);
            }
        }
    }
}
