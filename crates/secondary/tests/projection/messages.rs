//! Messages that reached instances and start events.

use protocol::{Document, Intent, MessageStartSubscriptionRecord, MessageSubscriptionRecord, Name};
use search::StoreError;
use search::model::message_subscription as subscription;
use search::model::{correlated_message_subscription as correlated, process_definition};
use secondary::{AuditSettings, DeployedModel, Loader, Projection};

use super::{record, rows, rows_by};

fn reached(business_id: Option<&str>) -> MessageSubscriptionRecord {
    MessageSubscriptionRecord {
        element_type: None,
        root_process_instance_key: None,
        process_instance_key: 10,
        element_instance_key: 11,
        message_key: Some(5),
        message_name: Name::from("m"),
        correlation_key: Name::from("k"),
        bpmn_process_id: Name::from("p"),
        interrupting: true,
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        element_id: Some(Name::from("wait")),
        process_definition_key: 3,
        business_id: business_id.map(Name::from),
    }
}

fn started(business_id: Option<&str>) -> MessageStartSubscriptionRecord {
    MessageStartSubscriptionRecord {
        process_definition_key: 3,
        bpmn_process_id: Name::from("p"),
        start_event_id: Name::from("s"),
        message_name: Name::from("m"),
        process_instance_key: Some(20),
        message_key: Some(6),
        correlation_key: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: business_id.map(Name::from),
    }
}

#[test]
fn the_business_id_of_whom_a_message_reached_is_told() {
    let records = [
        record(1, 30, Intent::Correlated, reached(Some("x"))),
        record(2, 31, Intent::Correlated, reached(None)),
        record(3, 32, Intent::Correlated, started(Some("y"))),
        record(4, 33, Intent::Correlated, started(None)),
    ];
    let rows = rows(&correlated::ENTITY, &AuditSettings::none(), &records);
    let ids: Vec<_> = rows.iter().map(|row| row.get("businessId").map(String::as_str)).collect();
    assert_eq!(ids, [Some("x"), None, Some("y"), None]);
}

/// Knows the model of the definition 3, whose catch event is a tool of agents and an inbound connector.
struct Tool;

impl Loader for Tool {
    fn load(&mut self, key: u64) -> Result<Option<DeployedModel>, StoreError> {
        let file = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
            xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="p" name="Order">
            <intermediateCatchEvent id="wait"><extensionElements><zeebe:properties>
            <zeebe:property name="io.camunda.tool:name" value="pay"/><zeebe:property name="inbound.type" value="http"/>
            <zeebe:property name="io.camunda.tool:say" value="&quot;hi&quot;"/>
            </zeebe:properties></extensionElements></intermediateCatchEvent>
            <startEvent id="s"/></process></definitions>"#;
        Ok((key == 3).then(|| DeployedModel { process_id: "p".into(), version: 4, file: file.into() }))
    }
}

#[test]
fn a_subscription_tells_its_process_its_business_id_and_the_tool_that_it_is() {
    let opened = MessageSubscriptionRecord { root_process_instance_key: Some(9), ..reached(Some("x")) };
    let start =
        MessageStartSubscriptionRecord { process_instance_key: None, message_key: None, ..started(None) };
    let records = [record(1, 30, Intent::Created, opened), record(2, 31, Intent::Created, start)];
    let rows = rows_by(Projection::new(Box::new(Tool)), &subscription::ENTITY, &records);
    let all = r#"{"inbound.type":"http","io.camunda.tool:name":"pay","io.camunda.tool:say":"\"hi\""}"#;
    let tool = r#"{"io.camunda.tool:name":"pay","io.camunda.tool:say":"\"hi\""}"#;
    for (name, of_event, of_start) in [
        ("processDefinitionName", Some("Order"), Some("Order")),
        ("processDefinitionVersion", Some("4"), Some("4")),
        ("rootProcessInstanceKey", Some("9"), None),
        ("businessId", Some("x"), None),
        ("toolName", Some("pay"), None),
        ("inboundConnectorType", Some("http"), None),
        ("toolProperties", Some(tool), Some("{}")),
        ("extensionProperties", Some(all), Some("{}")),
    ] {
        let told = [0, 1].map(|at: usize| rows[at].get(name).map(String::as_str));
        assert_eq!(told, [of_event, of_start], "{name}");
    }
}

#[test]
fn a_definition_drains_until_its_last_instance_has_ended() {
    let process = |intent| {
        let definition = protocol::ProcessRecord {
            bpmn_process_id: Name::from("p"),
            version: 1,
            version_tag: Name::default(),
            process_definition_key: 3,
            resource_name: Name::from("p.bpmn"),
            checksum: Name::default(),
            resource: Name::default(),
            deployment_key: 2,
            tenant_id: Name::default_tenant(),
            duplicate: false,
        };
        record(1, 3, intent, definition)
    };
    let states = [Intent::Deleting, Intent::Deleted].map(|intent| {
        let rows = rows(&process_definition::ENTITY, &AuditSettings::none(), &[process(intent)]);
        rows[0]["state"].clone()
    });
    assert_eq!(states, ["DRAINING", "DELETED"]);
}
