//! Message subscriptions, and the messages that reached them.

use protocol::{Intent, MessageStartSubscriptionRecord, MessageSubscriptionRecord, Name, Record};

use crate::change::{Batch, RowId};
use crate::model::{correlated_message_subscription as correlated, message_subscription as subscription};
use crate::value::Value;

pub(super) fn subscription(record: &Record, value: &MessageSubscriptionRecord, batch: &mut Batch) {
    let id = RowId::Key(record.key);
    let state = match record.intent {
        Intent::Created => {
            batch
                .insert(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::INSTANCE_KEY, value.process_instance_key)
                .set(subscription::ELEMENT_ID, &value.element_id)
                .set(subscription::ELEMENT_KEY, value.element_instance_key)
                .set(subscription::MESSAGE_NAME, &value.message_name)
                .set(subscription::CORRELATION_KEY, Value::non_empty(&value.correlation_key))
                .set(subscription::TENANT, &value.tenant_id);
            "CREATED"
        }
        Intent::Correlated => {
            reached(record, value, batch);
            "CORRELATED"
        }
        Intent::Deleted => "DELETED",
        Intent::Migrated => {
            batch
                .update(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::ELEMENT_ID, &value.element_id);
            "MIGRATED"
        }
        _ => return,
    };
    batch
        .update(&subscription::ENTITY, id)
        .set(subscription::STATE, state)
        .set(subscription::UPDATED, record.timestamp_ms);
}

fn reached(record: &Record, value: &MessageSubscriptionRecord, batch: &mut Batch) {
    let id = format!("{}_{}", value.message_key.unwrap_or_default(), record.key);
    batch
        .insert(&correlated::ENTITY, RowId::Text(Name::from(id)))
        .set(correlated::CORRELATION_KEY, Value::non_empty(&value.correlation_key))
        .set(correlated::TIME, record.timestamp_ms)
        .set(correlated::ELEMENT_ID, &value.element_id)
        .set(correlated::ELEMENT_KEY, value.element_instance_key)
        .set(correlated::MESSAGE_KEY, value.message_key)
        .set(correlated::MESSAGE_NAME, &value.message_name)
        .set(correlated::PARTITION, u32::from(record.partition_id))
        .set(correlated::PROCESS_ID, &value.bpmn_process_id)
        .set(correlated::DEFINITION_KEY, value.process_definition_key)
        .set(correlated::INSTANCE_KEY, value.process_instance_key)
        .set(correlated::SUBSCRIPTION_KEY, record.key)
        .set(correlated::TENANT, &value.tenant_id);
}

/// Start events wait without an instance.
pub(super) fn start(record: &Record, value: &MessageStartSubscriptionRecord, batch: &mut Batch) {
    let id = RowId::Key(record.key);
    let state = match record.intent {
        Intent::Created => {
            batch
                .insert(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::ELEMENT_ID, &value.start_event_id)
                .set(subscription::MESSAGE_NAME, &value.message_name)
                .set(subscription::TENANT, &value.tenant_id);
            "CREATED"
        }
        Intent::Correlated => {
            let id = format!("{}_{}", value.message_key.unwrap_or_default(), record.key);
            batch
                .insert(&correlated::ENTITY, RowId::Text(Name::from(id)))
                .set(correlated::CORRELATION_KEY, Value::non_empty(&value.correlation_key))
                .set(correlated::TIME, record.timestamp_ms)
                .set(correlated::ELEMENT_ID, &value.start_event_id)
                .set(correlated::MESSAGE_KEY, value.message_key)
                .set(correlated::MESSAGE_NAME, &value.message_name)
                .set(correlated::PARTITION, u32::from(record.partition_id))
                .set(correlated::PROCESS_ID, &value.bpmn_process_id)
                .set(correlated::DEFINITION_KEY, value.process_definition_key)
                .set(correlated::INSTANCE_KEY, value.process_instance_key)
                .set(correlated::ROOT_INSTANCE_KEY, value.process_instance_key)
                .set(correlated::SUBSCRIPTION_KEY, record.key)
                .set(correlated::TENANT, &value.tenant_id);
            return;
        }
        Intent::Deleted => "DELETED",
        _ => return,
    };
    batch
        .update(&subscription::ENTITY, id)
        .set(subscription::STATE, state)
        .set(subscription::UPDATED, record.timestamp_ms);
}
