"""Fixtures of all tests."""

import pytest
from camunda_orchestration_sdk import CamundaClient

from rest import TIMEOUT, configuration


@pytest.fixture
def client():
    with CamundaClient(configuration=configuration(), timeout=TIMEOUT) as client:
        yield client
