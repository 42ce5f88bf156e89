"""Fixtures of all tests: a server that speaks HTTP, and the keys of what the runner has put into it."""

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "python")]
from seeds import Plain


@pytest.fixture(scope="session")
def plain() -> Plain:
    return Plain(os.environ["BATON_REST_ADDRESS"])


@pytest.fixture(scope="session")
def keys() -> dict[str, str]:
    return json.loads(os.environ["BATON_SEEDED"])
