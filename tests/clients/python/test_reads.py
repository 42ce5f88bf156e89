"""Every operation of the client that reads is called, about what the runner has put into the server (seeds.py), and its
answer is decoded."""

import inspect
import json
import os
import re
from datetime import datetime, timezone
from importlib.metadata import version

import pytest
from camunda_orchestration_sdk import CamundaClient, models
from camunda_orchestration_sdk.errors import ApiError

NOT_SERVED = frozenset(
    {
        "get_cluster_rebalance",
        "get_cluster_upgrade_status",
    }
)
"""Operations of clusters that the contract does not have: they answer 404."""

NOT_THERE = frozenset(
    {
        # No restore was begun.
        "get_restore_status",
        # No document is kept.
        "get_document",
    }
)
"""Operations about things that this server lacks: they answer 404 with a problem that is decoded."""

NOT_DECODED_BY_9 = frozenset(
    {
        # It takes no null for the kind of batch operation that an entry belongs to, though its contract allows it.
        "get_audit_log",
        "search_audit_logs",
        "search_user_task_audit_logs",
        # It refuses permissions that it does not know, and the default roles have those of 8.10.
        "search_authorizations",
        # It wants extension properties of subscriptions, which no published contract has.
        "search_message_subscriptions",
    }
)
"""Reads whose answers the client of 8.9 cannot decode."""

NOT_DECODED_BY_10: frozenset[str] = frozenset()
"""Answers in which 10.0.1 requires what the published contract does not have: counts of reasoning and cached tokens, an
ID of each item of a history."""

IS_9 = version("camunda-orchestration-sdk").startswith("9.")

# No operation, or one that does not answer what its name says.
NOT_TRIED = frozenset({"get_httpx_client", "get_async_httpx_client", "search_variables_as_dto"})

REQUIRED = {
    "get_job_error_statistics": {"filter": {"jobType": "any"}},
    "get_job_time_series_statistics": {"filter": {"jobType": "any"}},
    "get_job_worker_statistics": {"filter": {"jobType": "any"}},
    "get_process_instance_statistics_by_definition": {"filter": {"errorHashCode": 1}},
    "resolve_secrets": {"references": []},
}
"""Members of bodies without which a request is wrong; times are put in below."""

TIMES = ("from_", "start_time"), ("to", "end_time")
SINCE, UNTIL = datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2099, 1, 1, tzinfo=timezone.utc)


def reads() -> list[str]:
    names = [name for name in vars(CamundaClient) if name.startswith(("get_", "search_", "list_"))]
    return sorted(set(names) - NOT_TRIED) + (["resolve_secrets"] if hasattr(CamundaClient, "resolve_secrets") else [])


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@pytest.fixture(scope="session")
def keys() -> dict[str, str]:
    return json.loads(os.environ["BATON_SEEDED"])


def body(name: str, annotation: str, keys: dict[str, str]):
    """A model of the type that the client takes, with what a request must have."""
    wanted = dict(REQUIRED.get(name, {}))
    if name.startswith("get_job_"):
        wanted["filter"] = {"from": SINCE.isoformat(), "to": UNTIL.isoformat(), **wanted.get("filter", {})}
    if name == "get_process_definition_instance_version_statistics":
        wanted["filter"] = {"processDefinitionId": keys["processDefinitionId"]}
    # Annotations of the client are text, and some of their names are there for type checkers alone.
    (model,) = (getattr(models, word) for word in re.findall(r"\w+", annotation) if hasattr(models, word))
    return model.from_dict(wanted)


def arguments(name: str, method, keys: dict[str, str]) -> dict:
    found = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.name == "data":
            found["data"] = body(name, parameter.annotation, keys)
        elif parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_KEYWORD and parameter.name != "self":
            if parameter.name in TIMES[0]:
                found[parameter.name] = SINCE
            elif parameter.name in TIMES[1]:
                found[parameter.name] = UNTIL
            else:
                found[parameter.name] = {"backup_id": 1, "document_id": "none"}.get(parameter.name) or keys[camel(parameter.name)]
    return found


def test_the_client_reads():
    assert len(reads()) > 80


@pytest.mark.parametrize("name", reads())
def test_reads(client, keys, name):
    method = getattr(client, name)
    given = arguments(name, getattr(CamundaClient, name), keys)
    if name in NOT_THERE | NOT_SERVED:
        with pytest.raises(ApiError) as refused:
            method(**given)
        assert refused.value.status_code == 404, refused.value.content
        return
    if name in (NOT_DECODED_BY_9 if IS_9 else NOT_DECODED_BY_10):
        with pytest.raises((ValueError, KeyError)):
            method(**given)
        return
    answer = method(**given)
    if name != "get_status":
        assert answer is not None
    if name.startswith("search_") and hasattr(answer, "items"):
        assert answer.items is not None
