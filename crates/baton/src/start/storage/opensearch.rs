//! OpenSearch or Elasticsearch as secondary storage.

use std::sync::Arc;

use secondary::{OpensearchCleaner, OpensearchLoader, OpensearchReader, OpensearchWriter};

use super::opened::{Opened, opened};
use crate::config::Config;

pub(super) fn open(config: &Config) -> Opened {
    let options = config.opensearch_storage();
    let reader =
        OpensearchReader::new(options.clone()).expect("the URLs were checked with the configuration");
    let cleaner = Box::new(OpensearchCleaner::new(options.clone()));
    opened(config, Arc::new(reader), cleaner, move |partition| {
        let writer = OpensearchWriter::new(options.clone(), partition);
        (Box::new(writer), Box::new(OpensearchLoader::new(options.clone())))
    })
}
