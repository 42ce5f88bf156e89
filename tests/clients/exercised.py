"""Operations that each client has carried out, as the server counts them; and the tables about them in the documentation.

A run compares what it has seen with exercised.json, where the tables come from. Each suite has lines of its own there,
so some suites may run without the others.
"""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORDED = HERE / "exercised.json"
CONTRACT = ROOT / "crates" / "gateway" / "api" / "contract.json"
SUMMARY = ROOT / "docs" / "compatibility.md"
SUMMARY_HEADING = "## Clients tried\n"
DETAILS = ROOT / "docs" / "client-operations.md"
WRITE_AGAIN = "python3 tests/clients/run.py --baton target/debug/baton --write-table"

# Streams end with their worker.
_DONE_OVER_GRPC = ("OK", "CANCELLED")
_SAMPLE = re.compile(r"^(http_server_requests_seconds_count|grpc_server_handled_total)\{(.*)\} (\S+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_READ_OVER_REST = re.compile(r"/(search|statistics/.*|statistics)$")

AREAS = (
    ("deployments", r"^/v2/(deployments|resources)|^Deploy|^DeleteResource"),
    ("process instances", r"^/v2/(process-instances|element-instances)|ProcessInstance|^SetVariables|^EvaluateConditional"),
    ("jobs", r"^/v2/jobs|Job|ThrowError"),
    ("messages and signals", r"^/v2/(messages|signals|conditionals)|PublishMessage|BroadcastSignal"),
    ("incidents", r"^/v2/incidents|ResolveIncident"),
    ("user tasks", r"^/v2/user-tasks"),
    ("decisions", r"^/v2/decision|EvaluateDecision"),
    ("documents", r"^/v2/documents"),
)
"""By the path of what is no read, or the name of a gRPC method; anything else is `others`."""


def _contract() -> dict[tuple[str, str], str]:
    operations = json.loads(CONTRACT.read_text("utf-8"))["operations"]
    return {(operation["method"], operation["path"]): operation["id"] for operation in operations}


def answered(management: str) -> dict[str, dict[str, float]]:
    """By protocol, how often the server has answered each operation without an error."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{management}/actuator/prometheus", timeout=10) as response:
        text = response.read().decode()
    operations = _contract()
    counts: dict[str, dict[str, float]] = {"REST": {}, "gRPC": {}}
    for sample in filter(None, map(_SAMPLE.match, text.splitlines())):
        labels = dict(_LABEL.findall(sample[2]))
        if "grpc_method" in labels:
            protocol, name = "gRPC", labels["grpc_method"]
            is_done = labels["grpc_code"] in _DONE_OVER_GRPC
        else:
            protocol, name = "REST", operations.get((labels["method"], labels["uri"]))
            is_done = labels["status"].startswith("2")
        if name and is_done:
            counts[protocol][name] = counts[protocol].get(name, 0) + float(sample[3])
    return counts


def between(before: dict, after: dict) -> dict[str, list[str]]:
    """The operations that were answered meanwhile, by protocol."""
    return {
        protocol: sorted(name for name, count in counts.items() if count > before[protocol].get(name, 0))
        for protocol, counts in after.items()
    }


def rows(clients: dict[str, tuple[str, str]], seen: dict[str, list[str]]) -> list[dict]:
    """Rows that a suite adds to the record: one row for each of its clients, which are known by their protocol."""
    return [
        {"client": clients[protocol][0], "version": clients[protocol][1], "protocol": protocol, "operations": operations}
        for protocol, operations in seen.items()
        if operations or protocol in clients
    ]


def recorded() -> dict[str, list[dict]]:
    return json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}


def differences(suite: str, measured: list[dict]) -> list[str]:
    """Differences between the record of a suite and a run."""
    known = {(row["client"], row["version"], row["protocol"]): row["operations"] for row in recorded().get(suite, [])}
    found = []
    for row in measured:
        title = f"{row['client']} {row['version']} over {row['protocol']}"
        had = known.pop((row["client"], row["version"], row["protocol"]), None)
        if had is None:
            found.append(f"{title} is not in {RECORDED.name}")
            continue
        before, now = set(had), set(row["operations"])
        for verb, names in (("did not do", before - now), ("also did", now - before)):
            if names:
                found.append(f"{title} {verb} {', '.join(sorted(names))}")
    return found + [f"{client} {version} over {protocol} did nothing" for client, version, protocol in known]


def record(suite: str, measured: list[dict], order: list[str]) -> None:
    """Puts what a suite has done in place of what it did before, and writes the tables."""
    known = {**recorded(), suite: measured}
    known = {name: known[name] for name in order if name in known}
    RECORDED.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
    for path, text in documents(known).items():
        path.write_text(text, "utf-8")


def stale() -> list[str]:
    """The documents that do not show what is recorded."""
    return [
        f"{path.relative_to(ROOT)} does not show {RECORDED.name}: {WRITE_AGAIN}"
        for path, text in documents(recorded()).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]


def documents(known: dict[str, list[dict]]) -> dict[Path, str]:
    every = [row for suite in known.values() for row in suite]
    return {SUMMARY: _summary(every), DETAILS: _details(every)}


def _area(name: str, paths: dict[str, tuple[str, str]]) -> str:
    method, path = paths.get(name, ("", name))
    if method == "GET" or _READ_OVER_REST.search(path):
        return "reads"
    return next((area for area, pattern in AREAS if re.search(pattern, path)), "others")


def _summary(every: list[dict]) -> str:
    paths = {name: where for where, name in _contract().items()}
    lines = ["| client | version | protocol | operations that were answered |", "|---|---|---|---|"]
    for row in every:
        counts: dict[str, int] = {}
        for name in row["operations"]:
            area = _area(name, paths)
            counts[area] = counts.get(area, 0) + 1
        shown = [f"{area} {counts[area]}" for area in (*dict(AREAS), "reads", "others") if area in counts]
        cell = f"{len(row['operations'])}: {', '.join(shown)}" if shown else "none"
        lines.append(f"| {row['client']} | {row['version']} | {row['protocol']} | {cell} |")
    text = SUMMARY.read_text("utf-8")
    begin = text.index(SUMMARY_HEADING) + len(SUMMARY_HEADING)
    end = text.index("\n## ", begin)
    told = (
        "\nEach suite below `tests/clients` runs against a server of its own, which counts the operations that it answers"
        " without an\nerror. [Operations by client](client-operations.md) names them. A run fails if it differs from these"
        f" tables;\n`{WRITE_AGAIN}` writes them.\n\n"
    )
    return text[:begin] + told + "\n".join(lines) + "\n" + text[end:]


def _details(every: list[dict]) -> str:
    numbers = {id(row): str(place) for place, row in enumerate(every, 1)}
    lines = [
        "# Operations by client\n",
        "The operations and methods that a server answered to each client without an error, when the suites below",
        f"`tests/clients` ran last; `{WRITE_AGAIN}` writes this page.\n",
        *(f"{numbers[id(row)]}. {row['client']} {row['version']}, {row['protocol']}" for row in every),
    ]
    for protocol, title in (("REST", "operation"), ("gRPC", "method")):
        names = sorted({name for row in every if row["protocol"] == protocol for name in row["operations"]})
        lines += ["", f"| {title} | clients |", "|---|---|"]
        for name in names:
            who = [numbers[id(row)] for row in every if row["protocol"] == protocol and name in row["operations"]]
            lines.append(f"| `{name}` | {', '.join(who)} |")
    return "\n".join(lines) + "\n"
