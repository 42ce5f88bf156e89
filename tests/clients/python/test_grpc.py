"""pyzeebe against the gRPC gateway.

It has no commands to set variables, to update retries or to resolve incidents; the other suites
cover those.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import grpc
import pytest
from pyzeebe import Job, ZeebeClient, ZeebeWorker, create_insecure_channel
from pyzeebe.errors import (
    ActivateJobsRequestInvalidError,
    BusinessError,
    InvalidJSONError,
    JobAlreadyDeactivatedError,
    JobNotFoundError,
    MessageAlreadyExistsError,
    ProcessDefinitionNotFoundError,
    ProcessInstanceNotFoundError,
    ProcessInvalidError,
    ProcessTimeoutError,
)
from pyzeebe.grpc_internals.types import HealthCheckResponse

from server import AT_ONCE_S, PARTITIONS, RESULT_TIMEOUT_MS, TENANT, TOO_LARGE, UNKNOWN_KEY, Model, grpc_address, model

NO_WAIT = -1
TEST_TIMEOUT_S = 60


def run(test: Callable[[ZeebeClient], Awaitable[None]]) -> None:
    """Runs a test with a client; gRPC's channel belongs to the loop that made it."""

    async def connected():
        channel = create_insecure_channel(grpc_address=grpc_address())
        try:
            await test(ZeebeClient(channel))
        finally:
            await channel.close()

    asyncio.run(asyncio.wait_for(connected(), TEST_TIMEOUT_S))


async def deployed(client: ZeebeClient, name: str) -> Model:
    result = model(name)
    await client.deploy_resource(result.path)
    return result


def awaiting(client: ZeebeClient, m: Model, variables: dict | None = None) -> "asyncio.Task[dict]":
    async def result():
        done = await client.run_process_with_result(m.id, variables, timeout=RESULT_TIMEOUT_MS)
        return done.variables

    return asyncio.create_task(result())


async def activate(client: ZeebeClient, m: Model, wait_ms: int = 9_000, fetch: tuple = ()) -> list:
    return [
        job
        async for job in client.zeebe_adapter.activate_jobs(
            task_type=m.id,
            worker="tester",
            timeout=60_000,
            max_jobs_to_activate=10,
            variables_to_fetch=fetch,
            request_timeout=wait_ms,
        )
    ]


async def activate_one(client: ZeebeClient, m: Model, **more):
    jobs = await activate(client, m, **more)
    assert len(jobs) == 1
    return jobs[0]


async def complete(client: ZeebeClient, key: int, variables: dict | None = None) -> None:
    await client.zeebe_adapter.complete_job(key, variables or {})


async def fail(client, key, retries, backoff_ms=0, variables=None) -> None:
    await client.zeebe_adapter.fail_job(key, retries, "broken", backoff_ms, variables or {})


@contextlib.contextmanager
def refused(error: type[Exception], code: grpc.StatusCode, *words: str):
    """The client's own error, and the status it was made from."""
    with pytest.raises(error) as caught:
        yield
    cause = caught.value.__cause__
    assert isinstance(cause, grpc.aio.AioRpcError)
    assert cause.code() is code
    for word in words:
        assert word in cause.details()


def test_topology_and_health():
    async def test(client):
        topology = await client.topology()
        assert (topology.cluster_size, topology.partitions_count) == (1, PARTITIONS)
        assert topology.replication_factor == 1
        assert topology.gateway_version
        partitions = topology.brokers[0].partitions
        assert [partition.partition_id for partition in partitions] == list(range(1, PARTITIONS + 1))
        assert {partition.role.name for partition in partitions} == {"LEADER"}
        assert {partition.health.name for partition in partitions} == {"HEALTHY"}
        health = await client.healthcheck()
        assert health.status == HealthCheckResponse.ServingStatus.SERVING

    run(test)


def test_deploys_and_versions_a_process():
    async def test(client):
        m = model("task")
        first = (await client.deploy_resource(m.path)).deployments
        assert len(first) == 1
        assert first[0].bpmn_process_id == m.id
        assert first[0].version == 1
        assert first[0].resource_name == m.resource
        assert first[0].tenant_id == TENANT
        m.replace("parcels", "letters")
        second = (await client.deploy_resource(m.path)).deployments[0]
        assert second.version == 2
        assert second.process_definition_key != first[0].process_definition_key

    run(test)


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("malformed-expression", "price_check"),
        ("missing-type", "untyped_work"),
        ("not-well-formed", ""),
    ],
)
def test_refuses_a_bad_deployment_naming_the_place(name, element):
    async def test(client):
        code = grpc.StatusCode.INVALID_ARGUMENT
        with refused(ProcessInvalidError, code, f"{name}.bpmn", element):
            await deployed(client, name)

    run(test)


