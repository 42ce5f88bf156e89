//! The exporter that feeds a store.

use std::sync::Arc;

use export::{ExportError, Exporter};
use protocol::{PartitionId, Record};

use crate::change::Batch;
use crate::progress::Progress;
use crate::projection::Projection;
use crate::store::{StoreError, Writer};

/// Name under which the position is kept.
const ID: &str = "secondary-storage";

/// Gathers the changes of records and writes them with each flush.
pub struct StoreExporter {
    partition: PartitionId,
    writer: Box<dyn Writer>,
    projection: Projection,
    progress: Arc<Progress>,
    batch: Batch,
    /// Position of the last record that was taken.
    taken: u64,
    /// Position up to which the store has everything; later repetitions are skipped.
    stored: u64,
}

impl StoreExporter {
    /// An exporter of one partition.
    pub fn new(
        partition: PartitionId,
        writer: Box<dyn Writer>,
        projection: Projection,
        progress: Arc<Progress>,
    ) -> Self {
        Self { partition, writer, projection, progress, batch: Batch::default(), taken: 0, stored: 0 }
    }
}

impl Exporter for StoreExporter {
    fn id(&self) -> &str {
        ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.batch.clear();
        self.stored = self.writer.open().map_err(failed)?.max(acknowledged);
        self.taken = self.stored;
        self.progress.reached(self.partition, self.stored);
        Ok(self.stored)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            if record.position > self.stored {
                self.projection.apply(record, &mut self.batch);
                self.taken = record.position;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, ExportError> {
        if self.taken > self.stored {
            self.writer.write(&self.batch, self.taken).map_err(failed)?;
            metrics::counter!("baton_secondary_storage_rows_total").increment(self.batch.len() as u64);
            metrics::counter!("baton_secondary_storage_coalesced_total").increment(self.batch.merged());
            self.batch.clear();
            self.stored = self.taken;
            self.progress.reached(self.partition, self.stored);
        }
        Ok(self.stored)
    }
}

fn failed(error: StoreError) -> ExportError {
    ExportError::Target(error.to_string())
}
