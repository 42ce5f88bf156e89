//! Variables.

use protocol::{Name, Record, VariableIntent, VariableRecord};
use search::model::{VALUE_CHARS_MAX, variable};

use crate::change::{Batch, RowId};
use crate::words::local;

pub(super) fn apply(record: &Record, value: &VariableRecord, batch: &mut Batch) {
    let Some(intent) = VariableIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let shown =
        matches!(intent, VariableIntent::Created | VariableIntent::Updated).then(|| value.value.canonical());
    let shown = shown.as_deref().unwrap_or_default();
    let text = || Name::from(shown);
    let is_truncated = || shown.chars().nth(VALUE_CHARS_MAX).is_some();
    match intent {
        VariableIntent::Created => {
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
        VariableIntent::Updated => {
            batch
                .update(&variable::ENTITY, id)
                .set(variable::VALUE, text())
                .set(variable::IS_TRUNCATED, is_truncated());
        }
        VariableIntent::Migrated => {
            batch
                .update(&variable::ENTITY, id)
                .set(variable::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(variable::DEFINITION_KEY, value.instance.process_definition_key);
        }
    }
}
