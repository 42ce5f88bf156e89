//! Clients whose messages find instances of other partitions, each exactly once.

use std::sync::Arc;

use protocol::{
    Command, CreateInstance, DefinitionRef, Document, Idempotency, Key, Name, PublishMessage, RejectionType,
    Response,
};

use super::Scene;

/// An instance waits for a message, and is worked on once it has that.
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><process id="w" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="c"/><intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent><sequenceFlow id="g" sourceRef="c" targetRef="t"/><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask></process><message id="m" name="m"><extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements></message></definitions>"#;
/// Clients of this kind have numbers of their own.
const FIRST_CLIENT: u64 = 1_000;
/// Messages live longer than a run.
const TIME_TO_LIVE_MS: i64 = 600_000;

impl Scene {
    /// Creates instances that wait for a message each, and publishes it, in either order. Workers see an instance when
    /// its message was correlated.
    pub async fn messenger(self: Arc<Self>, client: u64) {
        self.ledger().creator_begins();
        self.deploy_model(MODEL).await;
        let client = FIRST_CLIENT + client;
        let mut request = 0;
        while !self.stops() {
            request += 1;
            let key = format!("{client}-{request}");
            let is_first = self.below(2) == 0;
            if is_first {
                self.publish(&key).await;
            }
            if let Some(instance) = self.create_waiting((client, request), &key).await {
                self.ledger().waits_for_message(instance);
            }
            if !is_first {
                self.publish(&key).await;
            }
            self.pause().await;
        }
        self.ledger().creator_ends();
    }

    async fn create_waiting(&self, request: (u64, u64), key: &str) -> Option<Key> {
        let variables = Document::parse(format!(r#"{{"key":"{key}"}}"#).into()).expect("it is an object");
        let definition = DefinitionRef::Id { id: Name::from("w"), version: None };
        let create = CreateInstance { variables, ..CreateInstance::of(definition) };
        let once = Idempotency { key: [request.0, request.1], fingerprint: [1, 1] };
        let era = self.ledger().era();
        match self.ask_until(Command::CreateInstance(create).once(Some(once))).await {
            Ok(Response::InstanceCreated(created)) => {
                self.ledger().created(era, request, created.process_instance_key);
                Some(created.process_instance_key)
            }
            other => {
                self.ledger().violated(format!("a creation was answered with {other:?}"));
                None
            }
        }
    }

    async fn publish(&self, key: &str) {
        let publish = PublishMessage {
            name: Name::from("m"),
            correlation_key: Name::from(key),
            time_to_live_ms: TIME_TO_LIVE_MS,
            message_id: Name::from(key),
            variables: Document::empty(),
            tenant_id: Name::default_tenant(),
            business_id: None,
        };
        match self.ask_until(Command::PublishMessage(publish)).await {
            // An earlier attempt has published it.
            Ok(_) | Err((RejectionType::AlreadyExists, _)) => {}
            Err((_, reason)) => self.ledger().violated(format!("a message is refused: {reason}")),
        }
    }
}
