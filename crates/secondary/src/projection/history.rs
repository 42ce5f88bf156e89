//! History that somebody asked to delete: remembered for the sweeper, which removes it in slices.

use protocol::{HistoryDeletionRecord, HistoryKind, Intent, Record};
use search::model::{history_deletion as deletion, process_instance as instance};

use crate::change::{Batch, RowId};

pub(super) fn deletion(record: &Record, value: &HistoryDeletionRecord, batch: &mut Batch) {
    if record.intent != Intent::Deleted {
        return;
    }
    batch
        .insert(&deletion::ENTITY, RowId::Key(record.key))
        .set(deletion::TYPE, &value.resource_type)
        .set(deletion::RESOURCE_KEY, value.resource_key)
        .set(deletion::TIME, record.timestamp_ms);
    // No search finds it from now on; the rest follows. The rest follows.
    if *value.resource_type == *HistoryKind::ProcessInstance.as_str() {
        batch.delete(&instance::ENTITY, RowId::Key(value.resource_key));
    }
}
