"""camunda-orchestration-sdk against the REST API."""

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from camunda_orchestration_sdk import CamundaAsyncClient, WorkerConfig
from camunda_orchestration_sdk.errors import (
    ApiError,
    BadRequestError,
    ConflictError,
    GatewayTimeoutError,
    NotFoundError,
)
from camunda_orchestration_sdk.models import (
    ActivatedJobResult,
    ExpressionEvaluationRequest,
    JobActivationRequest,
    JobCompletionRequest,
    JobErrorRequest,
    JobFailRequest,
    JobKindEnum,
    JobListenerEventTypeEnum,
    JobUpdateRequest,
    MessageCorrelationRequest,
    MessagePublicationRequest,
    PartitionHealth,
    PartitionRole,
    ProcessCreationById,
    ProcessCreationByKey,
    ProblemDetail,
    ProcessInstanceSearchQuery,
    SetVariableRequest,
)
from camunda_orchestration_sdk.runtime.job_worker import JobError, JobFailure

from rest import TIMEOUT, configuration, create, deployed
from server import (
    AT_ONCE_S,
    KEYS_TO_TRY_MAX,
    PARTITION_SHIFT,
    PARTITIONS,
    RESULT_TIMEOUT_MS,
    TENANT,
    TOO_LARGE,
    UNKNOWN_KEY,
    Model,
    model,
)

NO_WAIT = -1


@pytest.fixture
def background():
    with ThreadPoolExecutor() as pool:
        yield pool


def awaiting(client, pool, m, variables=None) -> "Future[dict]":
    """Creates in the background, for the call answers only when the instance has ended."""
    more = {"awaitCompletion": True, "requestTimeout": RESULT_TIMEOUT_MS}
    return pool.submit(lambda: create(client, m, variables, **more).variables.to_dict())


def activate(client, m, wait_ms=15_000, **more) -> list[ActivatedJobResult]:
    body = {"type": m.id, "timeout": 60_000, "maxJobsToActivate": 10, "requestTimeout": wait_ms}
    return client.activate_jobs(data=JobActivationRequest.from_dict({**body, **more})).jobs


def activate_one(client, m, **more) -> ActivatedJobResult:
    jobs = activate(client, m, **more)
    assert len(jobs) == 1
    return jobs[0]


def complete(client, key, variables=None):
    client.complete_job(key, data=JobCompletionRequest.from_dict({"variables": variables or {}}))


def fail(client, key, **fields):
    client.fail_job(key, data=JobFailRequest.from_dict(fields))


def cancel(client, key):
    # Leaving the optional body out makes this version of the SDK fail; None sends none.
    client.cancel_process_instance(key, data=None)


def publish(client, m, key, ttl_ms, **more):
    body = {"name": m.id, "correlationKey": key, "timeToLive": ttl_ms, **more}
    return client.publish_message(data=MessagePublicationRequest.from_dict(body))


def detail(refused: "pytest.ExceptionInfo[ApiError]") -> str:
    problem = refused.value.parsed
    assert isinstance(problem, ProblemDetail), refused.value.content
    assert problem.status == refused.value.status_code
    assert problem.title and problem.instance
    return problem.detail


def test_topology_names_one_healthy_leader(client):
    topology = client.get_topology()
    assert topology.cluster_size == topology.replication_factor == 1
    assert topology.partitions_count == PARTITIONS
    assert topology.gateway_version
    partitions = topology.brokers[0].partitions
    assert len(partitions) == PARTITIONS
    assert all(partition.role is PartitionRole.LEADER for partition in partitions)
    assert all(partition.health is PartitionHealth.HEALTHY for partition in partitions)


def test_status_license_and_expression(client):
    assert client.get_status() is None
    assert isinstance(client.get_license().valid_license, bool)
    request = ExpressionEvaluationRequest.from_dict({"expression": "=1 + 2"})
    assert client.evaluate_expression(data=request).result == 3


def test_deploys_and_versions_a_process(client):
    m = model("task")
    first = client.deploy_resources_from_files([m.path]).processes
    assert len(first) == 1
    assert first[0].process_definition_id == m.id
    assert first[0].process_definition_version == 1
    assert first[0].resource_name == m.resource
    assert first[0].tenant_id == TENANT
    again = client.deploy_resources_from_files([m.path]).processes[0]
    assert again.process_definition_key == first[0].process_definition_key
    m.replace("parcels", "letters")
    changed = client.deploy_resources_from_files([m.path]).processes[0]
    assert changed.process_definition_version == 2


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("malformed-expression", "price_check"),
        ("missing-type", "untyped_work"),
        ("not-well-formed", ""),
    ],
)
def test_refuses_a_bad_deployment_naming_the_place(client, name, element):
    with pytest.raises(BadRequestError) as refused:
        deployed(client, name)
    assert f"{name}.bpmn" in detail(refused)
    assert element in detail(refused)


