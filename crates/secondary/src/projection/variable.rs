//! Variables.

use protocol::{Intent, Name, Record, VariableRecord};
use search::model::{VALUE_CHARS_MAX, variable};

use crate::change::{Batch, RowId};
use crate::words::local;

pub(super) fn apply(record: &Record, value: &VariableRecord, batch: &mut Batch) {
    let id = RowId::Key(record.key);
    let shown = matches!(record.intent, Intent::Created | Intent::Updated).then(|| value.value.canonical());
    let shown = shown.as_deref().unwrap_or_default();
    let text = || Name::from(shown);
    let is_truncated = || shown.chars().nth(VALUE_CHARS_MAX).is_some();
    match record.intent {
        Intent::Created => {
            batch
                .insert(&variable::ENTITY, id)
                .set(variable::NAME, local(&value.name))
                .set(variable::VALUE, text())
                .set(variable::IS_TRUNCATED, is_truncated())
                .set(variable::TENANT, local(&value.instance.tenant_id))
                .set(variable::INSTANCE_KEY, value.instance.process_instance_key)
                .set(variable::ROOT_INSTANCE_KEY, value.instance.root_process_instance_key)
                .set(variable::SCOPE_KEY, value.scope_key)
                .set(variable::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(variable::DEFINITION_KEY, value.instance.process_definition_key);
        }
        Intent::Updated => {
            batch
                .update(&variable::ENTITY, id)
                .set(variable::VALUE, text())
                .set(variable::IS_TRUNCATED, is_truncated());
        }
        Intent::Migrated => {
            batch
                .update(&variable::ENTITY, id)
                .set(variable::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(variable::DEFINITION_KEY, value.instance.process_definition_key);
        }
        _ => {}
    }
}
