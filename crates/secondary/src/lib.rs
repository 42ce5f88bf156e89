//! Secondary storage: what happened, to be found by people.
//!
//! Records become rows (`projection`). A store writes them and answers the questions of crate `search`: SQLite
//! (`sqlite`) is embedded, PostgreSQL (`postgres`), OpenSearch and Elasticsearch (`opensearch`) are servers.
//! [`StoreExporter`] is the exporter that feeds a store; `history` forgets what ended long ago. Rows never go back
//! into the engine, and the engine never waits for them.

mod change;
mod count;
mod exporter;
mod former;
mod history;
mod instance_rows;
#[cfg(feature = "opensearch")]
mod opensearch;
mod packed;
#[cfg(feature = "postgres")]
mod postgres;
mod projection;
mod recent;
mod replay;
mod sql;
mod sqlite;
mod store;
mod touch;
mod words;

#[cfg(feature = "opensearch")]
pub use self::opensearch::{
    OpensearchCleaner, OpensearchLoader, OpensearchOptions, OpensearchReader, OpensearchWriter,
};
pub use change::{Batch, Change, Operation, RowId};
pub use exporter::StoreExporter;
pub use history::{KINDS, Keep, Kind, PROCESS_INSTANCES, Retention, Rule, Sweeper, Swept};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresCleaner, PostgresLoader, PostgresOptions, PostgresReader, PostgresWriter};
pub use projection::{AuditCategory, AuditSettings, DeployedModel, Loader, Names, Projection};
pub use sqlite::{
    CopyError, SqliteCleaner, SqliteCopy, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter, check_file,
};
pub use store::{Cleaner, Left, Numbers, Packed, Writer};
