"""Searches and statistics over REST, without a client."""

import time

import httpx
import pytest
from process import cancel, create, deploy, deployed
from server import rest_address

SEEN_WITHIN_S = 10


@pytest.fixture
def http():
    address = rest_address().rstrip("/")
    base = address if address.endswith("/v2") else f"{address}/v2"
    with httpx.Client(base_url=base, timeout=30) as http:
        yield http


def search(http: httpx.Client, what: str, **body) -> dict:
    response = http.post(f"/{what}/search", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def seen(http: httpx.Client, what: str, count: int, **body) -> dict:
    """The answer, once it has so many items."""
    end = time.monotonic() + SEEN_WITHIN_S
    while True:
        answer = search(http, what, **body)
        if answer["page"]["totalItems"] == count:
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.05)


def test_a_search_finds_what_was_answered_before_it(http):
    m = deployed(http, "task")
    for count in range(1, 31):
        key = create(http, m)
        answer = http.post("/process-instances/search", json={"filter": {"processDefinitionId": m.id}})
        assert "baton-lag" not in answer.headers
        assert answer.json()["page"]["totalItems"] == count
        jobs = search(http, "jobs", filter={"processInstanceKey": key, "state": "CREATED"})
        assert jobs["page"]["totalItems"] == 1
    cancel(http, key)
    assert http.get(f"/process-instances/{key}").json()["state"] == "TERMINATED"


def test_an_instance_is_found_while_it_runs_and_after_its_end(http):
    m = deployed(http, "task")
    instance = create(http, m, {"who": "ann", "total": 5})
    key = str(instance)
    filter_ = {"processDefinitionId": m.id, "state": "ACTIVE"}
    (item,) = seen(http, "process-instances", 1, filter=filter_)["items"]
    assert item["processInstanceKey"] == key
    assert item["hasIncident"] is False
    assert item["endDate"] is None

    names = [item["name"] for item in seen(http, "variables", 2, filter={"processInstanceKey": key}, sort=[{"field": "name"}])["items"]]
    assert names == ["total", "who"]
    elements = seen(http, "element-instances", 2, filter={"processInstanceKey": key}, sort=[{"field": "startDate"}])
    assert {item["type"]: item["state"] for item in elements["items"]} == {
        "START_EVENT": "COMPLETED",
        "SERVICE_TASK": "ACTIVE",
    }
    (job,) = seen(http, "jobs", 1, filter={"processInstanceKey": key, "state": "CREATED"})["items"]
    assert job["type"] == m.id

    cancel(http, instance)
    (item,) = seen(http, "process-instances", 1, filter={"processInstanceKey": key, "state": "TERMINATED"})["items"]
    assert item["endDate"] is not None
    # The engine has forgotten it.
    assert http.get(f"/process-instances/{key}").json() == item
    statistics = http.get(f"/process-instances/{key}/statistics/element-instances").json()["items"]
    assert sum(item["canceled"] for item in statistics) == 1
    # Of all instances of the definition, which is this one; and again by a filter, which counts anew.
    definition = item["processDefinitionKey"]
    path = f"/process-definitions/{definition}/statistics/element-instances"
    for body in ({}, {"filter": {"processInstanceKey": key}}):
        assert http.post(path, json=body).json()["items"] == statistics
    flows = http.get(f"/process-instances/{key}/sequence-flows").json()["items"]
    assert len(flows) == 1
    assert flows[0]["sequenceFlowId"] == f"{key}_{flows[0]['elementId']}"


def test_pages_follow_each_other(http):
    m = deployed(http, "task")
    keys = [create(http, m) for _ in range(5)]
    body = {"filter": {"processDefinitionId": m.id}, "sort": [{"field": "processInstanceKey", "order": "ASC"}]}
    seen(http, "process-instances", 5, **body)
    found, page = [], {"limit": 2}
    while True:
        answer = search(http, "process-instances", **body, page=page)
        if not answer["items"]:
            break
        found += [item["processInstanceKey"] for item in answer["items"]]
        page = {"limit": 2, "after": answer["page"]["endCursor"]}
    assert found == sorted(keys, key=int)
    response = http.post("/process-instances/search", json={"page": {"after": "AAAA"}})
    assert response.status_code == 400
    assert "page.after" in response.json()["detail"]


