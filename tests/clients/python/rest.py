"""What the tests have in common: clients of the server under test, and what most of them do first."""

import httpx
from camunda_orchestration_sdk import CamundaClient
from camunda_orchestration_sdk.models import ProcessCreationById

from server import Model, model, rest_address

TIMEOUT = httpx.Timeout(30)


def configuration() -> dict:
    return {"CAMUNDA_REST_ADDRESS": rest_address(), "CAMUNDA_AUTH_STRATEGY": "NONE"}


def deployed(client: CamundaClient, name: str, *more: str) -> Model:
    result = model(name)
    client.deploy_resources_from_files([result.path, *(result.beside(file) for file in more)])
    return result


def create(client: CamundaClient, m: Model, variables: dict | None = None, **more):
    body = {"processDefinitionId": m.id, "variables": variables or {}, **more}
    return client.create_process_instance(data=ProcessCreationById.from_dict(body))
