//! Secondary storage: what happened, to be found by people.
//!
//! Records become rows (`projection`), rows are described once (`model`), and so are questions (`query`). A store
//! writes the ones and answers the others: SQLite (`sqlite`) is embedded, PostgreSQL (`postgres`), OpenSearch and
//! Elasticsearch (`opensearch`) are servers. [`StoreExporter`] is the exporter that
//! feeds a store; `history` forgets what ended long ago. Rows never go back into the engine, and the engine never waits for them.

mod change;
mod count;
mod cursor;
mod exporter;
mod history;
pub mod model;
#[cfg(feature = "opensearch")]
mod opensearch;
#[cfg(feature = "postgres")]
mod postgres;
mod progress;
mod projection;
mod query;
mod recent;
mod replay;
mod sql;
mod sqlite;
mod store;
mod value;

#[cfg(feature = "opensearch")]
pub use self::opensearch::{
    OpensearchCleaner, OpensearchLoader, OpensearchOptions, OpensearchReader, OpensearchWriter,
};
pub use change::{Batch, Change, Operation, RowId};
pub use cursor::{decode as decode_cursor, encode as encode_cursor};
pub use exporter::{EXPORTER_ID, StoreExporter};
pub use history::{Keep, Retention, Rule, Sweeper, Swept};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresCleaner, PostgresLoader, PostgresOptions, PostgresReader, PostgresWriter};
pub use progress::Progress;
pub use projection::{AuditCategory, AuditSettings, Loader, Names, Projection};
pub use query::{
    Aggregate, EntityRef, Filter, Found, Latest, Position, Related, Row, Search, Sort, Statistics,
};
pub use sqlite::{SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter};
pub use store::{Cleaner, PAGE_BYTES_MAX, Reader, StoreError, Writer};
pub use value::Value;
