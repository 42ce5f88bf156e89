//! `POST /v2/process-definitions/statistics/message-subscriptions`: of each definition, what waits for messages.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{Key, Query, QueryReply, SubscriptionView};

use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Digits, object};

/// The subscriptions of one definition.
struct Definition {
    one: SubscriptionView,
    subscriptions: u64,
    instances: BTreeSet<Key>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    if !call.fields.value("filter")["lastUpdatedDate"].is_null() {
        return Err(Failure::invalid("filter.lastUpdatedDate: this release cannot filter by it"));
    }
    let reply = call.read(Query::Subscriptions { limit: ENTITIES_MAX }).await?;
    let QueryReply::Subscriptions { mut subscriptions, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    search.retain(&mut subscriptions, property);
    let mut definitions: BTreeMap<Key, Definition> = BTreeMap::new();
    for one in subscriptions {
        let instance_key = one.process_instance_key;
        let definition = definitions.entry(one.process_definition_key).or_insert_with(|| Definition {
            one,
            subscriptions: 0,
            instances: BTreeSet::new(),
        });
        definition.subscriptions += 1;
        definition.instances.insert(instance_key);
    }
    let definitions = definitions.into_values().collect();
    Ok(Reply::json(search.page(definitions, has_more, |_, _| None, write)))
}

fn property(subscription: &SubscriptionView, name: &str) -> Option<String> {
    match name {
        "messageSubscriptionKey" => Some(subscription.key.to_string()),
        "processDefinitionKey" => Some(subscription.process_definition_key.to_string()),
        "processDefinitionId" => Some(subscription.process_id.to_string()),
        "processInstanceKey" => Some(subscription.process_instance_key.to_string()),
        "elementId" => Some(subscription.element_id.to_string()),
        "elementInstanceKey" => Some(subscription.element_instance_key.to_string()),
        // Closed subscriptions are not kept.
        "messageSubscriptionState" => Some("CREATED".to_owned()),
        "messageName" => Some(subscription.message_name.to_string()),
        "correlationKey" => Some(subscription.correlation_key.to_string()),
        "tenantId" => Some(subscription.tenant_id.to_string()),
        _ => None,
    }
}

fn write(definition: &Definition, out: &mut Vec<u8>) {
    object(out)
        .with("processDefinitionId", &definition.one.process_id)
        .with("tenantId", &definition.one.tenant_id)
        .with("processDefinitionKey", Digits(definition.one.process_definition_key))
        .with("processInstancesWithActiveSubscriptions", definition.instances.len())
        .with("activeSubscriptions", definition.subscriptions)
        .end();
}