def test_creates_and_returns_results():
    async def test(client):
        m = await deployed(client, "straight")
        created = await client.run_process(m.id, {"price": 1, "quantity": 1})
        assert created.bpmn_process_id == m.id
        assert created.version == 1
        assert created.tenant_id == TENANT
        variables = {"price": 12, "quantity": 3, "note": "grüße"}
        result = await client.run_process_with_result(m.id, variables, timeout=RESULT_TIMEOUT_MS)
        assert result.variables == {**variables, "total": 36}
        assert result.process_instance_key > created.process_instance_key
        some = await client.run_process_with_result(
            m.id, variables, timeout=RESULT_TIMEOUT_MS, variables_to_fetch=["total"]
        )
        assert some.variables == {"total": 36}

    run(test)


def test_refuses_unknown_processes_and_bad_variables():
    async def test(client):
        with refused(ProcessDefinitionNotFoundError, grpc.StatusCode.NOT_FOUND, "nowhere"):
            await client.run_process("nowhere")
        m = await deployed(client, "task")
        with refused(ProcessDefinitionNotFoundError, grpc.StatusCode.NOT_FOUND):
            await client.run_process(m.id, version=9)
        with refused(InvalidJSONError, grpc.StatusCode.INVALID_ARGUMENT):
            await client.run_process(m.id, [1, 2])

    run(test)


@pytest.mark.parametrize(("limit", "size"), TOO_LARGE)
def test_refuses_what_is_too_large_at_once(limit, size):
    async def test(client):
        m = await deployed(client, "task")
        start = time.monotonic()
        with refused(InvalidJSONError, grpc.StatusCode.INVALID_ARGUMENT, limit):
            await client.run_process(m.id, {"a": "x" * size})
        assert time.monotonic() - start < AT_ONCE_S
        await client.run_process(m.id, {"a": "x"})

    run(test)


def test_hands_out_a_job_with_everything_a_worker_reads():
    async def test(client):
        m = await deployed(client, "task")
        instance = await client.run_process(m.id, {"n": 7, "list": [1, 2]})
        before = time.time() * 1000
        job = await activate_one(client, m, fetch=("n",))
        assert job.type == job.bpmn_process_id == m.id
        assert job.process_instance_key == instance.process_instance_key
        assert job.process_definition_key == instance.process_definition_key
        assert job.process_definition_version == 1
        assert job.element_id == "work"
        assert job.element_instance_key > instance.process_instance_key
        assert dict(job.custom_headers) == {"queue": "parcels"}
        assert dict(job.variables) == {"n": 7}
        assert (job.worker, job.retries, job.tenant_id) == ("tester", 3, TENANT)
        assert before + 59_999 <= job.deadline <= time.time() * 1000 + 60_001

    run(test)


def test_completes_a_job():
    async def test(client):
        m = await deployed(client, "task")
        result = awaiting(client, m, {"n": 1})
        job = await activate_one(client, m)
        await complete(client, job.key, {"answer": 42})
        assert await result == {"n": 1, "answer": 42}
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND, str(job.key)):
            await complete(client, job.key)

    run(test)


def test_gives_a_failed_job_back_after_its_backoff():
    async def test(client):
        m = await deployed(client, "task")
        result = awaiting(client, m)
        job = await activate_one(client, m)
        failed = time.monotonic()
        await fail(client, job.key, retries=2, backoff_ms=1_500)
        assert await activate(client, m, wait_ms=NO_WAIT) == []
        with refused(JobAlreadyDeactivatedError, grpc.StatusCode.FAILED_PRECONDITION):
            await complete(client, job.key)
        again = await activate_one(client, m)
        waited = time.monotonic() - failed
        assert (again.key, again.retries) == (job.key, 2)
        assert 1.45 <= waited < 6.5
        await complete(client, again.key)
        await result

    run(test)


def test_holds_a_job_without_retries_back():
    async def test(client):
        m = await deployed(client, "task")
        await client.run_process(m.id)
        job = await activate_one(client, m)
        await fail(client, job.key, retries=0)
        assert await activate(client, m, wait_ms=NO_WAIT) == []

    run(test)


def test_catches_a_bpmn_error_at_the_boundary():
    async def test(client):
        m = await deployed(client, "error")
        result = awaiting(client, m)
        job = await activate_one(client, m)
        await client.zeebe_adapter.throw_error(job.key, "no stock", {}, "REFUSED")
        assert (await result)["path"] == "refused"

    run(test)


def test_long_polls():
    async def test(client):
        m = await deployed(client, "task")
        start = time.monotonic()
        assert await activate(client, m, wait_ms=1_000) == []
        assert 0.9 <= time.monotonic() - start < 2
        poll = asyncio.create_task(activate(client, m, wait_ms=20_000))
        await client.run_process(m.id)
        created = time.monotonic()
        assert len(await poll) == 1
        assert time.monotonic() - created < 2

    run(test)


