"""What the test does with each document, and the commands that it leaves out, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

_HOURS = "takes minutes to hours, and its figures want an optimized build"
_OPTIMIZED = "builds the optimized program, for figures"
_DOCKER = "needs a Docker daemon and fetches images; `make packages-test` checks the files"
_CLUSTER = "needs three brokers; crates/baton/tests/faults starts them so, and a test of crates/broker hands over"
_CLIENT = "tests/clients make the same calls with this client"


@dataclass(frozen=True)
class Left:
    """Commands of a document that are not run: those that begin with a text."""

    document: str
    begins: str
    reason: str


NOT_RUN = (
    Left("README.md", "make test", "runs this test, among others"),
    Left("README.md", "docker compose", _DOCKER),
    Left("README.md", "make packages", "builds the shipped program; `make packages-test` makes and installs packages of another"),
    Left("deploy/README.md", "docker compose", _DOCKER),
    Left("deploy/README.md", "cargo test -p tidy", "`make unit` runs it"),
    Left("deploy/README.md", "cd deploy/prometheus", "needs promtool, which is in no registry of packages of the tests"),
    Left("docs/cluster.md", "baton dev-cluster", _CLUSTER),
    Left("docs/cluster.md", "baton start", _CLUSTER),
    Left("docs/cluster.md", "curl -X POST", _CLUSTER),
    Left("docs/reliability.md", "make faults", _HOURS),
    Left("docs/reliability.md", "make simulate", _HOURS),
    Left("docs/reliability.md", "make cluster-bench", _HOURS),
    Left("docs/attacks.md", "make experiments", _HOURS),
    Left("docs/experiments.md", "make lab", _HOURS),
    Left("docs/experiments.md", "baton lab", _HOURS),
    Left("docs/attacks.md", "cargo test", "`make unit` runs it"),
    Left("docs/attacks.md", "tests/clients/run.py", "`make clients` runs it"),
    Left("docs/outages.md", "make outage", _HOURS),
    Left("docs/outages.md", "OUTAGE_FAULTS=", _HOURS),
    Left("docs/performance.md", "make bench", _HOURS),
    Left("docs/performance.md", "make microbench", _HOURS),
    Left("docs/performance.md", "make web-bench", _HOURS),
    Left("docs/performance.md", "scripts/history-cost", _HOURS),
    Left("docs/performance.md", "cargo run --profile dist", _OPTIMIZED),
)

OTHER_LANGUAGES = {
    "java": _CLIENT,
    "json": "bodies and answers of operations of our own; tests of the gateway hold them against their contract",
    "js": _CLIENT,
    "nginx": "settings of a proxy; a test of the web application has one of its own before the server",
    "python": _CLIENT,
}
"""Languages of blocks that are neither commands nor settings, with the reason why they are not run."""

PREPARED = {
    "docs/command-line.md": ("baton start --data-dir data",),
    "docs/history.md": (
        "baton start --data-dir data",
        "baton deploy crates/bench/models/order.bpmn",
    ),
    "docs/operate.md": (
        "baton start --data-dir data",
        "baton deploy crates/bench/models/order.bpmn",
    ),
}
"""Commands that a document takes for granted."""

IDENTITIES = "users:"
"""A block of YAML that begins so is a file of `security.initialization`; all others are files of settings."""
