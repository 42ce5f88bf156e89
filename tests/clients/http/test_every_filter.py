"""Every field that a search is sorted by and every operator of every field of its filter, over what `seeds` has made:
the answers are compared with all items, sorted and chosen here."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable
from datetime import datetime

import pytest
from contract import Search, resolved, searches

ALL = {"page": {"limit": 1000}}
LIKE_MAX = 1000
"""Longest pattern that a server takes."""

ALSO_SORTED_BY = {
    # The Java client up to 8.8 can ask for it; the contract of 8.9 has it no more.
    "searchIncidents": ["errorMessage"],
    "searchProcessInstanceIncidents": ["errorMessage"],
    "searchElementInstanceIncidents": ["errorMessage"],
}
"""Fields that clients send beyond the contract."""

OTHER_NAMES = {
    ("searchBatchOperations", "operationType"): "batchOperationType",
    ("searchUserTasks", "candidateGroup"): "candidateGroups",
    ("searchUserTasks", "candidateUser"): "candidateUsers",
    ("searchAuthorizations", "resourceIds"): "resourceId",
    ("searchAuthorizations", "resourcePropertyNames"): "resourcePropertyName",
    ("searchOwnAuthorizations", "resourceIds"): "resourceId",
    ("searchOwnAuthorizations", "resourcePropertyNames"): "resourcePropertyName",
}
"""Names in items of fields that a filter or an order calls otherwise."""

NOT_IN_ITEMS = {
    # Filtered by its own operators, of each of its entries.
    "searchClusterVariables": {"metadata"},
    "searchDecisionDefinitions": {"isLatestVersion"},
    "searchDecisionInstances": {"decisionRequirementsKey"},
    "searchElementInstances": {"elementInstanceScopeKey"},
    # It is in the details.
    "searchElementInstanceWaitStates": {"waitStateType"},
    "searchProcessDefinitions": {"isLatestVersion"},
    # Whole values are asked for, and none of them is cut; the filter is about values as they are shown otherwise.
    "searchVariables": {"isTruncated"},
    "searchProcessInstances": {
        "batchOperationId", "batchOperationKey", "elementId", "elementInstanceState", "errorMessage",
        "hasElementInstanceIncident", "hasRetriesLeft", "incidentErrorHashCode", "variables",
    },
    "searchResources": {"deploymentKey"},
    "searchTenants": {"key"},
    "searchUserTasks": {"localVariables", "processInstanceVariables"},
}  # fmt: skip
"""Fields that no item shows: of these only the answer's status is looked at, and other tests look at what is selected."""


def order_of(name: str, values: list[object]) -> Callable[[object], object]:
    """The order of a column's values: keys by number, times by time, anything else by itself."""
    texts = [value for value in values if isinstance(value, str)]
    if name.endswith("Key") and all(re.fullmatch(r"-?[0-9]{1,19}", text) for text in texts):
        return int
    if texts and all(re.match(r"\d{4}-\d\d-\d\dT", text) for text in texts):
        return lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))
    return lambda value: value


def like(pattern: str, text: str) -> bool:
    """`*` stands for any text and `?` for one character."""
    parts = [".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern]
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def chosen(operator: str, operand: object, value: object, comparable: Callable = lambda value: value) -> bool:
    """Whether an item with the value is selected."""
    if operator == "$exists":
        return (value is not None) == operand
    if value is None:
        return operator in ("$neq", "$notIn")
    if operator == "$like":
        return like(str(operand), str(value))
    here = comparable(value)
    if operator in ("$in", "$notIn"):
        return (here in [comparable(o) for o in operand]) == (operator == "$in")
    there = comparable(operand)
    return {
        "$eq": lambda: here == there,
        "$neq": lambda: here != there,
        "$gt": lambda: here > there,
        "$gte": lambda: here >= there,
        "$lt": lambda: here < there,
        "$lte": lambda: here <= there,
    }[operator]()


def without_none(item: dict) -> dict:
    """An item in which a key that names nothing, which clients can only take as a number, is absent."""
    return {name: None if name.endswith("Key") and value == "-1" else value for name, value in item.items()}


class Asked:
    """The searches of the server under test, with all items of each."""

    def __init__(self, plain, keys: dict[str, str]) -> None:
        self._plain = plain
        self._keys = keys
        self._all: dict[str, list[dict]] = {}

    def path(self, search: Search) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: urllib.parse.quote(self._keys[found[1]]), search.path)

    def ask(self, search: Search, **body: object) -> tuple[int, object]:
        status, answer = self._plain.ask("POST", self.path(search), {**ALL, **body})
        if isinstance(answer, dict) and "items" in answer:
            answer = {**answer, "items": [without_none(item) for item in answer["items"]]}
        return status, answer

    def all(self, search: Search) -> list[dict]:
        if search.id not in self._all:
            status, answer = self.ask(search)
            assert status == 200, answer
            assert answer["page"]["totalItems"] == len(answer["items"])
            self._all[search.id] = answer["items"]
        return self._all[search.id]


