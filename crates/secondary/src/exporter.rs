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
        self.projection.take_failure().map_or(Ok(()), |error| Err(failed(error)))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use parking_lot::Mutex;
    use protocol::{Intent, Key, Name, ProcessInstanceRecord};

    use super::*;
    use crate::model::process_instance as instance;
    use crate::projection::Loader;
    use crate::value::Value;

    /// Keeps the names of processes that were written.
    struct Rows(Arc<Mutex<Vec<Value>>>);

    impl Writer for Rows {
        fn open(&mut self) -> Result<u64, StoreError> {
            Ok(0)
        }

        fn write(&mut self, batch: &Batch, _: u64) -> Result<(), StoreError> {
            let rows = batch.changes().iter().filter(|change| change.entity == instance::ENTITY.id);
            let values = rows.flat_map(|change| &change.values);
            let names = values.filter(|(column, _)| *column == instance::PROCESS_NAME);
            self.0.lock().extend(names.map(|(_, value)| value.clone()));
            Ok(())
        }
    }

    struct Models(Arc<AtomicBool>);

    impl Loader for Models {
        fn load(&mut self, _: Key) -> Result<Option<(Name, Name)>, StoreError> {
            if !self.0.load(Ordering::Relaxed) {
                return Err(StoreError::Unavailable("not now".to_owned()));
            }
            let file = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" name="Order"/></definitions>"#;
            Ok(Some(("p".into(), file.into())))
        }
    }

    fn started() -> Record {
        let value = ProcessInstanceRecord {
            bpmn_process_id: "p".into(),
            version: 1,
            process_definition_key: 7,
            process_instance_key: 8,
            element_id: "p".into(),
            flow_scope_key: None,
            bpmn_element_type: "PROCESS".into(),
            bpmn_event_type: "UNSPECIFIED".into(),
            parent_process_instance_key: None,
            parent_element_instance_key: None,
            root_process_instance_key: 8,
            tenant_id: "<default>".into(),
            tags: Vec::new(),
            business_id: None,
        };
        Record {
            position: 1,
            source_position: 1,
            key: 8,
            timestamp_ms: 5,
            partition_id: 1,
            intent: Intent::ElementActivating,
            operation_reference: None,
            value: value.into(),
            batch_operation_reference: None,
        }
    }

    #[test]
    fn rows_wait_for_names_that_cannot_be_looked_up() {
        let (rows, works) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let projection = Projection::new(Box::new(Models(Arc::clone(&works))));
        let writer = Box::new(Rows(Arc::clone(&rows)));
        let mut exporter = StoreExporter::new(1, writer, projection, Arc::default());
        exporter.open(0).expect("opens");
        exporter.export(&[started()]).expect_err("the name is unknown");
        works.store(true, Ordering::Relaxed);
        exporter.open(0).expect("opens");
        exporter.export(&[started()]).expect("the name is known");
        exporter.flush().expect("writes");
        assert_eq!(*rows.lock(), [Value::from("Order")]);
    }
}
