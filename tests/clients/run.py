#!/usr/bin/env python3
"""Runs the official clients' end-to-end suites against a Baton server.

    tests/clients/run.py --baton target/release/baton [java] [node] [python] [workers]

Each suite gets servers of its own with empty data directories: one for everybody, and two that ask
for credentials (guarded.py). Packages come through mvn, npm
and pip once and are kept under --cache, so later runs work offline. A suite fails when a test
fails, when it runs no test, when it takes too long, or when the server logged a warning or error
that EXPECTED_LOG_LINES does not announce, or did not stop cleanly.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import guarded

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import common

HERE = Path(__file__).resolve().parent
READY_TIMEOUT_S = 30
STOP_TIMEOUT_S = 15
START_ATTEMPTS_MAX = 3
INSTALL_TIMEOUT_S = 900
SUITE_TIMEOUT_S = 420
EXPERIMENTS_TIMEOUT_S = 1800
TAIL_LINES_MAX = 120

OPEN_SETTINGS: tuple[str, ...] = ("--set", "limits.max_variable_bytes=1MiB")
"""Of the server for everybody: a variable can be too large where its request is not."""

EXPECTED_LOG_LINES: tuple[str, ...] = ()
"""Patterns of warnings and errors that the suites provoke on purpose."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TROUBLE = re.compile(r"\b(WARN|ERROR)\b|panicked at")


