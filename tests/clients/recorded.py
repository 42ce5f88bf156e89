"""Work whose records the seeds do not have: one of every value type that a broker exports."""

from __future__ import annotations

import uuid
from pathlib import Path

from seeds import Plain


def make(address: str, models: Path) -> None:
    plain, id_ = Plain(address), f"records-{uuid.uuid4().hex[:12]}"
    must = plain.must

    def text(file: str) -> str:
        return (models / file).read_text("utf-8").replace("@ID@", id_)

    def create(process: str, **members: object) -> str:
        return must("POST", "/v2/process-instances", {"processDefinitionId": process, **members})["processInstanceKey"]

    first = plain.deploy({"records.bpmn": text("records.bpmn"), "ad-hoc.bpmn": text("ad-hoc.bpmn")})
    definitions = [one["processDefinition"] for one in first["deployments"] if one["processDefinition"]]
    waiting = next(one for one in definitions if one["processDefinitionId"] == f"{id_}-waiting")
    second = plain.deploy({"records.bpmn": text("records.bpmn").replace("PT1H", "PT2H")})
    newer = next(one["processDefinition"] for one in second["deployments"] if one["processDefinition"]["processDefinitionId"] == f"{id_}-waiting")

    moved = must("POST", "/v2/process-instances", {"processDefinitionKey": waiting["processDefinitionKey"], "variables": {"ready": False}})
    moved = f"/v2/process-instances/{moved['processInstanceKey']}"
    elements = ("timer", "condition", "told", "each")
    mapping = [{"sourceElementId": element, "targetElementId": element} for element in elements]
    plan = {"targetProcessDefinitionKey": newer["processDefinitionKey"], "mappingInstructions": mapping}
    must("POST", f"{moved}/migration", plan)
    must("POST", f"{moved}/modification", {"activateInstructions": [{"elementId": "timer"}]})
    must("PUT", f"/v2/element-instances/{moved.rsplit('/', 1)[1]}/variables", {"variables": {"ready": True}})
    must("POST", "/v2/signals/broadcast", {"signalName": id_, "variables": {"said": "yes"}})
    must("POST", f"{moved}/cancellation", {})
    create(f"{id_}-waiting", variables={"ready": False}, runtimeInstructions=[{"type": "TERMINATE_PROCESS_INSTANCE", "afterElementId": "told"}])
    must("POST", "/v2/signals/broadcast", {"signalName": id_})
    create(f"{id_}-undone")
    tools = create(id_, variables={"elements": ["a"]})
    tools = plain.found("element-instances", elementId="tools", processInstanceKey=tools)[0]["elementInstanceKey"]
    must("POST", f"/v2/element-instances/ad-hoc-activities/{tools}/activation", {"elements": [{"elementId": "b"}]})
    must("POST", "/v2/messages/publication", {"name": f"{id_}-began", "correlationKey": "k", "timeToLive": 60_000, "messageId": id_})
    must("POST", "/v2/conditionals/evaluation", {"variables": {"amount": 20}})
    plain.found("process-instances", processInstanceKey=moved.rsplit("/", 1)[1], state="TERMINATED")
    must("POST", f"{moved}/deletion", {})
    must("POST", f"/v2/resources/{waiting['processDefinitionKey']}/deletion", {})
    must("PUT", "/v2/clock", {"timestamp": 4_000_000_000_000})
    must("POST", "/v2/clock/reset")
