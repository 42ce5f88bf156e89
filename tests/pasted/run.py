#!/usr/bin/env python3
"""Pastes every command of the documents, one after the other as a reader would, and compares what they print with what the documents show.

    tests/pasted/run.py --baton target/debug/baton [README.md] [docs/history.md]

Each document has a fresh folder that looks like a clone, a shell, and ports of its own. Blocks of `sh` are run; a block of `text` right behind shows
what they print. Blocks of `yaml` are checked as settings, or as identities. A command that is neither run nor listed in rules.py with its reason
is a failure, and so is an entry there that nothing matches.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import blocks
import common
import output
import rules
import shell
from blocks import Block

ROOT = Path(__file__).resolve().parent.parent.parent


def documents() -> list[str]:
    found = [ROOT / "README.md", ROOT / "deploy" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [str(path.relative_to(ROOT)) for path in found]


class Run:
    """The blocks of one document."""

    def __init__(self, document: str, program: Path, used: set[rules.Left]) -> None:
        self.document = document
        self.passed = 0
        self.left_out = 0
        self._program = program
        self._used = used
        found, self.problems = blocks.find(ROOT, document)
        self._blocks = found

    def go(self) -> None:
        with shell.folder() as folder:
            reader = None
            try:
                for block in self._blocks:
                    if block.language in blocks.COMMANDS and reader is None:
                        reader = shell.Reader(self._program, ROOT, Path(folder))
                        for command in rules.PREPARED.get(self.document, ()):
                            reader.paste(command)
                    self._block(block, reader, Path(folder))
                if reader is not None:
                    reader.stop_servers()
            except (shell.Failure, ValueError) as failure:
                self.problems.append(str(failure))
            finally:
                if reader is not None:
                    reader.close()

    def _block(self, block: Block, reader: shell.Reader | None, folder: Path) -> None:
        try:
            if block.language in blocks.COMMANDS:
                self._commands(block, reader)
            elif block.language == "yaml":
                self._settings(block, folder)
            elif block.language in rules.OTHER_LANGUAGES:
                self.left_out += 1
            elif block.language:
                raise shell.Failure(f"nothing is known of blocks of {block.language}: see tests/pasted/rules.py")
        except shell.Failure as failure:
            self.problems.append(f"{block.place}: {failure}")

    def _commands(self, block: Block, reader: shell.Reader) -> None:
        printed = ""
        for command in blocks.commands(block):
            if self._is_left_out(command):
                continue
            printed += reader.paste(command)
            self.passed += 1
        if refused := output.refusal(printed):
            raise shell.Failure(refused)
        if block.shown is not None:
            if different := output.difference(block.shown.text, printed):
                raise shell.Failure(different)
            self.passed += 1

    def _is_left_out(self, command: str) -> bool:
        for left in rules.NOT_RUN:
            if left.document == self.document and command.startswith(left.begins):
                self._used.add(left)
                self.left_out += 1
                return True
        return False

    def _settings(self, block: Block, folder: Path) -> None:
        file = folder / f"{block.line}.yaml"
        file.write_text(block.text)
        reader = shell.Reader(self._program, ROOT, folder / f"{block.line}")
        try:
            if block.text.startswith(rules.IDENTITIES):
                given = f"--set security.authentication.method=basic --set security.initialization={file}"
                reader.paste(f"baton start --data-dir data {given}")
                reader.stop_servers()
            else:
                reader.paste(f"env -u BATON_REST_LISTEN baton config --check {file}")
        finally:
            reader.close()
        self.passed += 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baton", type=Path, required=True, help="the program")
    parser.add_argument("documents", nargs="*", metavar="document", help="from the root of the repository; all if none")
    arguments = parser.parse_args()
    common.refuse_wrong(parser, "document", arguments.documents, documents(), arguments.baton)
    return arguments


def main() -> int:
    arguments = _arguments()
    # Leaving by an exception ends servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    used: set[rules.Left] = set()
    passed = failed = left_out = 0
    for document in arguments.documents or documents():
        run = Run(document, arguments.baton.resolve(), used)
        run.go()
        for problem in run.problems:
            print(problem)
        passed, failed, left_out = passed + run.passed, failed + len(run.problems), left_out + run.left_out
    if not arguments.documents:
        for left in set(rules.NOT_RUN) - used:
            print(f"{left.document} has no command that begins with {left.begins!r}: remove it from tests/pasted/rules.py")
            failed += 1
    counts = f"{passed} passed, {failed} failed"
    print(f"pasted: {counts} in {time.monotonic() - start:.1f} s; {left_out} not run, for reasons in tests/pasted/rules.py")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