def test_creates_by_id_and_key(client):
    m = model("task")
    process = client.deploy_resources_from_files([m.path]).processes[0]
    by_id = create(client, m, {"n": 1})
    assert by_id.process_definition_key == process.process_definition_key
    assert by_id.tenant_id == TENANT
    assert by_id.variables.to_dict() == {}
    assert by_id.tags == []
    assert by_id.business_id is None
    body = {"processDefinitionKey": process.process_definition_key}
    by_key = client.create_process_instance(data=ProcessCreationByKey.from_dict(body))
    first, second = int(by_id.process_instance_key), int(by_key.process_instance_key)
    # Keys of one partition grow, those of two say nothing of each other.
    assert second > first if PARTITIONS == 1 else second >> PARTITION_SHIFT != first >> PARTITION_SHIFT


def test_returns_the_result(client):
    m = deployed(client, "straight")
    variables = {"price": 12, "quantity": 3, "note": "grüße"}
    more = {"awaitCompletion": True, "requestTimeout": RESULT_TIMEOUT_MS}
    result = create(client, m, variables, **more)
    assert result.variables.to_dict() == {**variables, "total": 36}
    some = create(client, m, variables, **more, fetchVariables=["total"])
    assert some.variables.to_dict() == {"total": 36}


def test_refuses_an_unknown_process(client):
    unknown = Model("nowhere", "", None)
    # The contract does not list 404 here, so the SDK raises its general error.
    with pytest.raises(ApiError) as refused:
        create(client, unknown)
    assert refused.value.status_code == 404
    assert b"nowhere" in refused.value.content


@pytest.mark.parametrize(("limit", "size"), TOO_LARGE)
def test_refuses_what_is_too_large_at_once(client, limit, size):
    m = deployed(client, "task")
    start = time.monotonic()
    with pytest.raises(ApiError) as refused:
        create(client, m, {"a": "x" * size})
    assert time.monotonic() - start < AT_ONCE_S
    assert refused.value.status_code == 413
    assert limit.encode() in refused.value.content
    create(client, m, {"a": "x"})


def test_refuses_variables_that_are_not_an_object(client):
    m = deployed(client, "task")
    request = ProcessCreationById.from_dict({"processDefinitionId": m.id})
    request.variables = _Raw([1, 2])
    with pytest.raises(BadRequestError) as refused:
        client.create_process_instance(data=request)
    assert "variables" in detail(refused)


class _Raw:
    def __init__(self, value):
        self._value = value

    def to_dict(self):
        return self._value


def test_hands_out_a_job_with_everything_a_worker_reads(client):
    m = deployed(client, "task")
    instance = create(client, m, {"n": 7, "list": [1, 2]})
    before = time.time() * 1000
    job = activate_one(client, m, worker="tester")
    assert job.type_ == job.process_definition_id == m.id
    assert job.process_instance_key == instance.process_instance_key
    assert job.process_definition_key == instance.process_definition_key
    assert job.root_process_instance_key == instance.process_instance_key
    assert job.element_id == "work"
    assert job.custom_headers.to_dict() == {"queue": "parcels"}
    assert job.variables.to_dict() == {"n": 7, "list": [1, 2]}
    assert job.worker == "tester"
    assert job.retries == 3
    assert job.kind is JobKindEnum.BPMN_ELEMENT
    assert job.listener_event_type is JobListenerEventTypeEnum.UNSPECIFIED
    assert job.user_task is None
    assert job.tenant_id == TENANT
    assert before + 59_999 <= job.deadline <= time.time() * 1000 + 60_001


def test_completes_a_job_with_and_without_a_body(client, background):
    m = deployed(client, "task")
    result = awaiting(client, background, m, {"n": 1})
    job = activate_one(client, m)
    complete(client, job.job_key, {"answer": 42})
    assert result.result() == {"n": 1, "answer": 42}
    with pytest.raises(NotFoundError) as refused:
        complete(client, job.job_key)
    assert job.job_key in detail(refused)

    result = awaiting(client, background, m)
    client.complete_job(activate_one(client, m).job_key)
    assert result.result() == {}


