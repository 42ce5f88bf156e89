#!/usr/bin/env python3
"""Makes packages that carry the program: a .deb, a wheel for PyPI, an npm package.

    deploy/packages/make.py --baton target/dist/baton --out target/packages

They are for the system and the processor that the program was built for. Needed: strip and objdump, dpkg-deb; npm packages are
written as what `npm pack` writes, a tar file below `package/`.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import json
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUMMARY = "A process orchestration engine that speaks the Camunda 8 API"
LICENCE = "Apache-2.0"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
NODE = {"x86_64": "x64", "aarch64": "arm64"}

CONTROL = """Package: baton
Version: {version}
Architecture: {architecture}
Maintainer: The Baton authors <baton@localhost>
Depends: libc6 (>= {libc}), libgcc-s1, adduser
Section: net
Priority: optional
Description: {summary}
 People draw a business process in BPMN 2.0, and Baton runs every instance of
 it durably, in one program.
"""
POSTINST = """#!/bin/sh
set -e
if [ "$1" = configure ]; then
    getent passwd baton >/dev/null || adduser --system --group --quiet --home /var/lib/baton --no-create-home baton
    install -d -o baton -g baton -m 0700 /var/lib/baton
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
        # An update goes on with the new program; the first start is the administrator's.
        systemctl try-restart baton.service
    fi
fi
"""
PRERM = """#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --no-reload disable --now baton.service
fi
"""
LAUNCHER_PYTHON = '''"""Runs the program that this package carries."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "baton")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
'''


def version() -> str:
    return re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def glibc(program: Path) -> tuple[int, int]:
    """The oldest version of the system's libc that has what the program takes of it."""
    symbols = subprocess.run(["objdump", "-T", str(program)], check=True, capture_output=True, text=True).stdout
    return max((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols))


def deb(program: Path, out: Path) -> Path:
    architecture = DEBIAN[platform.machine()]
    file = out / f"baton_{version()}_{architecture}.deb"
    with tempfile.TemporaryDirectory(dir=out) as folder:
        root = Path(folder)
        root.chmod(0o755)
        for source, place, mode in (
            (program, "usr/bin/baton", 0o755),
            (HERE / "baton.service", "lib/systemd/system/baton.service", 0o644),
            (HERE / "baton.yaml", "etc/baton/baton.yaml", 0o644),
            (ROOT / "README.md", "usr/share/doc/baton/README.md", 0o644),
            (ROOT / "LICENSE", "usr/share/doc/baton/copyright", 0o644),
        ):
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, root / place)
            (root / place).chmod(mode)
        control = root / "DEBIAN"
        control.mkdir()
        libc = ".".join(map(str, glibc(program)))
        (control / "control").write_text(
            CONTROL.format(version=version(), architecture=architecture, libc=libc, summary=SUMMARY)
        )
        (control / "conffiles").write_text("/etc/baton/baton.yaml\n")
        for name, text in (("postinst", POSTINST), ("prerm", PRERM)):
            (control / name).write_text(text)
            (control / name).chmod(0o755)
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", str(root), str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return file


def wheel(program: Path, out: Path) -> Path:
    major, minor = glibc(program)
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    file = out / f"baton_engine-{version()}-{tag}.whl"
    info = f"baton_engine-{version()}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: baton-engine\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: {LICENCE}\nRequires-Python: >=3.8\n"
    members = {
        "baton_engine/__init__.py": b"",
        "baton_engine/__main__.py": LAUNCHER_PYTHON.encode(),
        "baton_engine/bin/baton": program.read_bytes(),
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: baton\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        f"{info}/entry_points.txt": b"[console_scripts]\nbaton = baton_engine.__main__:main\n",
        f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow((name, f"sha256={digest}", len(content)))
    rows.writerow((f"{info}/RECORD", "", ""))
    members[f"{info}/RECORD"] = record.getvalue().encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if name.endswith("bin/baton") else 0o100644) << 16
            archive.writestr(member, content)
    return file


def npm(program: Path, out: Path) -> Path:
    file = out / f"baton-engine-{version()}.tgz"
    description = {
        "name": "baton-engine",
        "version": version(),
        "description": SUMMARY,
        "license": LICENCE,
        "os": ["linux"],
        "cpu": [NODE[platform.machine()]],
        "libc": ["glibc"],
        "bin": {"baton": "bin/baton"},
    }
    members = {
        "package.json": (json.dumps(description, indent=2).encode(), 0o644),
        "bin/baton": (program.read_bytes(), 0o755),
        "LICENSE": ((ROOT / "LICENSE").read_bytes(), 0o644),
        "README.md": ((ROOT / "README.md").read_bytes(), 0o644),
    }
    with tarfile.open(file, "w:gz", compresslevel=6) as archive:
        for name, (content, mode) in members.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode = len(content), mode
            archive.addfile(member, io.BytesIO(content))
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", type=Path, required=True, help="the program, stripped here")
    parser.add_argument("--out", type=Path, required=True, help="where the packages go")
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help=f"of {', '.join(KINDS)}; all if none")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        program = Path(folder) / "baton"
        # Names of functions stay, for CPU profiles.
        subprocess.run(["strip", "--strip-debug", "-o", str(program), str(arguments.baton)], check=True)
        for kind in arguments.kinds or KINDS:
            file = KINDS[kind](program, arguments.out)
            print(f"{file} {file.stat().st_size / 1e6:.1f} MB")


KINDS = {"deb": deb, "wheel": wheel, "npm": npm}

if __name__ == "__main__":
    main()
