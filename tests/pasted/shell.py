"""The shells of a reader: one for commands, one for each server, all in a folder that looks like a fresh clone with everything built."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import common

COMMAND_TIMEOUT_S = 60
READY_TIMEOUT_S = 30
STOP_TIMEOUT_S = 15
POLL_S = 0.02

CUSTOMARY = {"rest": 8080, "grpc": 26500, "management": 9600}
CLONED = ("Makefile", "crates", "deploy", "docs", "scripts", "tests")
PROFILES = ("demo", "release", "debug")
"""Folders of the target folder in which commands look for the program."""

# The demonstration in a size that fits.
DEMO = "--rate 20 --duration 1s --warm-up 500ms"
_STARTS = re.compile(r"^\S*baton start\b")


class Failure(Exception):
    """A command that did not do what a reader expects; its text is for the user."""


@dataclass
class Terminal:
    process: subprocess.Popen
    printed: Path


class Reader:
    """Somebody who pastes what a document shows."""

    def __init__(self, program: Path, root: Path, folder: Path) -> None:
        # Paths with a blank are common, and work.
        self.folder = folder / "a clone"
        self.folder.mkdir(parents=True)
        for name in CLONED:
            (self.folder / name).symlink_to(root / name)
        for profile in PROFILES:
            (self.folder / "target" / profile).mkdir(parents=True)
            (self.folder / "target" / profile / "baton").symlink_to(program)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "baton").symlink_to(program)
        # What cargo would build is there.
        (tools / "cargo").write_text("#!/bin/sh\n")
        (tools / "cargo").chmod(0o755)
        self._ports = dict(zip(CUSTOMARY, common.free_ports(len(CUSTOMARY)), strict=True))
        self._env = self._environment(tools)
        self._scratch = folder
        self._count = 0
        self._servers: list[Terminal] = []
        self._shell = subprocess.Popen(
            ["bash"], cwd=self.folder, env=self._env, stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def _environment(self, tools: Path) -> dict[str, str]:
        """The reader's own, with the ports of this run, and without what would change what is built."""
        strange = ("BATON_", "CARGO", "MAKE", "MFLAGS")
        env = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
        env |= {f"BATON_{name.upper()}_LISTEN": f"127.0.0.1:{port}" for name, port in self._ports.items()}
        env |= {f"BATON_{name.upper()}_ADDRESS": f"http://localhost:{port}" for name, port in self._ports.items()}
        env |= {"PATH": f"{tools}:{env['PATH']}", "CARGO": str(tools / "cargo"), "ARGS": DEMO, "TMPDIR": str(tools.parent)}
        env["XDG_CONFIG_HOME"] = str(tools.parent / "config")
        for name in ("no_proxy", "NO_PROXY"):
            env[name] = "127.0.0.1,localhost"
        return env

    def paste(self, command: str) -> str:
        """Runs a command and returns what it printed. A server goes into a terminal of its own, once it is ready."""
        command = self._with_own_ports(command)
        printed = self._start(command) if _STARTS.match(command) else self._run(command)
        return self._with_customary_ports(printed)

    def _run(self, command: str) -> str:
        self._count += 1
        printed, code = (self._scratch / f"{self._count}.{kind}" for kind in ("printed", "code"))
        # Braces, not parentheses: what a command sets is there for the next one.
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null >'{printed}' 2>&1; echo $? >'{code}.new'; mv '{code}.new' '{code}'\n")
        self._shell.stdin.flush()
        _wait(lambda: code.exists() or self._shell.poll() is not None, COMMAND_TIMEOUT_S, command)
        said = printed.read_text("utf-8", errors="replace") if printed.exists() else ""
        if not code.exists():
            raise Failure(f"the shell ended with {command!r}:\n{said}")
        if (ended := code.read_text().strip()) != "0":
            raise Failure(f"{command.strip()!r} ended with code {ended}:\n{said}")
        return said

    def _start(self, command: str) -> str:
        """A reader ends the server that runs before starting another one at the same ports."""
        self.stop_servers()
        self._count += 1
        printed = self._scratch / f"{self._count}.printed"
        log = self._scratch / f"{self._count}.log"
        with printed.open("w") as out, log.open("w") as err:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"],
                cwd=self.folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._servers.append(Terminal(process, printed))
        _wait(lambda: "\n" in printed.read_text() or process.poll() is not None, READY_TIMEOUT_S, command)
        if process.poll() is not None:
            raise Failure(f"{command.strip()!r} ended with code {process.returncode}:\n{log.read_text()}")
        return printed.read_text()

    def _with_own_ports(self, command: str) -> str:
        for name, port in CUSTOMARY.items():
            command = re.sub(rf"\b(localhost|127\.0\.0\.1):{port}\b", rf"\1:{self._ports[name]}", command)
        return command

    def _with_customary_ports(self, printed: str) -> str:
        for name, port in self._ports.items():
            printed = re.sub(rf":{port}\b", f":{CUSTOMARY[name]}", printed)
        return printed

    def stop_servers(self) -> None:
        while self._servers:
            process = self._servers.pop().process
            process.terminate()
            try:
                code = process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Failure(f"the server did not stop in {STOP_TIMEOUT_S} s") from None
            if code != 0:
                raise Failure(f"the server stopped with code {code}")

    def close(self) -> None:
        with contextlib.suppress(Failure):
            self.stop_servers()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()


def _wait(until, timeout_s: float, command: str) -> None:
    end = time.monotonic() + timeout_s
    while not until():
        if time.monotonic() > end:
            raise Failure(f"{command.strip()!r} was not done after {timeout_s} s")
        time.sleep(POLL_S)


def folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="baton-pasted-")
