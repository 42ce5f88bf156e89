"""The contract of the gateway as an OpenAPI document, which generators of requests read."""

from __future__ import annotations

import json
from pathlib import Path

CONTRACT = Path(__file__).resolve().parents[3] / "crates" / "gateway" / "api" / "contract.json"
PROBLEM = "application/problem+json"
ALWAYS = ("400", "403", "404", "405", "409", "413", "415", "503")
"""Statuses of problems that the server may answer wherever something is asked: of the shape, the subject or the size of a
request, and of its load."""
SCHEMAS = "#/components/schemas/"


def _schema(raw: dict, is_answer: bool) -> dict:
    """A schema of the contract, whose objects are closed and whose alternatives may overlap."""
    known = {key: value for key, value in raw.items() if key != "discriminator"}
    if "$ref" in known:
        reference = {"$ref": SCHEMAS + ("Answer" if is_answer else "") + known["$ref"]}
        return {"nullable": True, "allOf": [reference]} if known.get("nullable") else reference
    if "oneOf" in known:
        known["anyOf"] = [_schema(way, is_answer) for way in known.pop("oneOf")]
    if "items" in known:
        known["items"] = _schema(known["items"], is_answer)
    if "properties" in known:
        known["properties"] = {name: _schema(shape, is_answer) for name, shape in known["properties"].items()}
        known.setdefault("additionalProperties", False)
    if isinstance(known.get("additionalProperties"), dict):
        known["additionalProperties"] = _schema(known["additionalProperties"], is_answer)
    if is_answer:
        # IDs are what callers have chosen, under rules of the release in which they did.
        known.pop("pattern", None)
    elif "pattern" in known:
        known["pattern"] = known["pattern"].replace(r"\p{L}", "A-Za-z").replace(r"\p{N}", "0-9")
    return known


def _parameter(raw: dict, place: str) -> dict:
    return {
        "name": raw["name"],
        "in": place,
        "required": place == "path" or bool(raw.get("required")),
        "schema": _schema(raw["schema"], False),
    }


def _operation(raw: dict) -> dict:
    operation: dict = {"operationId": raw["id"], "responses": {}}
    operation["parameters"] = [
        *(_parameter(one, "path") for one in raw.get("pathParameters", ())),
        *(_parameter(one, "query") for one in raw.get("queryParameters", ())),
    ]
    if "body" in raw:
        content = {raw["body"]["media"]: {"schema": _schema(raw["body"]["schema"], False)}}
        operation["requestBody"] = {"content": content, "required": bool(raw["body"].get("required"))}
    if raw["id"] == "getResourceContent":
        # A file as it is, which need not be what the contract says.
        raw = {**raw, "responses": {**raw["responses"], "200": None}}
    for status, schema in raw["responses"].items():
        answer: dict = {"description": status}
        if schema is not None:
            answer["content"] = {"application/json": {"schema": _schema(schema, True)}}
        operation["responses"][status] = answer
    problem = {PROBLEM: {"schema": {"$ref": SCHEMAS + "AnswerProblemDetail"}}}
    for status in {*ALWAYS, *(status for status in raw["responses"] if status >= "400")}:
        operation["responses"][status] = {"description": status, "content": problem}
    return operation


def document() -> dict:
    contract = json.loads(CONTRACT.read_text("utf-8"))
    paths: dict = {}
    for raw in contract["operations"]:
        paths.setdefault(raw["path"], {})[raw["method"].lower()] = _operation(raw)
    schemas = {}
    for name, raw in contract["schemas"].items():
        schemas[name] = _schema(raw, False)
        schemas["Answer" + name] = _schema(raw, True)
    return {
        "openapi": "3.0.3",
        "info": {"title": "The contract", "version": "1"},
        "paths": paths,
        "components": {"schemas": schemas},
    }
