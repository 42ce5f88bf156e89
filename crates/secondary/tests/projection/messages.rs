//! Messages that reached instances and start events.

use protocol::{Document, Intent, MessageStartSubscriptionRecord, MessageSubscriptionRecord, Name};
use search::model::{correlated_message_subscription as correlated, process_definition};
use secondary::AuditSettings;

use super::{record, rows};

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
