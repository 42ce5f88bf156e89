//! OpenSearch and Elasticsearch, over HTTP: an index for each entity, a document for each row.
//!
//! There are no transactions, so writing is made repeatable instead (`apply.painless`, `writer`), and no joins, so that
//! what other rows say is asked first (`condition`).

mod answer;
mod cleaner;
mod condition;
mod loader;
mod options;
mod reader;
mod row;
mod schema;
mod search;
mod statistics;
mod writer;

pub use cleaner::OpensearchCleaner;
pub use loader::OpensearchLoader;
pub use options::OpensearchOptions;
pub use reader::OpensearchReader;
pub use writer::OpensearchWriter;
