"""What goes beyond jobs and messages, with camunda-orchestration-sdk over REST."""

import time

import pytest
from camunda_orchestration_sdk import CamundaClient
from camunda_orchestration_sdk.errors import BadRequestError, ConflictError, NotFoundError
from camunda_orchestration_sdk.models import (
    ConditionalEvaluationInstruction,
    CreateClusterVariableRequest,
    DecisionEvaluationByID,
    ExpressionEvaluationRequest,
    JobActivationRequest,
    JobCompletionRequest,
    ProcessInstanceCancellationBatchOperationRequest,
    ProcessInstanceModificationInstruction,
    UserTaskAssignmentRequest,
)

from rest import create, deployed

BATCH_TIMEOUT_S = 20


def job(client: CamundaClient, job_type: str):
    body = {"type": job_type, "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 15_000}
    (only,) = client.activate_jobs(data=JobActivationRequest.from_dict(body)).jobs
    return only


def test_evaluates_a_decision(client):
    m = deployed(client, "rule", "rule.dmn")
    body = {"decisionDefinitionId": f"{m.id}-discount", "variables": {"total": 150}}
    result = client.evaluate_decision(data=DecisionEvaluationByID.from_dict(body))
    assert result.output == "10"
    assert result.evaluated_decisions[0].matched_rules[0].rule_id == "large"
    with pytest.raises(NotFoundError):
        body = {"decisionDefinitionId": "nowhere", "variables": {}}
        client.evaluate_decision(data=DecisionEvaluationByID.from_dict(body))


def test_collects_the_outputs_of_a_multi_instance(client):
    m = deployed(client, "multi")
    done = create(client, m, {"items": [5, 6, 7]}, awaitCompletion=True, requestTimeout=20_000)
    assert done.variables.to_dict()["products"] == [5, 12, 21]


def test_a_user_task_is_claimed_and_completed(client):
    m = deployed(client, "user-task")
    create(client, m, {"who": "ann"})
    creating = job(client, f"{m.id}-creating")
    key = creating.user_task.user_task_key
    client.complete_job(creating.job_key, data=JobCompletionRequest.from_dict({}))
    client.unassign_user_task(key)
    claim = UserTaskAssignmentRequest.from_dict({"assignee": "bob", "allowOverride": False})
    client.assign_user_task(key, data=claim)
    other = UserTaskAssignmentRequest.from_dict({"assignee": "eve", "allowOverride": False})
    with pytest.raises(ConflictError):
        client.assign_user_task(key, data=other)


def test_a_modification_moves_an_instance_on(client):
    m = deployed(client, "two-steps")
    instance = create(client, m)
    first = job(client, m.id)
    body = {
        "activateInstructions": [{"elementId": "second"}],
        "terminateInstructions": [{"elementInstanceKey": first.element_instance_key}],
    }
    instruction = ProcessInstanceModificationInstruction.from_dict(body)
    client.modify_process_instance(instance.process_instance_key, data=instruction)
    assert job(client, m.id).element_id == "second"
    with pytest.raises(BadRequestError):
        body = {"activateInstructions": [{"elementId": "nowhere"}]}
        instruction = ProcessInstanceModificationInstruction.from_dict(body)
        client.modify_process_instance(instance.process_instance_key, data=instruction)


def test_a_batch_operation_cancels_what_its_filter_matches(client):
    m = deployed(client, "task")
    keys = [create(client, m).process_instance_key for _ in range(3)]
    body = {"filter": {"processDefinitionId": m.id}}
    operation = client.cancel_process_instances_batch_operation(
        data=ProcessInstanceCancellationBatchOperationRequest.from_dict(body)
    )
    end = time.monotonic() + BATCH_TIMEOUT_S
    while time.monotonic() < end:
        state = client.get_batch_operation(operation.batch_operation_key)
        if str(state.state) == "COMPLETED":
            break
        time.sleep(0.02)
    assert state.operations_completed_count == 3
    for key in keys:
        with pytest.raises(NotFoundError):
            client.cancel_process_instance(key, data=None)


def test_expressions_read_cluster_variables(client):
    name = f"limit_{time.time_ns()}"
    body = {"name": name, "value": {"max": 5}}
    client.create_global_cluster_variable(data=CreateClusterVariableRequest.from_dict(body))
    expression = {"expression": f"=camunda.vars.env.{name}.max + 1"}
    read = client.evaluate_expression(data=ExpressionEvaluationRequest.from_dict(expression))
    assert read.result == 6
    client.delete_global_cluster_variable(name)


def test_evaluates_conditionals(client):
    body = {"variables": {"nobody": "waits"}}
    result = client.evaluate_conditionals(data=ConditionalEvaluationInstruction.from_dict(body))
    assert result.process_instances == []
