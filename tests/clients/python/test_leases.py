"""Leases, which the client has from 10.0 on: a job is completed only under the lease that it was activated with."""

import asyncio

import pytest
from camunda_orchestration_sdk import CamundaAsyncClient, WorkerConfig
from camunda_orchestration_sdk.errors import ConflictError
from camunda_orchestration_sdk.models import (
    JobActivationRequest,
    JobCompletionRequest,
    JobErrorRequest,
    JobFailRequest,
)

from rest import TIMEOUT, configuration, create, deployed


def leased(client, m):
    body = {"type": m.id, "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 15_000, "withLease": True}
    (job,) = client.activate_jobs(data=JobActivationRequest.from_dict(body)).jobs
    assert job.job_lease_token
    return job


def test_a_lease_is_asked_for_by_each_command(client):
    m = deployed(client, "error")
    create(client, m)
    job = leased(client, m)
    wrong = {"jobLeaseToken": f"{job.job_lease_token}0"}
    with pytest.raises(ConflictError):
        client.fail_job(job.job_key, data=JobFailRequest.from_dict(wrong))
    failed = {"retries": 1, "jobLeaseToken": str(job.job_lease_token)}
    client.fail_job(job.job_key, data=JobFailRequest.from_dict(failed))
    again = leased(client, m)
    assert again.job_lease_token != job.job_lease_token
    old = {"errorCode": "REFUSED", "jobLeaseToken": str(job.job_lease_token)}
    with pytest.raises(ConflictError):
        client.throw_job_error(again.job_key, data=JobErrorRequest.from_dict(old))
    client.throw_job_error(again.job_key, data=JobErrorRequest.from_dict({**old, "jobLeaseToken": str(again.job_lease_token)}))


def test_a_job_is_completed_under_its_lease(client):
    m = deployed(client, "task")
    create(client, m)
    job = leased(client, m)
    with pytest.raises(ConflictError):
        client.complete_job(job.job_key, data=JobCompletionRequest.from_dict({"jobLeaseToken": "none"}))
    client.complete_job(job.job_key, data=JobCompletionRequest.from_dict({"jobLeaseToken": str(job.job_lease_token)}))


def test_a_worker_works_under_leases(client):
    m = deployed(client, "task")
    keys = [create(client, m, {"n": n}).process_instance_key for n in range(5)]
    seen = []

    async def handle(job):
        seen.append(job.job_lease_token)
        return {"done": True}

    async def work():
        async with CamundaAsyncClient(configuration=configuration(), timeout=TIMEOUT) as worker:
            config = WorkerConfig(
                job_type=m.id,
                job_timeout_milliseconds=60_000,
                request_timeout_milliseconds=10_000,
                with_lease=True,
            )
            running = worker.create_job_worker(config, handle)
            try:
                async with asyncio.timeout(30):
                    for key in keys:
                        while (await worker.get_process_instance(key)).state != "COMPLETED":
                            await asyncio.sleep(0.05)
            finally:
                running.stop()

    asyncio.run(work())
    assert len(seen) == len(keys) and all(seen)