@pytest.fixture(scope="module")
def asked(plain, keys) -> Asked:
    return Asked(plain, keys)


def shown(search: Search, name: str, items: list[dict]) -> str | None:
    """How items name a field; none if they do not show it."""
    name_there = OTHER_NAMES.get((search.id, name), name)
    if name in NOT_IN_ITEMS.get(search.id, ()):
        return None
    assert not items or name_there in items[0], f"{search.id}: items have no {name_there}: {sorted(items[0])}"
    return name_there


def assert_monotonic(name: str, values: list[object], descending: bool, what: str) -> None:
    there = [value for value in values if value is not None]
    there = list(map(order_of(name, there), there))
    # Absent values stand together, at one end.
    absent = [value is None for value in values]
    assert sum(a != b for a, b in zip(absent, absent[1:])) <= 1, f"{what}: {values}"
    assert there == sorted(there, reverse=descending), f"{what}: {values}"


SEARCHES = {search.id: search for search in searches()}


def test_there_are_searches_with_fields():
    assert len(SEARCHES) > 40
    assert sum(len(search.sorts) for search in SEARCHES.values()) > 200
    assert sum(len(operators) for s in SEARCHES.values() for _, operators in s.filters.values()) > 800


@pytest.mark.parametrize("name", SEARCHES)
def test_every_order(asked, name):
    search = SEARCHES[name]
    items = asked.all(search)
    keys = sorted(map(str, items))
    for field in [*search.sorts, *ALSO_SORTED_BY.get(name, ())]:
        for order in ("ASC", "DESC", "asc", "desc"):
            what = f"{name} by {field} {order}"
            status, answer = asked.ask(search, sort=[{"field": field, "order": order}])
            assert status == 200, f"{what}: {answer}"
            assert sorted(map(str, answer["items"])) == keys, f"{what}: other items"
            if there := shown(search, field, items):
                values = [item[there] for item in answer["items"]]
                assert_monotonic(there, values, order.lower() == "desc", what)