class Failure(Exception):
    """What the runner itself could not do; its text is for the user."""


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    closing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_problem(self, text: str) -> None:
        self.failed += 1
        self.problems.append(text)


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
        self.rest = self.grpc = self._management = ""

    def start(self) -> None:
        for attempt in range(1, START_ATTEMPTS_MAX + 1):
            self.rest, self.grpc, self._management = (f"127.0.0.1:{p}" for p in common.free_ports(3))
            with self._log_path.open("w") as log:
                self._process = subprocess.Popen(
                    [
                        str(self._binary),
                        "start",
                        "--data-dir",
                        str(self._scratch / "data"),
                        *("--rest", self.rest),
                        *("--grpc", self.grpc),
                        *("--management", self._management),
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
                raise Failure(f"the server did not become ready:\n{_tail(self._log())}")
            self.kill()

    def _wait_until_ready(self) -> bool:
        end = time.monotonic() + READY_TIMEOUT_S
        url = f"http://{self._management}/actuator/health/readiness"
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
            outcome.add_problem(f"the server ended by itself with code {code}:\n{_tail(self._log())}")
        else:
            self._process.terminate()
            try:
                code = self._process.wait(STOP_TIMEOUT_S)
                if code != 0:
                    outcome.add_problem(f"the server stopped with code {code}:\n{_tail(self._log())}")
            except subprocess.TimeoutExpired:
                outcome.add_problem(f"the server did not stop in {STOP_TIMEOUT_S} s")
        self.kill()
        lines = unexpected_lines(self._log())
        if lines:
            outcome.add_problem("unannounced server log lines:\n" + _tail("\n".join(lines)))

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _log(self) -> str:
        return self._log_path.read_text("utf-8", errors="replace")


def unexpected_lines(log: str) -> list[str]:
    """The warnings and errors of a log, text or JSON, that nobody announced."""
    lines = (_COLOUR.sub("", line) for line in log.splitlines())
    return [
        line
        for line in lines
        if _TROUBLE.search(line) and not any(re.search(p, line) for p in EXPECTED_LOG_LINES)
    ]


# --- running commands ---


@dataclass
class Finished:
    code: int
    output: str
    timed_out: bool


def run(command: list[str], *, cwd: Path, env: dict[str, str], timeout_s: int) -> Finished:
    """Runs a command in a process group of its own, which ends with it or with its time."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        timed_out = False
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            timed_out, code = True, -1
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return Finished(code, output.read(), timed_out)


def install(what: str, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
    print(f"{what}: installing packages", flush=True)
    done = run(command, cwd=cwd, env=env, timeout_s=INSTALL_TIMEOUT_S)
    if done.code != 0:
        raise Failure(f"{what}: {' '.join(command)} failed:\n{_tail(done.output)}")


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Failure(f"{name} is needed for this suite and was not found")
    return path


# --- the suites ---


class Suite:
    """How one language's packages are installed, its tests run and its results read."""

    name = ""
    folder = ""
    """Where its files are, if not in a folder of its name."""
    timeout_s = SUITE_TIMEOUT_S
    tls = False
    """Whether the server that takes tokens speaks TLS."""
    inputs: tuple[str, ...] = ()
    """Files that decide what is installed; a change makes a new cache entry."""

    def __init__(self, cache: Path) -> None:
        self.source = HERE / (self.folder or self.name)
        digest = hashlib.sha256()
        for file in self.inputs:
            digest.update((self.source / file).read_bytes())
        self.home = cache / f"{self.name}-{digest.hexdigest()[:16]}"
        self.stamp = self.home / "installed"

    def prepare(self, env: dict[str, str]) -> None:
        if self.stamp.exists():
            return
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.install(env)
        self.stamp.touch()

    def install(self, env: dict[str, str]) -> None:
        raise NotImplementedError

    def run(self, env: dict[str, str]) -> Finished:
        command, cwd = self.command()
        return run(command, cwd=cwd, env=env, timeout_s=self.timeout_s)

    def command(self) -> tuple[list[str], Path]:
        raise NotImplementedError

    def read(self, done: Finished, outcome: Outcome) -> None:
        raise NotImplementedError

    def lacks_packages(self, done: Finished) -> bool:
        """Whether the run failed only because installed packages were removed since."""
        return False


class Java(Suite):
    name = "java"
    inputs = ("pom.xml",)

    def _maven(self, *goals: str) -> list[str]:
        return [
            tool("mvn"),
            "--batch-mode",
            "--no-transfer-progress",
            "-Dstyle.color=never",
            f"-Doutput.directory={self.home / 'target'}",
            *goals,
        ]

    def install(self, env: dict[str, str]) -> None:
        # Maven fetches what running tests takes only when it runs one; this needs no server.
        install(self.name, self._maven("test", "-Dtest=ModelTest"), cwd=self.source, env=env)

    def command(self) -> tuple[list[str], Path]:
        shutil.rmtree(self.home / "target", ignore_errors=True)
        return self._maven("--offline", "test"), self.source

    def lacks_packages(self, done: Finished) -> bool:
        return done.code != 0 and "offline mode" in done.output

    def read(self, done: Finished, outcome: Outcome) -> None:
        for report in (self.home / "target" / "surefire-reports").glob("TEST-*.xml"):
            suite = xml.etree.ElementTree.parse(report).getroot()
            tests, skipped = int(suite.get("tests")), int(suite.get("skipped"))
            failed = int(suite.get("failures")) + int(suite.get("errors"))
            outcome.passed += tests - failed - skipped
            outcome.failed += failed
        totals = re.findall(r"^.*Tests run: \d+, Failures: .*$", done.output, re.MULTILINE)
        outcome.closing = totals[-1:]


class Node(Suite):
    name = "node"
    inputs = ("package.json", "package-lock.json")

    def install(self, env: dict[str, str]) -> None:
        for file in self.inputs:
            shutil.copy(self.source / file, self.home)
        command = [tool("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        install(self.name, command, cwd=self.home, env=env)

    def command(self) -> tuple[list[str], Path]:
        # Modules are looked up from a test's own folder, so the tests go beside them.
        for file in self.source.glob("*.js"):
            shutil.copy(file, self.home)
        tests = sorted(file.name for file in self.source.glob("*.test.js"))
        reporter = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
        return [tool("node"), "--test", "--test-concurrency=1", *reporter, *tests], self.home

    def read(self, done: Finished, outcome: Outcome) -> None:
        text = _COLOUR.sub("", done.output)
        closing = dict(re.findall(r"^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$", text, re.MULTILINE))
        outcome.passed += int(closing.get("pass", 0))
        outcome.failed += int(closing.get("fail", 0)) + int(closing.get("cancelled", 0))
        outcome.closing = [f"ℹ {name} {count}" for name, count in closing.items()]


class Python(Suite):
    name = "python"
    # Without it gRPC's own library sends no credentials.
    tls = True
    inputs = ("requirements.txt",)

    def _python(self) -> str:
        return str(self.home / "venv" / "bin" / "python")

    def install(self, env: dict[str, str]) -> None:
        venv = [sys.executable, "-m", "venv", str(self.home / "venv")]
        install(self.name, venv, cwd=self.source, env=env)
        pip = [self._python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install(self.name, [*pip, "-r", "requirements.txt"], cwd=self.source, env=env)

    def command(self) -> tuple[list[str], Path]:
        options = ["-q", "-p", "no:cacheprovider", "--color=no", "--tb=short"]
        return [self._python(), "-B", "-m", "pytest", *options], self.source

    def read(self, done: Finished, outcome: Outcome) -> None:
        lines = [line for line in done.output.splitlines() if re.search(r" in [\d.]+s", line)]
        outcome.closing = lines[-1:]
        counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", " ".join(lines[-1:]))}
        outcome.passed += counts.get("passed", 0)
        outcome.failed += counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)


class Workers(Java):
    """The experiments with job workers, of crates/baton/tests/workers, with a worker that uses the Java client.

    They start servers of their own. EXPERIMENTS_FULL=1 runs all of them in full size."""

    name = "workers"
    folder = "java"
    timeout_s = EXPERIMENTS_TIMEOUT_S

    def install(self, env: dict[str, str]) -> None:
        install(self.name, self._classes(), cwd=self.source, env=env)

    def _classes(self) -> list[str]:
        classpath = f"-Dmdep.outputFile={self.home / 'classpath'}"
        return self._maven("test-compile", "dependency:build-classpath", classpath, "-Dmdep.includeScope=test")

    def run(self, env: dict[str, str]) -> Finished:
        compiled = run(["mvn", "--offline", *self._classes()[1:]], cwd=self.source, env=env, timeout_s=self.timeout_s)
        if compiled.code != 0:
            return compiled
        classpath = f"{self.home / 'target' / 'test-classes'}:{(self.home / 'classpath').read_text().strip()}"
        java = f"{tool('java')} -Xmx256m -cp {classpath} baton.clients.Worker"
        return super().run({**env, "EXPERIMENTS_JAVA": java})

    def command(self) -> tuple[list[str], Path]:
        # In the short size those in which the client's own doing counts.
        parts = [] if os.environ.get("EXPERIMENTS_FULL") else ["freeze-stream", "second-worker", "polls"]
        cargo = [os.environ.get("CARGO", "cargo"), "test", "--locked", "--workspace", "--test", "workers", "--"]
        return [*cargo, *parts], HERE.parent.parent

    def read(self, done: Finished, outcome: Outcome) -> None:
        outcome.passed += len(re.findall(r"^test .* \.\.\. ok$", done.output, re.MULTILINE))
        outcome.failed += len(re.findall(r"^test .* \.\.\. FAILED$", done.output, re.MULTILINE))
        outcome.closing = re.findall(r"^\|.*\|$", done.output, re.MULTILINE)


SUITES = {suite.name: suite for suite in (Java, Node, Python, Workers)}


def run_suite(suite: Suite, binary: Path, env: dict[str, str]) -> Outcome:
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="baton-clients-") as scratch, contextlib.ExitStack() as stack:
        scratch = Path(scratch)
        issuer = guarded.Issuer(scratch)
        stack.callback(issuer.stop)
        servers = [
            Server(binary, scratch / "open", list(OPEN_SETTINGS)),
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
            addresses = {
                "BATON_REST_ADDRESS": f"http://{servers[0].rest}",
                "BATON_GRPC_ADDRESS": servers[0].grpc,
                **guarded.environment(*servers[1:], issuer, scratch, suite.tls),
                "CAMUNDA_SDK_VALIDATION_CAPTURE_DIR": str(temporary / "captures"),
                "HOME": str(temporary) if suite.name == "node" else env.get("HOME", ""),
                "TMPDIR": str(temporary),
            }
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
                print(_tail(done.output), flush=True)
            for server in servers:
                server.stop(outcome)
        except Failure as failure:
            outcome.add_problem(str(failure))
    return outcome


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-TAIL_LINES_MAX:])


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
    parser.add_argument("--cache", type=Path, default=cache, help=f"installed packages ({cache})")
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of {', '.join(SUITES)}; all if none")
    arguments = parser.parse_args()
    common.refuse_wrong(parser, "suite", arguments.suites, SUITES, arguments.baton)
    return arguments


def main() -> int:
    arguments = _arguments()
    # Leaving by an exception ends the server and the suite too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    total = Outcome()
    for name in arguments.suites or SUITES:
        start = time.monotonic()
        suite = SUITES[name](arguments.cache.resolve())
        outcome = run_suite(suite, arguments.baton.resolve(), _environment())
        for line in outcome.closing:
            print(line)
        for problem in outcome.problems:
            print(f"{name}: {problem}")
        counts = f"{outcome.passed} passed, {outcome.failed} failed"
        print(f"{name}: {counts} in {time.monotonic() - start:.1f} s", flush=True)
        total.passed += outcome.passed
        total.failed += outcome.failed
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
