"""Both clients where credentials are asked for: by password, and by a token over TLS."""

import asyncio
import os
from pathlib import Path

import grpc
import pytest
from camunda_orchestration_sdk import CamundaClient
from camunda_orchestration_sdk.errors import UnauthorizedError, UnexpectedStatus
from camunda_orchestration_sdk.models import (
    JobActivationRequest,
    JobCompletionRequest,
    ProcessInstanceSearchQuery,
)
from pyzeebe import ZeebeClient, create_oauth2_client_credentials_channel
from pyzeebe.errors import UnknownGrpcStatusCodeError

from rest import TIMEOUT, create, deployed
from server import model

E = os.environ


def by_password(password: str | None = None) -> dict:
    return {
        "CAMUNDA_REST_ADDRESS": E["BATON_PASSWORD_REST_ADDRESS"],
        "CAMUNDA_AUTH_STRATEGY": "BASIC",
        "CAMUNDA_BASIC_AUTH_USERNAME": E["BATON_USER"],
        "CAMUNDA_BASIC_AUTH_PASSWORD": password or E["BATON_USER_PASSWORD"],
    }


def by_token() -> dict:
    return {
        "CAMUNDA_REST_ADDRESS": E["BATON_TOKEN_REST_ADDRESS"],
        "CAMUNDA_AUTH_STRATEGY": "OAUTH",
        "CAMUNDA_OAUTH_URL": E["BATON_TOKEN_URL"],
        "CAMUNDA_CLIENT_ID": E["BATON_CLIENT_ID"],
        "CAMUNDA_CLIENT_SECRET": E["BATON_CLIENT_SECRET"],
        "CAMUNDA_TOKEN_AUDIENCE": E["BATON_AUDIENCE"],
        "CAMUNDA_TOKEN_DISK_CACHE_DISABLE": True,
        "CAMUNDA_MTLS_CA_PATH": E["BATON_AUTHORITIES"],
    }


@pytest.mark.parametrize("configuration", [by_password, by_token])
def test_rest_does_what_is_allowed_and_is_told_what_is_not(configuration):
    with CamundaClient(configuration=configuration(), timeout=TIMEOUT) as client:
        m = deployed(client, "task")
        key = create(client, m, {"a": 1}).process_instance_key
        request = JobActivationRequest(
            type_=m.id, timeout=60_000, max_jobs_to_activate=1, request_timeout=15_000
        )
        (job,) = client.activate_jobs(data=request).jobs
        # The contract has no 403 for this operation, and so the client no class of its own.
        with pytest.raises(UnexpectedStatus) as refused:
            client.cancel_process_instance(key, data=None)
        assert refused.value.status_code == 403
        client.complete_job(job_key=job.job_key, data=JobCompletionRequest())
        query = ProcessInstanceSearchQuery.from_dict(
            {"filter": {"processInstanceKey": str(key), "state": "COMPLETED"}}
        )
        for _ in range(200):
            found = client.search_process_instances(data=query).items
            if found:
                break
        assert [one.process_instance_key for one in found] == [key]


def test_a_wrong_password_is_told_as_such():
    with CamundaClient(configuration=by_password("guess"), timeout=TIMEOUT) as client:
        with pytest.raises(UnauthorizedError):
            client.get_topology()


def test_grpc_does_what_is_allowed_and_is_told_what_is_not(monkeypatch):
    # The issuer of the test is on this machine.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")

    async def connected(secret: str, work):
        authorities = Path(E["BATON_AUTHORITIES"]).read_bytes()
        channel = create_oauth2_client_credentials_channel(
            grpc_address=E["BATON_TOKEN_GRPC_ADDRESS"],
            client_id=E["BATON_CLIENT_ID"],
            client_secret=secret,
            authorization_server=E["BATON_TOKEN_URL"],
            audience=E["BATON_AUDIENCE"],
            channel_credentials=grpc.ssl_channel_credentials(authorities),
        )
        try:
            await work(ZeebeClient(channel))
        finally:
            await channel.close()

    async def work(client: ZeebeClient):
        m = model("straight")
        await client.deploy_resource(m.path)
        done = await client.run_process_with_result(m.id, {"a": 1}, timeout=20_000)
        assert done.variables["a"] == 1
        m = model("task")
        await client.deploy_resource(m.path)
        created = await client.run_process(m.id)
        with pytest.raises(UnknownGrpcStatusCodeError) as refused:
            await client.cancel_process_instance(created.process_instance_key)
        assert refused.value.grpc_error.code() == grpc.StatusCode.PERMISSION_DENIED

    asyncio.run(asyncio.wait_for(connected(E["BATON_CLIENT_SECRET"], work), 60))
