//! Batch operations.

use protocol::{
    AncestorScope, BatchAction, BatchOperationChange, Command, Condition, CreateBatchOperation,
    ElementMapping, ElementSource, InstanceField, InstanceFilter, MigrationPlan, MoveElement, Operand, Test,
};

use super::operations::{bad, fail, succeed};
use crate::rest::contract::Operation;

fn created(action: BatchAction) -> Command {
    let test = Test::Equal(Operand::Text("order".into()));
    let condition = Condition { field: InstanceField::ProcessDefinitionId, test };
    let filter = InstanceFilter { all: vec![condition], any: vec![] };
    Command::CreateBatchOperation(CreateBatchOperation { action, filter, operation_reference: Some(4) })
}

#[test]
fn batch_operations_are_created() {
    let plan = MigrationPlan {
        target_definition_key: 7,
        mappings: vec![ElementMapping { source_element_id: "a".into(), target_element_id: "b".into() }],
    };
    let moves = vec![MoveElement {
        source: ElementSource::Id("a".into()),
        target_id: "b".into(),
        ancestor: AncestorScope::Inferred,
        variables: vec![],
    }];
    for (operation, path, more, action) in [
        (Operation::CancelProcessInstancesBatchOperation, "cancellation", "", BatchAction::Cancel),
        (Operation::ResolveIncidentsBatchOperation, "incident-resolution", "", BatchAction::Resolve),
        (
            Operation::MigrateProcessInstancesBatchOperation,
            "migration",
            r#","migrationPlan":{"targetProcessDefinitionKey":"7","mappingInstructions":[{"sourceElementId":"a","targetElementId":"b"}]}"#,
            BatchAction::Migrate(plan),
        ),
        (
            Operation::ModifyProcessInstancesBatchOperation,
            "modification",
            r#","moveInstructions":[{"sourceElementId":"a","targetElementId":"b"}]"#,
            BatchAction::Modify(moves),
        ),
    ] {
        let path = format!("/v2/process-instances/{path}");
        let body = format!(r#"{{"filter":{{"processDefinitionId":"order"}},"operationReference":4{more}}}"#);
        let kind = action.kind();
        let (answer, command) = succeed(operation, &path, &body);
        assert_eq!(command, created(action));
        assert_eq!(answer, format!(r#"{{"batchOperationKey":"12","batchOperationType":"{kind}"}}"#));
        let without = format!("{{{}}}", more.trim_start_matches(','));
        bad("POST", &path, &without, "filter: is required, but missing");
        let unknown = body.replace(r#""processDefinitionId":"order""#, r#""hasRetriesLeft":true"#);
        let reason = "filter.hasRetriesLeft: this release cannot filter by it, as the state of running instances does not tell";
        bad("POST", &path, &unknown, reason);
    }
    let body = r#"{"filter":{"state":"ACTIVE"},"moveInstructions":[]}"#;
    bad("POST", "/v2/process-instances/modification", body, "moveInstructions: at least one is required");
    let (answer, command) = succeed(
        Operation::ResolveProcessInstanceIncidents,
        "/v2/process-instances/5/incident-resolution",
        "",
    );
    assert_eq!(command, Command::ResolveInstanceIncidents { process_instance_key: 5 });
    assert_eq!(answer, r#"{"batchOperationKey":"12","batchOperationType":"RESOLVE_INCIDENT"}"#);
}

#[test]
fn batch_operations_are_changed() {
    for (operation, path, change) in [
        (Operation::SuspendBatchOperation, "suspension", BatchOperationChange::Suspend),
        (Operation::ResumeBatchOperation, "resumption", BatchOperationChange::Resume),
        (Operation::CancelBatchOperation, "cancellation", BatchOperationChange::Cancel),
    ] {
        let (_, command) = succeed(operation, &format!("/v2/batch-operations/12/{path}"), "");
        assert_eq!(command, Command::ChangeBatchOperation { batch_operation_key: 12, change });
        let path = format!("/v2/batch-operations/8b0f/{path}");
        fail("POST", &path, "", 404, "NOT_FOUND", "there is no batch operation with key '8b0f'");
    }
}
