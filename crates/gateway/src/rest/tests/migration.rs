//! Migration of process instances.

use protocol::{Command, ElementMapping, MigrateInstance, MigrationPlan, Name};

use super::operations::{bad, succeed};
use crate::rest::contract::Operation;

#[test]
fn migrate() {
    let path = "/v2/process-instances/5/migration";
    let body = r#"{"targetProcessDefinitionKey":"7","mappingInstructions":[
        {"sourceElementId":"a","targetElementId":"b\u0021"},{"sourceElementId":"c","targetElementId":"c"}],"operationReference":3}"#;
    let mapping = |source, target| ElementMapping {
        source_element_id: Name::from(source),
        target_element_id: Name::from(target),
    };
    let wanted = MigrateInstance {
        process_instance_key: 5,
        plan: MigrationPlan {
            target_definition_key: 7,
            mappings: vec![mapping("a", "b!"), mapping("c", "c")],
        },
        operation_reference: Some(3),
    };
    let (answer, command) = succeed(Operation::MigrateProcessInstance, path, body);
    assert_eq!(command, Command::MigrateInstance(wanted));
    assert_eq!(answer, "");
    bad(
        "POST",
        path,
        "{}",
        "mappingInstructions: is required, but missing; targetProcessDefinitionKey: is required, but missing",
    );
    bad(
        "POST",
        path,
        r#"{"targetProcessDefinitionKey":"7"}"#,
        "mappingInstructions: is required, but missing",
    );
    bad(
        "POST",
        path,
        r#"{"targetProcessDefinitionKey":"7","mappingInstructions":[{"sourceElementId":"a"}]}"#,
        "mappingInstructions[0].targetElementId: is required, but missing",
    );
    bad(
        "POST",
        path,
        r#"{"targetProcessDefinitionKey":"99999999999999999999","mappingInstructions":[]}"#,
        "targetProcessDefinitionKey: a key has at most 64 bits",
    );
}
