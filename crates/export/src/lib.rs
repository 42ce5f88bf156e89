//! Exporting: records leave the partition for other systems, each exactly once or, after a failure, again.
//!
//! The partition's thread hands the records of each batch to [`Hub::append`]. They stay in memory (`stream`) until
//! every exporter has acknowledged them. Each [`Exporter`] runs on a thread of its own (`runner`), at its own pace: one
//! that lags, blocks, fails or panics stops nobody else. Records that would otherwise be lost (memory is full, or the
//! log is about to be purged: [`Hub::make_durable`]) are spilled to segment files (`spill`) and read back from there.
//!
//! Why nothing is lost: state on disk at record position P implies that every record up to P is acknowledged by
//! all exporters or in the spill; records after P are made again when the log is replayed, with the same positions, and
//! the hub skips those it has.
//!
//! A record that an exporter's target refuses for good is set aside (`parking`), so that what follows is exported.
//! An exporter that is switched off (`switch`) holds nothing back.
//!
//! This crate knows nothing of the engine, the log, or who leads; it is told how far each exporter was
//! acknowledged, and tells how far it is now.

mod batch;
mod copies;
mod directory;
mod exporter;
mod floor;
mod hub;
mod inner;
mod line;
mod metric_definitions;
mod missing;
mod ndjson;
mod options;
mod own_runtime;
mod parking;
mod phase;
mod reader;
mod refusal;
mod runner;
mod spill;
mod status;
mod stop;
mod stream;
mod switch;
mod weight;

pub use batch::now_ms;
pub use copies::{Copies, NoCopy};
pub use exporter::{ExportError, Exporter, Flush};
pub use hub::{Assigned, ChangeError, Hub, HubError};
pub use line::write_line;
pub use ndjson::{NdjsonExporter, NdjsonOptions};
pub use options::{Configured, Factory, Options, Shown, StreamOptions, TargetOwner};
pub use own_runtime::OwnRuntime;
pub use parking::{Parked, ParkedRecords};
pub use phase::Phase;
pub use reader::{ExporterStatus, Replayed};
pub use spill::SpillError;
pub use status::{Hastened, Overload, Status};
pub use stream::RecordsAfter;