def test_gives_a_failed_job_back_after_its_backoff(client, background):
    m = deployed(client, "task")
    result = awaiting(client, background, m)
    job = activate_one(client, m)
    failed = time.monotonic()
    fail(client, job.job_key, retries=2, retryBackOff=1_500, errorMessage="try later")
    assert activate(client, m, wait_ms=NO_WAIT) == []
    with pytest.raises(ConflictError) as refused:
        complete(client, job.job_key)
    assert detail(refused)
    again = activate_one(client, m)
    waited = time.monotonic() - failed
    assert again.job_key == job.job_key
    assert again.retries == 2
    assert 1.45 <= waited < 6.5
    complete(client, again.job_key)
    result.result()


def test_catches_a_bpmn_error_at_the_boundary(client, background):
    m = deployed(client, "error")
    result = awaiting(client, background, m)
    job = activate_one(client, m)
    body = {"errorCode": "REFUSED", "errorMessage": "no stock"}
    client.throw_job_error(job.job_key, data=JobErrorRequest.from_dict(body))
    assert result.result()["path"] == "refused"


def test_long_polls(client, background):
    m = deployed(client, "task")
    start = time.monotonic()
    assert activate(client, m, wait_ms=1_000) == []
    assert 0.9 <= time.monotonic() - start < 5
    poll = background.submit(lambda: (activate(client, m, wait_ms=20_000), time.monotonic()))
    create(client, m)
    created = time.monotonic()
    jobs, answered = poll.result()
    assert len(jobs) == 1
    assert answered - created < 2


def test_refuses_unknown_keys(client):
    key = str(UNKNOWN_KEY)
    update = JobUpdateRequest.from_dict({"changeset": {"retries": 1}})
    for command in (
        lambda: complete(client, key),
        lambda: client.complete_job(key),
        lambda: fail(client, key, retries=1),
        lambda: client.throw_job_error(key, data=JobErrorRequest.from_dict({"errorCode": "E"})),
        lambda: client.update_job(key, data=update),
        lambda: cancel(client, key),
        lambda: client.resolve_incident(key),
    ):
        with pytest.raises(NotFoundError) as refused:
            command()
        assert key in detail(refused)


def test_refuses_a_bad_activation(client):
    with pytest.raises(BadRequestError) as refused:
        activate(client, Model("t", "", None), maxJobsToActivate=0)
    assert "maxJobsToActivate" in detail(refused)


def test_correlates_messages_published_before_and_after_the_subscription(client, background):
    m = deployed(client, "message")
    publish(client, m, "early", 60_000, variables={"paid": True})
    result = awaiting(client, background, m, {"orderId": "early"})
    assert result.result() == {"orderId": "early", "paid": True}

    result = awaiting(client, background, m, {"orderId": "late"})
    # The time to live covers the moment before the subscription is open.
    publish(client, m, "late", 20_000, variables={"paid": 9.5})
    assert result.result() == {"orderId": "late", "paid": 9.5}


def test_drops_a_message_without_time_to_live_and_times_out_the_result(client):
    m = deployed(client, "message")
    publish(client, m, "gone", 0)
    with pytest.raises(GatewayTimeoutError) as refused:
        create(client, m, {"orderId": "gone"}, awaitCompletion=True, requestTimeout=700)
    assert detail(refused)


def test_refuses_a_message_id_that_is_still_buffered(client):
    m = deployed(client, "message")
    assert int(publish(client, m, "o", 60_000, messageId="m-1").message_key) > 0
    with pytest.raises(ApiError) as refused:
        publish(client, m, "o", 60_000, messageId="m-1")
    assert refused.value.status_code == 409
    assert b"m-1" in refused.value.content


def test_correlates_a_message_and_names_the_instance(client):
    m = deployed(client, "message")
    instance = create(client, m, {"orderId": "o-5"})
    body = {"name": m.id, "correlationKey": "o-5"}
    request = MessageCorrelationRequest.from_dict(body)
    # The subscription opens a moment after the creation was answered.
    end = time.monotonic() + 10
    while True:
        try:
            correlated = client.correlate_message(data=request)
            break
        except NotFoundError:
            assert time.monotonic() < end
    assert correlated.process_instance_key == instance.process_instance_key
    with pytest.raises(NotFoundError):
        client.correlate_message(data=request)