def examples(schema: dict, values: list) -> list:
    """Two operands: the value in the middle and the last, or what the schema takes."""
    if values:
        return [values[len(values) // 2], values[-1]]
    if "enum" in schema:
        return [schema["enum"][0], schema["enum"][-1]]
    if schema.get("format") == "date-time":
        return ["2031-01-01T00:00:00Z", "2032-01-01T00:00:00.500+02:00"]
    kind = schema.get("type", "string")
    return {"boolean": [True, False], "integer": [1, 2]}.get(kind, ["1", "2"])


def operand(operator: str, schema: dict, values: list) -> list:
    """Operands of an operator, one after the other."""
    if operator == "$exists":
        return [True, False]
    if operator in ("$in", "$notIn"):
        middle, last = examples(resolved(schema["items"]), values)
        return [[middle], [middle, last]]
    middle, last = examples(schema, values)
    if operator == "$like":
        text = str(middle)
        if len(text) > LIKE_MAX:
            return [f"{text[:3]}*", f"*{text[-3:]}"]
        if set("*?\\") & set(text):
            return ["*"]
        return [text, f"{text[:3]}*", f"*{text[-3:]}", f"?{text[1:]}", "nothing is like this"]
    return [middle, last]


def met(value: object, operator: str, sent: object, comparable: Callable) -> bool:
    """`chosen`, for lists too: one of its elements must be equal."""
    if not isinstance(value, list):
        return chosen(operator, sent, value, comparable)
    if operator in ("$neq", "$notIn"):
        return all(chosen(operator, sent, element) for element in value)
    if operator == "$exists":
        return bool(value) == sent
    return any(chosen(operator, sent, element) for element in value)


def distinct(items: list[dict], name: str) -> list:
    found = set()
    for item in items:
        value = item[name]
        found.update(value if isinstance(value, list) else [value])
    found.discard(None)
    return sorted(found, key=order_of(name, list(found)))


def cases(schema: dict, operators: dict[str, dict], values: list):
    """Each filter of a field: what is sent, and the operator with its operand."""
    if schema.get("type") == "array":
        for value in examples({}, values):
            yield [value], "$eq", value
        return
    for value in examples(schema, values):
        yield value, "$eq", value
    for operator, operand_schema in operators.items():
        for sent in operand(operator, operand_schema, values):
            yield {operator: sent}, operator, sent


@pytest.mark.parametrize("name", SEARCHES)
def test_every_filter(asked, name):
    search = SEARCHES[name]
    items = asked.all(search)
    wrong = []
    for field, (schema, operators) in search.filters.items():
        if field == "$or":
            continue
        there = shown(search, field, items)
        if there is None:
            wrong += refused(asked, search, field, schema, operators)
            continue
        values = distinct(items, there) if items else []
        comparable = order_of(there, values)
        for sent, operator, operand_ in cases(schema, operators, values):
            status, answer = asked.ask(search, filter={field: sent})
            if status != 200:
                wrong.append(f"{field} {sent}: {status} {answer}")
                continue
            wanted = [item for item in items if met(item[there], operator, operand_, comparable)]
            if sorted(map(str, answer["items"])) != sorted(map(str, wanted)):
                wrong.append(f"{field} {sent}: {len(answer['items'])} items and not {len(wanted)}; of {values[:20]}")
    assert not wrong, "\n".join(wrong)


def refused(asked: Asked, search: Search, field: str, schema: dict, operators: dict[str, dict]) -> list[str]:
    """The filters of a field that no item shows, as far as they are refused."""
    special = {
        "variables": [[{"name": "who", "value": '"ann"'}], [{"name": "who", "value": {"$like": "*n*"}}]],
    }
    special["metadata"] = [{"kind": "CREDENTIAL"}, {"version": {"$gte": 2}}]
    special["localVariables"] = special["processInstanceVariables"] = special["variables"]
    sent = special.get(field) or [sent for sent, _, _ in cases(schema, operators, [])]
    answers = [(value, *asked.ask(search, filter={field: value})) for value in sent]
    return [f"{field} {value}: {status} {answer}" for value, status, answer in answers if status != 200]


HAVE_ALTERNATIVES = [name for name, search in SEARCHES.items() if "$or" in search.filters]


def test_searches_have_alternatives():
    assert {"searchUsers", "searchGroups", "searchRoles", "searchMappingRule", "searchUserTasks"} <= set(HAVE_ALTERNATIVES)


@pytest.mark.parametrize("name", HAVE_ALTERNATIVES)
def test_every_alternative(asked, name):
    """The items of each pair of fields: those that have the value of either, and of these those with a third value."""
    search = SEARCHES[name]
    items = asked.all(search)
    fields = [field for field in search.filters if field != "$or" and shown(search, field, items) == field]
    fields = [field for field in fields if not isinstance(items[0][field], list) and distinct(items, field)]
    assert len(fields) > 1
    for first, second in zip(fields, fields[1:] + fields[:1]):
        one, other = distinct(items, first)[0], distinct(items, second)[-1]
        for more in ({}, {first: one}):
            filter_ = {"$or": [{first: one}, {second: other}], **more}
            status, answer = asked.ask(search, filter=filter_)
            assert status == 200, f"{filter_}: {answer}"
            either = [item for item in items if item[first] == one or item[second] == other]
            wanted = [item for item in either if all(item[field] == value for field, value in more.items())]
            assert sorted(map(str, answer["items"])) == sorted(map(str, wanted)), filter_