def test_refuses_unknown_jobs_and_bad_activations():
    async def test(client):
        key = str(UNKNOWN_KEY)
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND, key):
            await complete(client, UNKNOWN_KEY)
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND, key):
            await fail(client, UNKNOWN_KEY, retries=1)
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND, key):
            await client.zeebe_adapter.throw_error(UNKNOWN_KEY, "", {}, "E")
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND, key):
            await client.zeebe_adapter.update_job_timeout(UNKNOWN_KEY, 1_000)
        empty = Model("", "", None)
        with refused(ActivateJobsRequestInvalidError, grpc.StatusCode.INVALID_ARGUMENT):
            await activate(client, empty)

    run(test)


def test_correlates_messages_published_before_and_after_the_subscription():
    async def test(client):
        m = await deployed(client, "message")
        await client.publish_message(m.id, "early", {"paid": True})
        assert await awaiting(client, m, {"orderId": "early"}) == {"orderId": "early", "paid": True}
        result = awaiting(client, m, {"orderId": "late"})
        # The time to live covers the moment before the subscription is open.
        published = await client.publish_message(m.id, "late", {"paid": 9.5})
        assert published.key > 0
        assert published.tenant_id == TENANT
        assert await result == {"orderId": "late", "paid": 9.5}

    run(test)


def test_drops_a_message_without_time_to_live_and_times_out_the_result():
    async def test(client):
        m = await deployed(client, "message")
        await client.publish_message(m.id, "gone", time_to_live_in_milliseconds=0)
        with refused(ProcessTimeoutError, grpc.StatusCode.DEADLINE_EXCEEDED):
            await client.run_process_with_result(m.id, {"orderId": "gone"}, timeout=700)

    run(test)


def test_refuses_a_message_id_that_is_still_buffered():
    async def test(client):
        m = await deployed(client, "message")
        await client.publish_message(m.id, "o", message_id="m-1")
        with refused(MessageAlreadyExistsError, grpc.StatusCode.ALREADY_EXISTS, "m-1"):
            await client.publish_message(m.id, "o", message_id="m-1")

    run(test)


def test_cancels_an_instance():
    async def test(client):
        m = await deployed(client, "task")
        instance = await client.run_process(m.id)
        job = await activate_one(client, m)
        await client.cancel_process_instance(instance.process_instance_key)
        with refused(JobNotFoundError, grpc.StatusCode.NOT_FOUND):
            await complete(client, job.key)
        with refused(ProcessInstanceNotFoundError, grpc.StatusCode.NOT_FOUND):
            await client.cancel_process_instance(instance.process_instance_key)
        with refused(ProcessInstanceNotFoundError, grpc.StatusCode.NOT_FOUND):
            await client.cancel_process_instance(UNKNOWN_KEY)

    run(test)


@pytest.mark.parametrize("stream", [False, True])
def test_the_worker_completes_fails_and_throws(stream):
    async def test(client):
        m = await deployed(client, "error")
        channel = create_insecure_channel(grpc_address=grpc_address())
        worker = ZeebeWorker(channel, name="python-worker", stream_enabled=stream)
        retries_seen = []

        async def on_error(error, job, controller):
            if isinstance(error, BusinessError):
                await controller.set_error_status("no", error_code=error.error_code)
            else:
                await controller.set_failure_status("not yet", retry_back_off_ms=100)

        @worker.task(m.id, exception_handler=on_error, variables_to_fetch=["task"])
        async def handle(job: Job, task: str) -> dict:
            if task == "throw":
                raise BusinessError("REFUSED")
            if task == "fail":
                retries_seen.append(job.retries)
                if job.retries > 1:
                    raise RuntimeError("not yet")
            return {"worker": job.worker}

        working = asyncio.create_task(worker.work())
        try:
            tasks = ("complete", "throw", "fail")
            results = await asyncio.gather(*(awaiting(client, m, {"task": t}) for t in tasks))
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await channel.close()
        assert [r["path"] for r in results] == ["completed", "refused", "completed"]
        assert results[0]["worker"] == "python-worker"
        assert retries_seen == [3, 2, 1]

    run(test)


def test_a_stream_is_pushed_new_jobs():
    async def test(client):
        m = await deployed(client, "task")
        pushed: asyncio.Queue = asyncio.Queue()

        async def listen():
            async for job in client.zeebe_adapter.stream_activate_jobs(
                task_type=m.id,
                worker="streamer",
                timeout=60_000,
                variables_to_fetch=["n"],
                stream_request_timeout=TEST_TIMEOUT_S,
            ):
                await pushed.put(job)

        listening = asyncio.create_task(listen())
        try:
            # Nothing tells when the stream is registered: offer jobs until one is pushed.
            for _ in range(50):
                await client.run_process(m.id, {"n": -1})
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(pushed.get(), 0.2)
                    break
            else:
                pytest.fail("no job was pushed in 10 s")
            while not pushed.empty():
                pushed.get_nowait()
            results = [awaiting(client, m, {"n": n, "unread": "x"}) for n in range(20)]
            for _ in range(20):
                job = await pushed.get()
                assert job.worker == "streamer"
                assert list(job.variables) == ["n"]
                await complete(client, job.key, {"squared": job.variables["n"] ** 2})
            for n, result in enumerate(results):
                assert (await result)["squared"] == n * n
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    run(test)
