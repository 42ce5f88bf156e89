"""Finds the blocks of code of a document, and the commands in them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMANDS = ("sh", "bash", "console")
"""Languages of blocks that a reader pastes."""
SHOWN = "text"
"""The language of a block that shows what the commands before it print."""

_FENCE = re.compile(r"^( *)(```+)(\S*)\s*$")
_ITEM = re.compile(r"^ *([-*]|\d+\.) ")


@dataclass
class Block:
    document: str
    line: int
    language: str
    text: str
    after: int = 0
    """The line that follows the block."""
    shown: Block | None = None
    """What it prints, if the document shows that."""

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


def find(root: Path, document: str) -> tuple[list[Block], list[str]]:
    """The blocks of a document in their order, and what is wrong with them."""
    blocks: list[Block] = []
    problems: list[str] = []
    lines = (root / document).read_text("utf-8").split("\n")
    at = 0
    in_list = False
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.match(line):
            indent, marks, language = fence.groups()
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == marks), len(lines))
            body = [text.removeprefix(indent) for text in lines[at + 1 : end]]
            blocks.append(Block(document, at + 1, language, "\n".join(body) + "\n", end + 1))
            if not language:
                problems.append(f"{document}:{at + 1}: the block names no language")
            at = end + 1
            continue
        if line.strip():
            in_list = bool(_ITEM.match(line)) or (in_list and line.startswith(" "))
        if line.startswith("    ") and not in_list and (at == 0 or not lines[at - 1].strip()):
            problems.append(f"{document}:{at + 1}: an indented block is found by no test; fence it and name its language")
        at += 1
    return _with_outputs(blocks, lines, problems), problems


def _with_outputs(blocks: list[Block], lines: list[str], problems: list[str]) -> list[Block]:
    """Gives blocks of commands the output that stands right behind them."""
    others: list[Block] = []
    for block in blocks:
        if block.language != SHOWN:
            others.append(block)
            continue
        before = others[-1] if others else None
        if before and before.language in COMMANDS and not "".join(lines[before.after : block.line - 1]).strip():
            before.shown = block
        else:
            problems.append(f"{block.place}: output stands behind no block of commands")
    return others


def commands(block: Block) -> list[str]:
    """What a reader pastes, one command each: lines are joined until the shell takes them as whole."""
    found: list[str] = []
    gathered = ""
    for line in block.text.splitlines():
        if not gathered and (not line.strip() or line.lstrip().startswith("#")):
            continue
        gathered += line.removeprefix("$ ") + "\n" if block.language == "console" else line + "\n"
        if line.endswith("\\"):
            continue
        if subprocess.run(["bash", "-n"], input=gathered, text=True, capture_output=True).returncode == 0:
            found.append(gathered)
            gathered = ""
    if gathered:
        raise ValueError(f"{block.place}: the shell does not take this as whole: {gathered!r}")
    return found
