"""Parts that the runners of tests share."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
from pathlib import Path


def free_ports(count: int) -> list[int]:
    """Ports of this machine that are free now, each another."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def refuse_wrong(parser: argparse.ArgumentParser, kind: str, asked: list[str], known, program: Path) -> None:
    """Ends the program if a name is unknown, or the server is no executable file."""
    unknown = set(asked) - set(known)
    if unknown:
        parser.error(f"no such {kind}: {', '.join(sorted(unknown))}")
    if not os.access(program, os.X_OK):
        parser.error(f"{program} is no executable file")