def test_instances_are_found_by_variables_tags_and_incidents(http):
    m = deployed(http, "task")
    ann = str(create(http, m, {"who": "ann"}, tags=["vip"]))
    create(http, m, {"who": "bob"})
    seen(http, "process-instances", 2, filter={"processDefinitionId": m.id})
    for more in (
        {"variables": [{"name": "who", "value": '"ann"'}]},
        {"variables": [{"name": "who", "value": {"$like": "*ann*"}}]},
        {"tags": ["vip"]},
        {"$or": [{"tags": ["vip"]}, {"tags": ["nothing"]}]},
    ):
        answer = search(http, "process-instances", filter={"processDefinitionId": m.id, **more})
        assert [item["processInstanceKey"] for item in answer["items"]] == [ann], more

    body = {"type": m.id, "timeout": 60_000, "maxJobsToActivate": 10, "requestTimeout": 15_000}
    jobs = http.post("/jobs/activation", json=body).json()["jobs"]
    (job,) = [job for job in jobs if job["processInstanceKey"] == ann]
    http.post(f"/jobs/{job['jobKey']}/failure", json={"retries": 0, "errorMessage": "no way"})
    (item,) = seen(http, "process-instances", 1, filter={"processDefinitionId": m.id, "hasIncident": True})["items"]
    assert item["processInstanceKey"] == ann
    (incident,) = seen(http, "incidents", 1, filter={"processInstanceKey": ann, "state": "ACTIVE"})["items"]
    assert incident["errorMessage"] == "no way"
    (same,) = seen(http, f"process-instances/{ann}/incidents", 1)["items"]
    assert same == incident
    http.patch(f"/jobs/{job['jobKey']}", json={"changeset": {"retries": 1}})
    http.post(f"/incidents/{incident['incidentKey']}/resolution", json={})
    seen(http, "process-instances", 0, filter={"processDefinitionId": m.id, "hasIncident": True})
    assert http.get(f"/incidents/{incident['incidentKey']}").json()["state"] == "RESOLVED"


def test_user_tasks_decisions_and_definitions_are_found(http):
    m = deployed(http, "task")
    assert deploy(http, m.path)["deployments"]
    filter_ = {"processDefinitionId": m.id, "isLatestVersion": True}
    (item,) = seen(http, "process-definitions", 1, filter=filter_)["items"]
    assert item["processDefinitionId"] == m.id
    xml = http.get(f"/process-definitions/{item['processDefinitionKey']}/xml")
    assert xml.status_code == 200 and m.id in xml.text


@pytest.mark.parametrize(
    "what",
    [
        "process-instances",
        "element-instances",
        "incidents",
        "jobs",
        "user-tasks",
        "variables",
        "message-subscriptions",
        "correlated-message-subscriptions",
        "process-definitions",
        "decision-definitions",
        "decision-requirements",
        "decision-instances",
        "batch-operations",
        "batch-operation-items",
        "audit-logs",
    ],
)
def test_a_page_past_the_end_is_empty(http, what):
    answer = search(http, what, page={"from": 1_000_000, "limit": 1})
    assert answer["items"] == []
    assert answer["page"]["startCursor"] is None


def test_jobs_are_counted(http):
    m = deployed(http, "task")
    create(http, m)
    create(http, m)
    seen(http, "jobs", 2, filter={"type": m.id})
    body = {"filter": {"from": "2020-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z", "jobType": m.id}}
    response = http.post("/jobs/statistics/by-types", json=body)
    assert response.status_code == 200, response.text
    (item,) = response.json()["items"]
    assert (item["jobType"], item["created"]["count"]) == (m.id, 2)
    response = http.get("/jobs/statistics/global", params={"from": "2020-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z"})
    assert response.json()["created"]["count"] >= 2


def test_a_batch_operation_takes_the_whole_filter(http):
    m = deployed(http, "task")
    keys = {create(http, m) for _ in range(3)}
    other = deployed(http, "task")
    kept = create(http, other)
    seen(http, "process-instances", 3, filter={"processDefinitionId": m.id})
    # Only a history knows where an instance has been.
    filter_ = {"processDefinitionId": m.id, "elementId": "start", "elementInstanceState": "COMPLETED"}
    response = http.post("/process-instances/cancellation", json={"filter": filter_})
    assert response.status_code == 200, response.text
    key = response.json()["batchOperationKey"]
    (operation,) = seen(http, "batch-operations", 1, filter={"batchOperationKey": key, "state": "COMPLETED"})["items"]
    assert operation["operationsTotalCount"] == operation["operationsCompletedCount"] == 3
    assert operation["operationsFailedCount"] == 0
    assert operation["actorType"] == "ANONYMOUS"
    items = seen(http, "batch-operation-items", 3, filter={"batchOperationKey": key})["items"]
    assert {item["itemKey"] for item in items} == keys
    assert {item["state"] for item in items} == {"COMPLETED"}
    seen(http, "process-instances", 3, filter={"processDefinitionId": m.id, "state": "TERMINATED"})
    seen(http, "process-instances", 3, filter={"batchOperationId": key})
    seen(http, "process-instances", 1, filter={"processInstanceKey": kept, "state": "ACTIVE"})
    filter_ = {"entityType": "PROCESS_INSTANCE", "operationType": "CANCEL", "processDefinitionId": m.id}
    entries = seen(http, "audit-logs", 3, filter=filter_)["items"]
    assert {entry["batchOperationKey"] for entry in entries} == {key}
    (created,) = seen(http, "audit-logs", 1, filter={"entityType": "BATCH", "entityKey": key})["items"]
    assert (created["operationType"], created["batchOperationType"]) == ("CREATE", "CANCEL_PROCESS_INSTANCE")


