"""The server under test, named by the environment, and the models it is given."""

import os
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

TENANT = "<default>"
UNKNOWN_KEY = (1 << 51) + (1 << 50)
RESULT_TIMEOUT_MS = 20_000
TOO_LARGE = (("limits.max_variable_bytes", 2 << 20), ("limits.max_message_bytes", 5 << 20))
"""Limits, bytes of a variable that goes over each, and what REST answers; run.py sets the first to 1 MiB."""
AT_ONCE_S = 8
"""Less than any client's timeout, and than a second try after a pause takes."""
PARTITIONS = int(os.environ.get("BATON_PARTITIONS", "1"))
"""Of the server for everybody."""
PARTITION_SHIFT = 51
"""Bits of a key behind its partition."""
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

    def beside(self, resource: str) -> Path:
        """Another file that belongs to the model, under the same ID."""
        path = self.path.parent / resource
        path.write_text(_text(resource, self.id), "utf-8")
        return path

    def replace(self, old: str, new: str) -> None:
        self.path.write_text(self.path.read_text("utf-8").replace(old, new), "utf-8")


def _text(resource: str, identifier: str) -> str:
    source = Path(_environment("BATON_CLIENT_MODELS")) / resource
    return source.read_text("utf-8").replace("@ID@", identifier)


def model(name: str) -> Model:
    identifier = f"python-{name}-{uuid.uuid4()}"
    resource = f"{name}.bpmn"
    folder = Path(tempfile.mkdtemp(prefix="baton-clients-"))
    result = Model(id=identifier, resource=resource, path=folder / resource)
    result.beside(resource)
    return result
