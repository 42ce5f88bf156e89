#!/usr/bin/env python3
"""Makes the packages of a program, installs each where its tools are there, and starts a server from it.

    tests/packages/run.py --baton target/debug/baton [deb] [wheel] [npm] [image]

What cannot be tried on this machine is told with its reason, as `not run`.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MAKE = ROOT / "deploy" / "packages" / "make.py"
START_TIMEOUT_S = 30
STOP_TIMEOUT_S = 15
TOOL_TIMEOUT_S = 120
EXPOSURE_MAX = 3.0
"""The most that `systemd-analyze security` may say, of 10."""


class NotRun(Exception):
    """A test that this machine has not the tools for; its text is the reason."""


class Failure(Exception):
    """What is wrong with a package."""


def tool(*names: str) -> None:
    for name in names:
        if shutil.which(name) is None:
            raise NotRun(f"{name} is not installed")


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TOOL_TIMEOUT_S,
        env=environment(),
    )
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with code {done.returncode}:\n{done.stdout}")
    return done.stdout


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("BATON_")}


def package(kind: str, program: Path, out: Path) -> Path:
    tool("strip", "objdump", *(["dpkg-deb"] if kind == "deb" else []))
    return Path(run(sys.executable, MAKE, "--baton", program, "--out", out, kind).split(" ")[0])


def starts(command: list[object], folder: Path) -> None:
    """Asserts that an installed program says its version, and serves until it is told to stop."""
    wanted = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    said = run(*command, "--version", cwd=folder).strip()
    if said != f"baton {wanted}":
        raise Failure(f"expected the version {wanted}, but it says {said!r}")
    with _served([*command, "start", "--data-dir", str(folder / "data")], folder) as address:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{address}/v2/topology", timeout=START_TIMEOUT_S) as answer:
            if json.load(answer)["clusterSize"] != 1:
                raise Failure("the topology has no broker")


@contextlib.contextmanager
def _served(command: list[object], folder: Path) -> Iterator[str]:
    """Runs a server at free ports, gives the address of its REST API, and stops it as an operator does."""
    ports = [part for port in ("rest", "grpc", "management") for part in (f"--{port}", "127.0.0.1:0")]
    log = folder / "server.log"
    server = subprocess.Popen(
        [*map(str, command), *ports],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log.open("w"),
        text=True,
        start_new_session=True,
    )
    try:
        ready = server.stdout.readline()
        address = re.search(r"rest=(\S+)", ready)
        if not address:
            raise Failure(f"it was not ready:\n{log.read_text()}")
        yield address[1]
        # npm's launcher and others may stand between: all of them are told, as a terminal does.
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(STOP_TIMEOUT_S)
    finally:
        _end(server)


def _end(server: subprocess.Popen) -> None:
    end = time.monotonic() + STOP_TIMEOUT_S
    while time.monotonic() < end:
        try:
            os.killpg(server.pid, 0)
        except ProcessLookupError:
            return
        server.poll()
        time.sleep(0.02)
    os.killpg(server.pid, signal.SIGKILL)
    raise Failure("the server did not stop")


def _is_confined(unit: Path) -> None:
    said = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
    exposure = re.search(r"exposure level for \S+: ([0-9.]+)", said)
    if not exposure or float(exposure[1]) > EXPOSURE_MAX:
        raise Failure(f"baton.service is exposed to the machine too much:\n{said[-200:]}")


def _asks_for_passwords(root: Path, folder: Path) -> None:
    """Asserts that the settings of the package let nobody in but the administrator whose password is in the file."""
    data = folder / "served"
    settings = ["--config", root / "etc/baton/baton.yaml", "--data-dir", data]
    with _served([root / "usr/bin/baton", "start", *settings], folder) as address:
        if (status := _status(address, None)) != 401:
            raise Failure(f"the service answers {status} to whoever asks")
        file = data / "first-administrator"
        if file.stat().st_mode & 0o077:
            raise Failure("others may read the password of the first administrator")
        if (status := _status(address, ":".join(file.read_text().split()))) != 200:
            raise Failure(f"the service answers {status} to the first administrator")


def _status(address: str, credentials: str | None) -> int:
    asked = urllib.request.Request(f"http://{address}/v2/topology")
    if credentials:
        asked.add_header("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode()}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=START_TIMEOUT_S) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def deb(program: Path, folder: Path) -> None:
    file = package("deb", program, folder)
    root = folder / "root"
    run("dpkg", "-x", file, root)
    run("dpkg", "-e", file, root / "DEBIAN")
    for script in ("postinst", "prerm"):
        run("sh", "-n", root / "DEBIAN" / script)
    starts([root / "usr" / "bin" / "baton"], folder)
    # The service runs as its own user, on the settings that the package brings.
    unit = (root / "lib/systemd/system/baton.service").read_text()
    for line in (
        "User=baton",
        "ExecStart=/usr/bin/baton start --config /etc/baton/baton.yaml",
        "StateDirectory=baton",
        "StateDirectoryMode=0700",
        "UMask=0077",
    ):
        if line not in unit.splitlines():
            raise Failure(f"baton.service lacks {line!r}")
    if shutil.which("systemd-analyze"):
        _is_confined(root / "lib/systemd/system/baton.service")
    _asks_for_passwords(root, folder)
    run(root / "usr/bin/baton", "config", "--check", root / "etc/baton/baton.yaml")
    if "/etc/baton/baton.yaml" not in (root / "DEBIAN/conffiles").read_text():
        raise Failure("an update would replace the administrator's settings")


def wheel(program: Path, folder: Path) -> None:
    file = package("wheel", program, folder)
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/pip", "install", "--no-index", "--disable-pip-version-check", file)
    starts([folder / "venv/bin/baton"], folder)


def npm(program: Path, folder: Path) -> None:
    tool("npm", "npx")
    file = package("npm", program, folder)
    (folder / "package.json").write_text('{"private": true}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", file, cwd=folder)
    # npm may warn of its own settings before.
    if not re.search(r"^baton \d", run("npx", "--no-install", "baton", "--version", cwd=folder), re.MULTILINE):
        raise Failure("npx does not find the program")
    starts([folder / "node_modules/.bin/baton"], folder)


def image(_program: Path, folder: Path) -> None:
    tool("docker")
    if subprocess.run(["docker", "info"], capture_output=True, timeout=TOOL_TIMEOUT_S).returncode != 0:
        raise NotRun("no Docker daemon answers")
    # Building the whole program takes too long here: that its description is right is asked of the builder.
    run("docker", "build", "--check", "-f", ROOT / "deploy/Dockerfile", ROOT)


KINDS = {"deb": deb, "wheel": wheel, "npm": npm, "image": image}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", type=Path, required=True, help="the program, of any profile")
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(KINDS)}; all if none")
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    passed = failed = 0
    for kind in arguments.kinds or KINDS:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="baton-packages-") as folder:
            try:
                KINDS[kind](arguments.baton.resolve(), Path(folder))
                said, passed = "ok", passed + 1
            except NotRun as reason:
                said = f"not run: {reason}"
            except (Failure, OSError, subprocess.TimeoutExpired) as failure:
                said, failed = f"FAILED: {failure}", failed + 1
        print(f"{kind}: {said} ({time.monotonic() - begin:.1f} s)", flush=True)
    print(f"packages: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
