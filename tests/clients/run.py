#!/usr/bin/env python3
"""Runs the official clients' end-to-end suites against a Baton server.

    tests/clients/run.py --baton target/release/baton [java] [java-8.9] [java-searches] [java-searches-8.9] [spring]
        [records] [node] [zeebe-node] [python] [python-10] [go] [zbctl] [rust] [http] [generated] [workers]

Each suite gets servers of its own with empty data directories: one for everybody, and two that ask
for credentials (guarded.py). Packages come through mvn, npm, pip,
go and cargo once and are kept under --cache, so later runs work offline; what is compiled is kept below the
server's target directory. What the clients have done is compared with exercised.json, which --write-table
writes. A suite fails when a test
fails, when it runs no test, when it takes too long, or when the server logged a warning or error
that EXPECTED_LOG_LINES does not announce, or did not stop cleanly.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import exercised
import guarded
import seeds
from suites import COLOUR, SUITES, Failure, Outcome, Skipped, Suite, tail

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import common

HERE = Path(__file__).resolve().parent
READY_TIMEOUT_S = 30
STOP_TIMEOUT_S = 15
START_ATTEMPTS_MAX = 3

OPEN_SETTINGS: tuple[str, ...] = ("--set", "limits.max_variable_bytes=1MiB")
"""Of the server for everybody: a variable can be too large where its request is not."""

EXPECTED_LOG_LINES: tuple[str, ...] = ()
"""Patterns of warnings and errors that the suites provoke on purpose."""

_TROUBLE = re.compile(r"\b(WARN|ERROR)\b|panicked at")


# --- the server ---


class Server:
    """One server process on free ports; its log lines go to a file that is read at the end."""

    def __init__(self, binary: Path, scratch: Path, arguments: list[str]) -> None:
        scratch.mkdir(exist_ok=True)
        self._binary = binary
        self._scratch = scratch
        self._arguments = arguments
        self._log_path = scratch / "server.log"
        self._process: subprocess.Popen | None = None
        self.rest = self.grpc = self.management = ""

    def start(self) -> None:
        for attempt in range(1, START_ATTEMPTS_MAX + 1):
            self.rest, self.grpc, self.management = (f"127.0.0.1:{p}" for p in common.free_ports(3))
            with self._log_path.open("w") as log:
                self._process = subprocess.Popen(
                    [
                        str(self._binary),
                        "start",
                        "--data-dir",
                        str(self._scratch / "data"),
                        *("--rest", self.rest),
                        *("--grpc", self.grpc),
                        *("--management", self.management),
                        *self._arguments,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            if self._wait_until_ready():
                return
            # Another process may have taken a port in between.
            if attempt == START_ATTEMPTS_MAX or "in use" not in self._log():
                self.kill()
                raise Failure(f"the server did not become ready:\n{tail(self._log())}")
            self.kill()

    def _wait_until_ready(self) -> bool:
        end = time.monotonic() + READY_TIMEOUT_S
        url = f"http://{self.management}/actuator/health/readiness"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError):
                with opener.open(url, timeout=1) as response:
                    if response.status == 200:
                        return True
            time.sleep(0.02)
        return False

    def stop(self, outcome: Outcome) -> None:
        code = self._process.poll()
        if code is not None:
            outcome.add_problem(f"the server ended by itself with code {code}:\n{tail(self._log())}")
        else:
            self._process.terminate()
            try:
                code = self._process.wait(STOP_TIMEOUT_S)
                if code != 0:
                    outcome.add_problem(f"the server stopped with code {code}:\n{tail(self._log())}")
            except subprocess.TimeoutExpired:
                outcome.add_problem(f"the server did not stop in {STOP_TIMEOUT_S} s")
        self.kill()
        lines = unexpected_lines(self._log())
        if lines:
            outcome.add_problem("unannounced server log lines:\n" + tail("\n".join(lines)))

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _log(self) -> str:
        return self._log_path.read_text("utf-8", errors="replace")


def unexpected_lines(log: str) -> list[str]:
    """The warnings and errors of a log, text or JSON, that nobody announced."""
    lines = (COLOUR.sub("", line) for line in log.splitlines())
    return [
        line
        for line in lines
        if _TROUBLE.search(line) and not any(re.search(p, line) for p in EXPECTED_LOG_LINES)
    ]


def set_(*settings: str) -> list[str]:
    """Arguments of settings."""
    return [word for setting in settings for word in ("--set", setting)]


def run_suite(suite: Suite, binary: Path, env: dict[str, str], partitions: int = 1) -> tuple[Outcome, list[dict]]:
    """Runs a suite. Returns how it ended, and what its clients have done (exercised.py)."""
    outcome, done_by_clients = Outcome(), []
    with tempfile.TemporaryDirectory(prefix="baton-clients-") as scratch, contextlib.ExitStack() as stack:
        scratch = Path(scratch)
        issuer = guarded.Issuer(scratch)
        stack.callback(issuer.stop)
        several = [f"cluster.partitions={partitions}"] if partitions > 1 else []
        servers = [
            Server(binary, scratch / "open", [*OPEN_SETTINGS, *set_(f"backup.directory={scratch / 'backups'}", *several, *suite.settings)]),
            Server(binary, scratch / "password", guarded.by_password(scratch)),
            Server(binary, scratch / "token", guarded.by_token(scratch, issuer, suite.tls)),
        ]
        try:
            suite.prepare(env)
            for server in servers:
                stack.callback(server.kill)
                server.start()
            temporary = scratch / "tmp"
            temporary.mkdir()
            address = f"http://{servers[0].rest}"
            addresses = {
                "BATON_REST_ADDRESS": address,
                "BATON_GRPC_ADDRESS": servers[0].grpc,
                **guarded.environment(*servers[1:], issuer, scratch, suite.tls),
                "CAMUNDA_SDK_VALIDATION_CAPTURE_DIR": str(temporary / "captures"),
                "HOME": str(temporary) if suite.name == "node" else env.get("HOME", ""),
                "TMPDIR": str(temporary),
                "BATON_PARTITIONS": str(partitions),
                "BATON_RECORDS": str(scratch / "open" / "data" / "export" / "ndjson"),
            }
            if suite.is_seeded:
                addresses["BATON_SEEDED"] = json.dumps(seeds.make(address, HERE / "models", suite.is_newest, partitions))
            before = exercised.answered(servers[0].management)
            done = suite.run({**env, **addresses})
            if suite.lacks_packages(done):
                suite.stamp.unlink()
                suite.prepare(env)
                done = suite.run({**env, **addresses})
            suite.read(done, outcome)
            if done.timed_out:
                outcome.add_problem(f"the suite did not end in {suite.timeout_s} s")
            elif outcome.passed + outcome.failed == 0:
                outcome.add_problem("the suite ran no test")
            elif done.code != 0 and outcome.failed == 0:
                outcome.add_problem(f"the suite ended with code {done.code}")
            if outcome.failed:
                print(tail(done.output), flush=True)
            if clients := suite.clients():
                seen = exercised.between(before, exercised.answered(servers[0].management))
                done_by_clients = exercised.rows(clients, seen)
            for server in servers:
                server.stop(outcome)
        except (Failure, seeds.Refused) as failure:
            outcome.add_problem(str(failure))
    return outcome, done_by_clients


def _environment() -> dict[str, str]:
    """The user's own, less what would point a client elsewhere or through a proxy to this host."""
    prefixes = ("CAMUNDA_", "ZEEBE_", "BATON_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    local = "127.0.0.1,localhost"
    for name in ("no_proxy", "NO_PROXY"):
        env[name] = f"{env[name]},{local}" if env.get(name) else local
    env["BATON_CLIENT_MODELS"] = str(HERE / "models")
    return env


def _arguments() -> argparse.Namespace:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "baton" / "clients"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", type=Path, required=True, help="the server binary")
    parser.add_argument("--partitions", type=int, default=1, help="partitions of the server for everybody (1)")
    parser.add_argument("--cache", type=Path, default=cache, help=f"installed packages ({cache})")
    parser.add_argument("--results", type=Path, help="write what each suite has done to this file, as JSON")
    is_asked = os.environ.get("UPDATE_EXPECT") == "1"
    told = "write what clients do to the documentation"
    parser.add_argument("--write-table", action="store_true", default=is_asked, help=told)
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of {', '.join(SUITES)}; all if none")
    arguments = parser.parse_args()
    common.refuse_wrong(parser, "suite", arguments.suites, SUITES, arguments.baton)
    return arguments


def main() -> int:
    arguments = _arguments()
    # Leaving by an exception ends the server and the suite too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    total, results = Outcome(), {}
    for name in arguments.suites or SUITES:
        start = time.monotonic()
        try:
            suite = SUITES[name](arguments.cache.resolve(), arguments.baton.resolve())
            outcome, done_by_clients = run_suite(suite, arguments.baton.resolve(), _environment(), arguments.partitions)
        except Skipped as reason:
            results[name] = {"skipped": str(reason)}
            print(f"{name}: skipped: {reason}", flush=True)
            continue
        if done_by_clients and outcome.failed == 0:
            if arguments.write_table:
                exercised.record(name, done_by_clients, list(SUITES))
            # Seeds of several partitions have no backups to ask for.
            if arguments.partitions == 1:
                for difference in exercised.differences(name, done_by_clients):
                    outcome.add_problem(difference)
        for line in outcome.closing:
            print(line)
        for problem in outcome.problems:
            print(f"{name}: {problem}")
        counts = f"{outcome.passed} passed, {outcome.failed} failed"
        print(f"{name}: {counts} in {time.monotonic() - start:.1f} s", flush=True)
        results[name] = {"passed": outcome.passed, "failed": outcome.failed, "clients": done_by_clients}
        total.passed += outcome.passed
        total.failed += outcome.failed
    for problem in exercised.stale():
        print(problem)
        total.failed += 1
    if arguments.results:
        arguments.results.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    is_all_skipped = all("skipped" in result for result in results.values())
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not (total.passed or is_all_skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