def test_cancels_an_instance(client):
    m = deployed(client, "task")
    instance = create(client, m)
    job = activate_one(client, m)
    cancel(client, instance.process_instance_key)
    with pytest.raises(NotFoundError):
        complete(client, job.job_key)
    with pytest.raises(NotFoundError):
        cancel(client, instance.process_instance_key)


def test_sets_variables_in_the_instance_and_in_an_element(client, background):
    m = deployed(client, "task")
    result = awaiting(client, background, m, {"n": 1})
    job = activate_one(client, m)
    shared = {"n": 2, "nested": {"a": [1, 2]}}

    def set_variables(key, variables, local):
        body = {"variables": variables, "local": local}
        client.create_element_instance_variables(key, data=SetVariableRequest.from_dict(body))

    set_variables(job.process_instance_key, shared, False)
    set_variables(job.element_instance_key, {"own": "local"}, True)
    fail(client, job.job_key, retries=1)
    again = activate_one(client, m)
    assert again.variables.to_dict() == {**shared, "own": "local"}
    complete(client, again.job_key)
    assert result.result() == shared


def test_resolves_the_incident_of_a_job_without_retries(client, background):
    """Without a search endpoint the incident's key is known only to lie between the job's key and
    one drawn later, so each in between is tried."""
    m = deployed(client, "task")
    result = awaiting(client, background, m)
    job = activate_one(client, m)
    fail(client, job.job_key, retries=0, errorMessage="broken")
    assert activate(client, m, wait_ms=NO_WAIT) == []
    update = JobUpdateRequest.from_dict({"changeset": {"retries": 1}})
    client.update_job(job.job_key, data=update)
    assert activate(client, m, wait_ms=NO_WAIT) == [], "the incident does not hold the job"

    other = deployed(client, "message")
    later = 0
    while later >> PARTITION_SHIFT != int(job.job_key) >> PARTITION_SHIFT:
        later = int(create(client, other, {"orderId": "x"}).process_instance_key)
    assert later - int(job.job_key) <= KEYS_TO_TRY_MAX
    assert any(_resolves(client, key) for key in range(int(job.job_key) + 1, later))

    again = activate_one(client, m)
    assert again.job_key == job.job_key
    assert again.retries == 1
    complete(client, again.job_key)
    result.result()


def _resolves(client, key: int) -> bool:
    try:
        client.resolve_incident(str(key))
        return True
    except NotFoundError:
        return False


def test_the_worker_completes_fails_and_throws():
    asyncio.run(asyncio.wait_for(_work(), 60))


async def _work():
    async with CamundaAsyncClient(configuration=configuration(), timeout=TIMEOUT) as client:
        m = model("error")
        await client.deploy_resources_from_files([m.path])
        retries_seen = []

        async def handle(job):
            task = job.variables.to_dict()["task"]
            if task == "throw":
                raise JobError("REFUSED", "no")
            if task == "fail":
                retries_seen.append(job.retries)
                if job.retries > 1:
                    raise JobFailure("not yet", retries=job.retries - 1, retry_back_off=100)
            return {"worker": job.worker}

        config = WorkerConfig(
            job_type=m.id,
            job_timeout_milliseconds=30_000,
            request_timeout_milliseconds=10_000,
            worker_name="python-worker",
        )
        worker = client.create_job_worker(config, handle)
        try:
            results = await asyncio.gather(
                *(_run(client, m, task) for task in ("complete", "throw", "fail"))
            )
        finally:
            worker.stop()
        assert [r["path"] for r in results] == ["completed", "refused", "completed"]
        assert results[0]["worker"] == "python-worker"
        assert retries_seen == [3, 2, 1]


async def _run(client: CamundaAsyncClient, m: Model, task: str) -> dict:
    body = {
        "processDefinitionId": m.id,
        "variables": {"task": task},
        "awaitCompletion": True,
        "requestTimeout": RESULT_TIMEOUT_MS,
    }
    created = await client.create_process_instance(data=ProcessCreationById.from_dict(body))
    return created.variables.to_dict()


def test_a_search_reads_what_is_found(client):
    m = deployed(client, "task")
    keys = {str(create(client, m).process_instance_key) for _ in range(3)}
    query = ProcessInstanceSearchQuery.from_dict(
        {"filter": {"processDefinitionId": m.id}, "sort": [{"field": "startDate", "order": "DESC"}]}
    )
    found = client.search_process_instances(data=query)
    assert {str(item.process_instance_key) for item in found.items} == keys
