"""The server under test, named by the environment, and the models it is given."""

import os
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

TENANT = "<default>"
UNKNOWN_KEY = (1 << 51) + (1 << 50)
RESULT_TIMEOUT_MS = 20_000
KEYS_TO_TRY_MAX = 2_000
"""Most keys the incident search may try between two known ones."""


def _environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set; run tests/clients/run.py")
    return value


def rest_address() -> str:
    return _environment("BATON_REST_ADDRESS")


def grpc_address() -> str:
    return _environment("BATON_GRPC_ADDRESS")


@dataclass
class Model:
    """A model under an ID of its own, so that no test meets another one's jobs or messages."""

    id: str
    resource: str
    path: Path

    def replace(self, old: str, new: str) -> None:
        self.path.write_text(self.path.read_text("utf-8").replace(old, new), "utf-8")


def model(name: str) -> Model:
    resource = f"{name}.bpmn"
    source = Path(_environment("BATON_CLIENT_MODELS")) / resource
    result = Model(
        id=f"python-{name}-{uuid.uuid4()}",
        resource=resource,
        path=Path(tempfile.mkdtemp(prefix="baton-clients-")) / resource,
    )
    result.path.write_text(source.read_text("utf-8").replace("@ID@", result.id), "utf-8")
    return result
