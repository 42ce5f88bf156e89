"""The searches of the contract: what they sort by, and what they filter with which operator."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

CONTRACT = Path(__file__).resolve().parents[3] / "crates" / "gateway" / "api" / "contract.json"

_RAW = json.loads(CONTRACT.read_text("utf-8"))
_SCHEMAS = _RAW["schemas"]


def resolved(schema: dict) -> dict:
    while "$ref" in schema:
        schema = _SCHEMAS[schema["$ref"]]
    return schema


def _properties(schema: dict) -> dict[str, dict]:
    return resolved(schema).get("properties", {})


@dataclass
class Search:
    """A search: its path, the fields that order it, and the operators of each field of its filter."""

    id: str
    path: str
    sorts: list[str] = field(default_factory=list)
    filters: dict[str, tuple[dict, dict[str, dict]]] = field(default_factory=dict)
    """By the field's name: the schema of a plain value, and by operator that of its operand."""


def _operators(schema: dict) -> tuple[dict, dict[str, dict]]:
    schema = resolved(schema)
    plain, operators = schema, {}
    for way in schema.get("oneOf", ()):
        way = resolved(way)
        if any(name.startswith("$") for name in way.get("properties", {})):
            operators = {name: resolved(operand) for name, operand in way["properties"].items()}
        else:
            plain = way
    return plain, operators


def searches() -> list[Search]:
    found = []
    for operation in _RAW["operations"]:
        if operation["method"] != "POST" or not operation["path"].endswith("/search"):
            continue
        body = _properties(operation["body"]["schema"])
        # Filters look at whole values.
        is_cut = any(parameter["name"] == "truncateValues" for parameter in operation.get("queryParameters") or ())
        search = Search(operation["id"], operation["path"] + ("?truncateValues=false" if is_cut else ""))
        if "sort" in body:
            field_ = resolved(_properties(resolved(body["sort"])["items"])["field"])
            search.sorts = list(field_["enum"])
        if "filter" in body:
            search.filters = {name: _operators(schema) for name, schema in _properties(body["filter"]).items()}
        found.append(search)
    return found
