"""One of everything that can be read, and several of what can be searched: made over plain HTTP, so that no client is
needed. Returned are the keys, by the names that the contract gives to them."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from pathlib import Path

SEEN_WITHIN_S = 20
INSTANCES = 5
OWNERS = ("ann", "bob", "cid")


class Refused(AssertionError):
    """An answer that no seed expects."""


class Plain:
    """JSON over HTTP, without a client."""

    def __init__(self, address: str) -> None:
        self._host = urllib.parse.urlsplit(address).netloc

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        text = None if body is None else json.dumps(body).encode()
        return self.send(method, path, text, "application/json")

    def send(self, method: str, path: str, body: bytes | None, media: str) -> tuple[int, object]:
        connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            connection.request(method, path, body, {"Content-Type": media} if body is not None else {})
            answer = connection.getresponse()
            read = answer.read()
            is_json = "json" in (answer.getheader("Content-Type") or "")
            return answer.status, json.loads(read) if read and is_json else read.decode(errors="replace")
        finally:
            connection.close()

    def must(self, method: str, path: str, body: object = None) -> object:
        status, answer = self.ask(method, path, body)
        if status >= 300:
            raise Refused(f"{method} {path} {json.dumps(body)[:300]}: {status} {answer}")
        return answer

    def deploy(self, files: dict[str, str]) -> dict:
        limit = uuid.uuid4().hex
        parts = [
            f'--{limit}\r\nContent-Disposition: form-data; name="resources"; filename="{name}"\r\n\r\n{text}\r\n'
            for name, text in files.items()
        ]
        form = ("".join(parts) + f"--{limit}--\r\n").encode()
        status, answer = self.send("POST", "/v2/deployments", form, f"multipart/form-data; boundary={limit}")
        if status != 200:
            raise Refused(f"deployment: {status} {answer}")
        return answer

    def found(self, path: str, count: int = 1, **filter_: object) -> list[dict]:
        """Items of a search, once it finds so many."""
        end = time.monotonic() + SEEN_WITHIN_S
        while True:
            items = self.must("POST", f"/v2/{path}/search", {"filter": filter_})["items"]
            if len(items) >= count:
                return items
            if time.monotonic() > end:
                raise Refused(f"{path} {filter_}: {len(items)} of {count}")
            time.sleep(0.05)


class Seeds:
    """Makes them, one area after the other."""

    def __init__(self, plain: Plain, models: Path, is_newest: bool, partitions: int) -> None:
        self._partitions = partitions
        self._plain = plain
        self._is_newest = is_newest
        self._models = models
        # Clients take no longer ID of a tenant than 31 characters.
        self._run = uuid.uuid4().hex[:12]
        self._id = f"everything-{self._run}"
        self._instances: list[str] = []
        self.keys: dict[str, str] = {"processDefinitionId": self._id}

    def make(self) -> dict[str, str]:
        self._identities()
        self._resources()
        self._start()
        self._work()
        self._user_tasks()
        self._messages()
        self._batches()
        self._single_things()
        self._read_keys()
        if self._is_newest:
            self._agents()
        return self.keys

    def _text(self, file: str) -> str:
        return (self._models / file).read_text("utf-8").replace("@ID@", self._id)

    def _identities(self) -> None:
        must = self._plain.must
        for place, name in enumerate(OWNERS):
            who, key = name.capitalize(), f"{name}-{self._run}"
            must("POST", "/v2/users", {"username": key, "password": "secret", "name": who, "email": f"{name}@example.org"})
            must("POST", "/v2/groups", {"groupId": key, "name": f"Group of {who}"})
            must("POST", "/v2/roles", {"roleId": key, "name": f"Role of {who}"})
            must("POST", "/v2/tenants", {"tenantId": key, "name": f"Tenant of {who}"})
            rule = {"mappingRuleId": key, "name": f"Rule of {who}", "claimName": "department", "claimValue": key}
            must("POST", "/v2/mapping-rules", rule)
            permission = {
                "ownerId": key,
                "ownerType": ("USER", "GROUP", "ROLE")[place],
                "resourceId": self._id,
                "resourceType": ("PROCESS_DEFINITION", "DECISION_DEFINITION", "RESOURCE")[place],
                "permissionTypes": [("READ_PROCESS_DEFINITION", "READ_DECISION_DEFINITION", "READ")[place]],
            }
            self.keys["authorizationKey"] = must("POST", "/v2/authorizations", permission)["authorizationKey"]
        first = f"ann-{self._run}"
        self.keys |= {"tenantId": first, "username": first, "groupId": first, "roleId": first, "mappingRuleId": first}
        for name in OWNERS:
            member = f"{name}-{self._run}"
            kinds = ("users", "clients", "mapping-rules", "roles", "groups")
            for owner in ("groups", "roles", "tenants"):
                for kind in kinds:
                    # Neither is a group in a group, nor a role in a role or a group.
                    if kind != owner and (kind, owner) != ("roles", "groups"):
                        must("PUT", f"/v2/{owner}/{first}/{kind}/{member}")
            if member != first:
                must("PUT", f"/v2/roles/{member}/groups/{first}")

    def _resources(self) -> None:
        files = {name: self._text(name) for name in ("everything.bpmn", "everything.form", "rule.dmn")}
        files["everything.rpa"] = json.dumps({"id": f"{self._id}-robot", "versionTag": "first", "script": ""})
        self._plain.deploy(files)
        # A second version of each, and a third of the first form.
        for old, new in (("first", "second"), ("Everything at once", "Everything again")):
            files = {name: text.replace(old, new) for name, text in files.items()}
        self._plain.deploy({name: text.replace("Discounts", "Reductions").replace("&gt;= 100", "&gt;= 90") for name, text in files.items()})
        last = self._plain.deploy({"everything.form": self._text("everything.form").replace("Comment", "Remark")})
        self.keys["formKey"] = last["deployments"][0]["form"]["formKey"]

    def _start(self) -> None:
        for place in range(INSTANCES):
            who = OWNERS[place % len(OWNERS)]
            variables = {
                "who": who,
                "tries": place % 3 + 1,
                "urgency": 30 + 10 * (place % 3),
                "due": f"2031-01-0{place + 1}T00:00:00Z",
                "orderId": f"order-{place}",
                "total": 50 * place,
                "text": "x" * (9_000 if place == 1 else 9),
            }
            body = {"processDefinitionId": self._id, "variables": variables, "tags": [f"tag{place % 2}", "all"]}
            if place < 3:
                body["businessId"] = f"business-{place % 2}-{self._id}"
            if place == 4:
                body["processDefinitionVersion"] = 1
            answer = self._plain.must("POST", "/v2/process-instances", body)
            self._instances.append(answer["processInstanceKey"])
        self.keys["processInstanceKey"] = self._instances[0]

    def _jobs(self, type_: str, worker: str, most: int = INSTANCES) -> list[dict]:
        body = {"type": type_, "worker": worker, "timeout": 600_000, "maxJobsToActivate": most, "requestTimeout": 10_000}
        return self._plain.must("POST", "/v2/jobs/activation", body)["jobs"]

    def _work(self) -> None:
        must = self._plain.must
        jobs = [*self._jobs(self._id, "packer", 2), *self._jobs(self._id, "other packer", 2)]
        first, second, third, fourth = (f"/v2/jobs/{job['jobKey']}" for job in jobs)
        must("POST", f"{first}/completion", {"variables": {"packed": True}})
        must("POST", f"{second}/failure", {"retries": 2, "errorMessage": "no paper", "retryBackOff": 3_600_000})
        must("POST", f"{third}/failure", {"retries": 0, "errorMessage": "no boxes"})
        must("POST", f"{fourth}/error", {"errorCode": "REFUSED", "errorMessage": "the parcel is refused"})
        for job in self._jobs(f"{self._id}-child", "child", 2):
            must("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        self.keys["incidentKey"] = self._plain.found("incidents", 2, processDefinitionId=self._id)[0]["incidentKey"]
        if self._is_newest:
            must("POST", f"/v2/process-instances/{self._instances[4]}/suspension", {})
        must("POST", "/v2/process-instances", {"processDefinitionId": f"{self._id}-child"})
        ended = must("POST", "/v2/process-instances", {"processDefinitionId": f"{self._id}-child"})
        must("POST", f"/v2/process-instances/{ended['processInstanceKey']}/cancellation", {})

    def _user_tasks(self) -> None:
        tasks = self._plain.found("user-tasks", INSTANCES, processDefinitionId=self._id)
        by_instance = {task["processInstanceKey"]: task["userTaskKey"] for task in tasks}
        self.keys["userTaskKey"] = by_instance[self._instances[0]]
        change = {"changeset": {"priority": 90, "followUpDate": "2031-02-01T00:00:00Z"}}
        self._plain.must("PATCH", f"/v2/user-tasks/{self.keys['userTaskKey']}", change)
        self._plain.must("POST", f"/v2/user-tasks/{by_instance[self._instances[1]]}/completion", {"variables": {"ok": True}})
        self._plain.must("DELETE", f"/v2/user-tasks/{by_instance[self._instances[2]]}/assignee")

    def _messages(self) -> None:
        for place in range(2):
            body = {"name": self._id, "correlationKey": f"order-{place}", "timeToLive": 0}
            self._plain.must("POST", "/v2/messages/publication", body)
        self._plain.found("correlated-message-subscriptions", 2, processDefinitionId=self._id)

    def _batches(self) -> None:
        must = self._plain.must
        for what, filter_ in (
            ("incident-resolution", {"processInstanceKey": self._instances[2]}),
            ("suspension", {"processInstanceKey": self._instances[3]}),
            ("cancellation", {"processInstanceKey": self._instances[1]}),
        ):
            if what == "suspension" and not self._is_newest:
                continue
            self._plain.found("process-instances", **filter_)
            answer = must("POST", f"/v2/process-instances/{what}", {"filter": filter_})
            self.keys["batchOperationKey"] = answer["batchOperationKey"]
            self._plain.found("batch-operations", batchOperationKey=answer["batchOperationKey"], state="COMPLETED")

    def _single_things(self) -> None:
        must = self._plain.must
        for place, name in enumerate(OWNERS):
            variable = {"name": f"{name}_{place}", "value": f"{name} " * (1_500 if place == 1 else 1)}
            must("POST", "/v2/cluster-variables/global", variable)
            must("POST", f"/v2/cluster-variables/tenants/ann-{self._run}", variable)
            listener = {
                "id": f"{name}-{self._run}",
                "type": f"listen-{place}",
                # These jobs have no worker, so they are for events that do not happen.
                "eventTypes": [["canceling"], ["canceling", "updating"], ["updating"]][place],
                "priority": 50 + place,
                "retries": place + 1,
                "afterNonGlobal": place == 0,
            }
            must("POST", "/v2/global-task-listeners", listener)
        # Backups are those of one partition.
        for kind in ("runtime", "history") if self._partitions == 1 else ():
            must("POST", f"/v2/backups/{kind}", {"backupId": 1})
        self.keys |= {"backupId": "1", "name": "ann_0", "id": f"ann-{self._run}"}
        for total in (50, 150, "a lot of"):
            # The last one fails, and is kept as failed.
            body = {"decisionDefinitionId": f"{self._id}-discount", "variables": {"total": total}}
            self._plain.ask("POST", "/v2/decision-definitions/evaluation", body)

    def _agents(self) -> None:
        """Two agents; the job of the first has said something."""
        must = self._plain.must
        self._plain.deploy({"agent.bpmn": self._text("agent.bpmn")})
        for _ in OWNERS[:2]:
            must("POST", "/v2/process-instances", {"processDefinitionId": f"{self._id}-agent"})
        body = {"type": f"{self._id}-think", "worker": "mind", "timeout": 600_000, "maxJobsToActivate": 2, "requestTimeout": 10_000, "withLease": True}
        jobs = must("POST", "/v2/jobs/activation", body)["jobs"]
        for place, job in enumerate(jobs):
            definition = {"model": f"model-{place}", "provider": "house", "systemPrompt": "Be brief."}
            agent = must("POST", "/v2/agent-instances", {"elementInstanceKey": job["elementInstanceKey"], "definition": definition})
            # By the names of the released clients of 8.10, as its published contract has no others for these.
            told = {
                "elementInstanceKey": job["elementInstanceKey"],
                "jobKey": job["jobKey"],
                "jobLeaseToken": job["jobLeaseToken"],
                "history": [
                    {
                        "historyItemId": f"said-{place}",
                        "loopIteration": 1,
                        "role": "ASSISTANT",
                        "content": [{"contentType": "TEXT", "text": "Yes."}],
                        "metrics": {"inputTokens": 5, "reasoningTokenCount": 7, "cacheReadTokenCount": 9},
                        "producedAt": "2031-03-01T00:00:00Z",
                    }
                ],
            }
            must("PATCH", f"/v2/agent-instances/{agent['agentInstanceKey']}", told)
            for turn, role in enumerate(("USER", "ASSISTANT", "TOOL_RESULT")):
                item = {
                    "elementInstanceKey": job["elementInstanceKey"],
                    "jobKey": job["jobKey"],
                    "jobLease": job["jobLeaseToken"],
                    "loopIteration": turn + 1,
                    "role": role,
                    "content": [{"contentType": "TEXT", "text": f"turn {turn}"}],
                    "producedAt": f"2031-03-0{turn + 1}T00:00:00Z",
                }
                must("POST", f"/v2/agent-instances/{agent['agentInstanceKey']}/history", item)
            if place == 0:
                # Items of the history count with the completion of the job.
                must("POST", f"/v2/jobs/{job['jobKey']}/completion", {"leaseToken": job["jobLeaseToken"]})
                self.keys["agentInstanceKey"] = agent["agentInstanceKey"]
                self._plain.found(f"agent-instances/{agent['agentInstanceKey']}/history", 3)
        agents = self._plain.found("agent-instances", 2, processDefinitionId=f"{self._id}-agent")
        self.keys["agentDefinitionKey"] = agents[0]["agentDefinitionKey"]

    def _read_keys(self) -> None:
        """The keys that only searches tell."""
        found, mine = self._plain.found, {"processInstanceKey": self._instances[0]}
        self.keys["processDefinitionKey"] = found("process-definitions", processDefinitionId=self._id)[0]["processDefinitionKey"]
        decisions = found("decision-instances", 2, decisionDefinitionId=f"{self._id}-discount")
        self.keys |= {
            "elementInstanceKey": found("element-instances", elementId="work", **mine)[0]["elementInstanceKey"],
            "variableKey": found("variables", **mine)[0]["variableKey"],
            "auditLogKey": found("audit-logs", **mine)[0]["auditLogKey"],
            "decisionEvaluationInstanceKey": decisions[0]["decisionEvaluationInstanceKey"],
            "decisionDefinitionKey": decisions[0]["decisionDefinitionKey"],
            "decisionRequirementsKey": found("decision-requirements", decisionRequirementsId=f"{self._id}-drg")[0]["decisionRequirementsKey"],
            "resourceKey": found("resources", resourceId=f"{self._id}-robot")[0]["resourceKey"],
        }


def make(rest_address: str, models: Path, is_newest: bool, partitions: int) -> dict[str, str]:
    """Fills the server at the address, with what a client before 8.10 does not know if it is for the newest. Returns the
    keys of one of everything."""
    return Seeds(Plain(rest_address), models, is_newest, partitions).make()