def test_histories_of_what_has_ended_are_deleted_by_a_filter(http):
    m = deployed(http, "task")
    ended, runs = (create(http, m, {"a": 1}) for _ in range(2))
    cancel(http, ended)
    for key, state in ((ended, "TERMINATED"), (runs, "ACTIVE")):
        seen(http, "process-instances", 1, filter={"processInstanceKey": str(key), "state": state})
    response = http.post("/process-instances/deletion", json={"filter": {"processDefinitionId": m.id}})
    assert response.status_code == 200, response.text
    operation = response.json()["batchOperationKey"]
    filter_ = {"batchOperationKey": operation, "state": "COMPLETED"}
    (item,) = seen(http, "batch-operation-items", 1, filter=filter_)["items"]
    assert item["processInstanceKey"] == str(ended)
    (item,) = seen(http, "batch-operation-items", 1, filter={**filter_, "state": "FAILED"})["items"]
    assert item["processInstanceKey"] == str(runs)
    assert item["errorMessage"]
    seen(http, "process-instances", 1, filter={"processDefinitionId": m.id})
    for what in ("element-instances", "variables", "jobs"):
        seen(http, what, 0, filter={"processInstanceKey": str(ended)})
    seen(http, "variables", 1, filter={"processInstanceKey": str(runs)})
    assert http.get(f"/process-instances/{ended}").status_code == 404
    assert http.get(f"/process-instances/{runs}").status_code == 200


def test_incidents_of_a_batch_are_resolved_by_the_filter_for_instances(http):
    m = deployed(http, "task")
    key = create(http, m)
    body = {"type": m.id, "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 15_000}
    (job,) = http.post("/jobs/activation", json=body).json()["jobs"]
    http.post(f"/jobs/{job['jobKey']}/failure", json={"retries": 0, "errorMessage": "no way"})
    seen(http, "incidents", 1, filter={"processInstanceKey": key, "state": "ACTIVE"})
    filter_ = {"processDefinitionId": m.id, "hasIncident": True}
    response = http.post("/process-instances/incident-resolution", json={"filter": filter_})
    assert response.status_code == 200, response.text
    seen(http, "incidents", 1, filter={"processInstanceKey": key, "state": "RESOLVED"})


def test_incidents_of_called_instances_are_those_of_their_callers_too(http):
    m = deployed(http, "calls")
    root = create(http, m)
    incident = seen(http, "incidents", 1, filter={"processDefinitionId": f"{m.id}-called"})["items"][0]
    called = incident["processInstanceKey"]
    assert called != root
    (call,) = seen(http, "element-instances", 1, filter={"processInstanceKey": root, "type": "CALL_ACTIVITY"})["items"]
    holders = [
        f"process-instances/{root}",
        f"process-instances/{called}",
        f"element-instances/{call['elementInstanceKey']}",
        f"element-instances/{incident['elementInstanceKey']}",
    ]
    for holder in holders:
        found = search(http, f"{holder}/incidents")
        assert [item["incidentKey"] for item in found["items"]] == [incident["incidentKey"]], holder
    (start,) = seen(http, "element-instances", 1, filter={"processInstanceKey": root, "type": "START_EVENT"})["items"]
    assert search(http, f"element-instances/{start['elementInstanceKey']}/incidents")["items"] == []
    for nobody in ["process-instances/1", "element-instances/1"]:
        assert search(http, f"{nobody}/incidents")["items"] == []

    for body in [None, {"filter": {"processInstanceKey": root}}]:
        path = "/process-instances/incident-resolution" if body else f"/process-instances/{root}/incident-resolution"
        response = http.post(path, json=body or {})
        assert response.status_code == 200, response.text
        batch = {"batchOperationKey": response.json()["batchOperationKey"]}
        (done,) = seen(http, "batch-operations", 1, filter={**batch, "state": "COMPLETED"})["items"]
        assert done["operationsTotalCount"] == 1, body
        # It fails again.
        seen(http, "incidents", 1, filter={"processDefinitionId": f"{m.id}-called", "state": "ACTIVE"})
    cancel(http, root)


def test_the_audit_log_tells_who_did_what(http):
    m = deployed(http, "task")
    key = str(create(http, m, {"x": 1}))
    http.put(f"/element-instances/{key}/variables", json={"variables": {"x": 2, "y": 1}})
    http.post(f"/process-instances/{key}/cancellation", json={})
    filter_ = {"processInstanceKey": key}
    entries = seen(http, "audit-logs", 4, filter=filter_, sort=[{"field": "auditLogKey"}])["items"]
    assert [(entry["entityType"], entry["operationType"]) for entry in entries] == [
        ("PROCESS_INSTANCE", "CREATE"),
        ("VARIABLE", "UPDATE"),
        ("VARIABLE", "CREATE"),
        ("PROCESS_INSTANCE", "CANCEL"),
    ]
    first = entries[0]
    assert (first["actorType"], first["result"], first["category"]) == ("ANONYMOUS", "SUCCESS", "DEPLOYED_RESOURCES")
    assert first["processDefinitionId"] == m.id
    assert http.get(f"/audit-logs/{first['auditLogKey']}").json() == first
    assert http.get("/audit-logs/1").status_code == 404
    (deployed_,) = seen(http, "audit-logs", 1, filter={"processDefinitionId": m.id, "entityType": "RESOURCE"})["items"]
    assert deployed_["operationType"] == "CREATE"
