//! Message subscriptions, and the messages that reached them.

use protocol::{
    Key, MessageStartSubscriptionIntent, MessageStartSubscriptionRecord, MessageSubscriptionIntent,
    MessageSubscriptionRecord, Name, Record,
};
use search::Value;
use search::model::{correlated_message_subscription as correlated, message_subscription as subscription};

use super::names::Names;
use crate::change::{Batch, RowId};
use crate::words::word;

/// Names of the extension properties by which elements are tools of agents and inbound connectors, as the published
/// contract of 8.10 has them.
const TOOL: &str = "io.camunda.tool:";
const TOOL_NAME: &str = "io.camunda.tool:name";
const CONNECTOR_TYPE: &str = "inbound.type";

pub(super) fn subscription(
    record: &Record,
    value: &MessageSubscriptionRecord,
    names: &mut Names,
    batch: &mut Batch,
) {
    let Some(intent) = MessageSubscriptionIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let state = match intent {
        MessageSubscriptionIntent::Created => {
            batch
                .insert(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::INSTANCE_KEY, value.process_instance_key)
                .set(subscription::ELEMENT_ID, &value.element_id)
                .set(subscription::ELEMENT_KEY, value.element_instance_key)
                .set(subscription::MESSAGE_NAME, &value.message_name)
                .set(subscription::CORRELATION_KEY, Value::non_empty(&value.correlation_key))
                .set(subscription::TENANT, &value.tenant_id)
                .set(subscription::TYPE, word("PROCESS_EVENT"))
                .set(subscription::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(subscription::BUSINESS_ID, value.business_id.as_ref());
            describe(record, names, value.process_definition_key, value.element_id.as_ref(), batch);
            "CREATED"
        }
        MessageSubscriptionIntent::Correlated => {
            let reached = Reached {
                message_key: value.message_key,
                message_name: &value.message_name,
                correlation_key: &value.correlation_key,
                element_id: (&value.element_id).into(),
                element_key: value.element_instance_key.into(),
                process_id: &value.bpmn_process_id,
                definition_key: value.process_definition_key,
                instance_key: value.process_instance_key.into(),
                root_instance_key: value.root_process_instance_key.into(),
                tenant_id: &value.tenant_id,
                business_id: value.business_id.as_ref(),
            };
            reached.insert(record, batch);
            "CORRELATED"
        }
        MessageSubscriptionIntent::Deleted => "DELETED",
        MessageSubscriptionIntent::Migrated => {
            batch
                .update(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::ELEMENT_ID, &value.element_id);
            describe(record, names, value.process_definition_key, value.element_id.as_ref(), batch);
            "MIGRATED"
        }
    };
    update(record, state, batch);
}

/// Writes the model's part of a subscription: of its process, and the tool and the connector that its element is.
fn describe(
    record: &Record,
    names: &mut Names,
    definition: Key,
    element_id: Option<&Name>,
    batch: &mut Batch,
) {
    let names = names.of(definition);
    let properties = element_id.map_or(&[][..], |id| names.properties(id));
    let value_of =
        |wanted: &str| properties.iter().find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value);
    let object = |wanted: &dyn Fn(&str) -> bool| {
        let members = properties.iter().filter(|(name, _)| wanted(name));
        let members = members.map(|(name, value)| (name.to_string(), value.as_str().into()));
        Name::from(serde_json::Value::Object(members.collect()).to_string())
    };
    batch
        .update(&subscription::ENTITY, RowId::Key(record.key))
        .set(subscription::PROCESS_NAME, &names.name)
        .set(subscription::VERSION, names.version)
        .set(subscription::TOOL_NAME, value_of(TOOL_NAME))
        .set(subscription::CONNECTOR_TYPE, value_of(CONNECTOR_TYPE))
        .set(subscription::TOOL_PROPERTIES, object(&|name| name.starts_with(TOOL)))
        .set(subscription::PROPERTIES, object(&|_| true));
}

/// The target of a message: a waiting element or a start event.
struct Reached<'a> {
    message_key: Option<Key>,
    message_name: &'a Name,
    correlation_key: &'a Name,
    element_id: Value,
    element_key: Value,
    process_id: &'a Name,
    definition_key: Key,
    instance_key: Value,
    root_instance_key: Value,
    tenant_id: &'a Name,
    business_id: Option<&'a Name>,
}

impl Reached<'_> {
    fn insert(self, record: &Record, batch: &mut Batch) {
        let id = format!("{}_{}", self.message_key.unwrap_or_default(), record.key);
        batch
            .insert(&correlated::ENTITY, RowId::Text(Name::from(id)))
            .set(correlated::CORRELATION_KEY, Value::non_empty(self.correlation_key))
            .set(correlated::TIME, record.timestamp_ms)
            .set(correlated::ELEMENT_ID, self.element_id)
            .set(correlated::ELEMENT_KEY, self.element_key)
            .set(correlated::MESSAGE_KEY, self.message_key)
            .set(correlated::MESSAGE_NAME, self.message_name)
            .set(correlated::PARTITION, u32::from(record.partition_id))
            .set(correlated::PROCESS_ID, self.process_id)
            .set(correlated::DEFINITION_KEY, self.definition_key)
            .set(correlated::INSTANCE_KEY, self.instance_key)
            .set(correlated::ROOT_INSTANCE_KEY, self.root_instance_key)
            .set(correlated::SUBSCRIPTION_KEY, record.key)
            .set(correlated::TENANT, self.tenant_id)
            .set(correlated::BUSINESS_ID, self.business_id);
    }
}

/// Start events wait without an instance.
pub(super) fn start(
    record: &Record,
    value: &MessageStartSubscriptionRecord,
    names: &mut Names,
    batch: &mut Batch,
) {
    let Some(intent) = MessageStartSubscriptionIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let state = match intent {
        MessageStartSubscriptionIntent::Created => {
            batch
                .insert(&subscription::ENTITY, id.clone())
                .set(subscription::PROCESS_ID, &value.bpmn_process_id)
                .set(subscription::DEFINITION_KEY, value.process_definition_key)
                .set(subscription::ELEMENT_ID, &value.start_event_id)
                .set(subscription::MESSAGE_NAME, &value.message_name)
                .set(subscription::TENANT, &value.tenant_id)
                .set(subscription::TYPE, word("START_EVENT"));
            describe(record, names, value.process_definition_key, Some(&value.start_event_id), batch);
            "CREATED"
        }
        MessageStartSubscriptionIntent::Correlated => {
            let reached = Reached {
                message_key: value.message_key,
                message_name: &value.message_name,
                correlation_key: &value.correlation_key,
                element_id: (&value.start_event_id).into(),
                element_key: Value::Null,
                process_id: &value.bpmn_process_id,
                definition_key: value.process_definition_key,
                instance_key: value.process_instance_key.into(),
                root_instance_key: value.process_instance_key.into(),
                tenant_id: &value.tenant_id,
                business_id: value.business_id.as_ref(),
            };
            return reached.insert(record, batch);
        }
        MessageStartSubscriptionIntent::Deleted => "DELETED",
    };
    update(record, state, batch);
}

fn update(record: &Record, state: &'static str, batch: &mut Batch) {
    batch
        .update(&subscription::ENTITY, RowId::Key(record.key))
        .set(subscription::STATE, state)
        .set(subscription::UPDATED, record.timestamp_ms);
}
