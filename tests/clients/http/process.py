"""Processes without a client."""

from pathlib import Path

import httpx

from server import Model, model


def deploy(http: httpx.Client, *files: Path) -> dict:
    response = http.post("/deployments", files=[("resources", (file.name, file.read_bytes())) for file in files])
    assert response.status_code == 200, response.text
    return response.json()


def deployed(http: httpx.Client, name: str) -> Model:
    result = model(name)
    deploy(http, result.path)
    return result


def create(http: httpx.Client, m: Model, variables: dict | None = None, **more: object) -> str:
    """Returns the key of the process instance."""
    response = http.post("/process-instances", json={"processDefinitionId": m.id, "variables": variables or {}, **more})
    assert response.status_code == 200, response.text
    return response.json()["processInstanceKey"]


def cancel(http: httpx.Client, key: str) -> None:
    response = http.post(f"/process-instances/{key}/cancellation", json={})
    assert response.status_code == 204, response.text
