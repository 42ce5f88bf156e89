"""Requests that a generator makes of the contract: none is answered with an error of the server, nor with a status or a
member that the contract does not have.

GENERATED_EXAMPLES says how many there are for each operation.
"""

from __future__ import annotations

import json
import os

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import openapi

ADDRESS = os.environ["BATON_REST_ADDRESS"]
KEYS = json.loads(os.environ["BATON_SEEDED"])
EXAMPLES = int(os.environ.get("GENERATED_EXAMPLES", "3"))
TIMEOUT_S = 20

LEFT_OUT = {
    # They stop the server from answering others.
    "changeMode",
    "changeModeAsClusterAdmin",
    "pauseExporting",
    "pauseExportingAsClusterAdmin",
    "restore",
    "restoreAsClusterAdmin",
}

schema = schemathesis.openapi.from_dict(openapi.document())
# Its own cases around each bound are thousands, which the tests of the gateway have already.
schema.config.phases.coverage.enabled = False
schema.config.phases.examples.enabled = False
schema.config.phases.stateful.enabled = False
_turn = iter(range(1 << 60))


@schema.hook
def map_path_parameters(context, path_parameters):
    """Half of them lead to something."""
    if path_parameters and next(_turn) % 2:
        return {name: KEYS.get(name, value) for name, value in path_parameters.items()}
    return path_parameters


@schema.hook
def map_body(context, body):
    """Nobody is waited for."""
    if isinstance(body, dict):
        if context.operation.path == "/v2/jobs/activation":
            body["requestTimeout"] = -1
        body.pop("awaitCompletion", None)
    return body


@(schema.exclude(operation_id=sorted(LEFT_OUT))).parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_the_contract_has_them(case):
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    response = case.call(base_url=ADDRESS, timeout=TIMEOUT_S)
    case.validate_response(response, checks=checks)
