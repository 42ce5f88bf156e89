//! Messages and signals.

use camunda_orchestration_sdk::apis::message_subscription_api;
use rust_client_suite::{body, client, create, deployed, instance_is, refused, seen};
use serde_json::{Value, json};

#[tokio::test]
async fn a_message_reaches_whom_it_is_for() {
    let client = client();
    let model = deployed(&client, &["message.bpmn"]).await;
    let mut keys = Vec::new();
    for order in ["1", "2"] {
        let created = create(&client, &model.id, json!({"orderId": order})).await;
        keys.push(created.process_instance_key.to_string());
    }
    let message =
        |order: &str| json!({"name": model.id, "correlationKey": order, "variables": {"paid": true}});
    assert_eq!(refused(client.correlate_message(body(message("3"))).await), 404);
    let correlated = client.correlate_message(body(message("1"))).await.unwrap();
    assert_eq!(correlated.process_instance_key.to_string(), keys[0]);
    instance_is(&client, &keys[0], "COMPLETED").await;
    let mut published = message("2");
    published["timeToLive"] = 60_000.into();
    client.publish_message(body(published)).await.unwrap();
    instance_is(&client, &keys[1], "COMPLETED").await;
}

#[tokio::test]
async fn a_message_and_its_subscription_have_a_business_id() {
    let client = client();
    let model = deployed(&client, &["message.bpmn"]).await;
    let mut keys = Vec::new();
    for id in ["x", "y"] {
        let id = format!("{}-{id}", model.id);
        let instruction =
            json!({"processDefinitionId": model.id, "variables": {"orderId": "1"}, "businessId": id});
        let created = client.create_process_instance(body(instruction)).await.unwrap();
        keys.push((created.process_instance_key.to_string(), id));
    }
    let (key, business_id) = &keys[1];
    let found = seen(|| async {
        let query = body(json!({"filter": {"businessId": business_id}, "sort": [{"field": "businessId"}]}));
        let params = message_subscription_api::SearchMessageSubscriptionsParams {
            message_subscription_search_query: query,
        };
        client.search_message_subscriptions(params).await.unwrap().items.into_iter().next()
    });
    let found: Value = serde_json::to_value(found.await).unwrap();
    assert_eq!((&found["processInstanceKey"], &found["businessId"]), (&json!(key), &json!(business_id)));
    let message = json!({"name": model.id, "correlationKey": "1", "businessId": business_id});
    let correlated = client.correlate_message(body(message)).await.unwrap();
    assert_eq!(correlated.process_instance_key.to_string(), *key);
}

#[tokio::test]
async fn a_signal_reaches_everybody() {
    let client = client();
    let model = deployed(&client, &["signal.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    client.broadcast_signal(body(json!({"signalName": model.id, "variables": {}}))).await.unwrap();
    instance_is(&client, &key, "COMPLETED").await;
}
