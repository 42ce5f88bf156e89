"""A pyzeebe worker that only streams: what the credit of its stream does for it (docs/decisions/0010-stream-credit.md).

The load and what a worker can do are as in docs/attacks.md, in a short size; the figures are printed with -s.
"""

import asyncio
import contextlib
import json
import signal
import sys
import time
from pathlib import Path

from pyzeebe import ZeebeClient, create_insecure_channel

from server import Model, grpc_address, model

FIRST_CREDIT = 32
"""The setting jobs.first_stream_credit, which the server of the suites leaves as it is."""

TEST_TIMEOUT_S = 60
WORKER = Path(__file__).with_name("stream_worker.py")


class Worker:
    """The worker's process and the counts that it told last."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.counts: dict = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, m: Model, **knobs: int) -> "Worker":
        arguments = {"address": grpc_address(), "type": m.id, **knobs}
        command = [sys.executable, "-B", str(WORKER), *(f"{name}={value}" for name, value in arguments.items())]
        return cls(await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE))

    async def _read(self) -> None:
        while line := await self._process.stdout.readline():
            self.counts = json.loads(line)

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._reading
        await self._process.wait()


class Load:
    """Creates instances at a steady rate until it is told to end."""

    def __init__(self, client: ZeebeClient, m: Model, per_second: int) -> None:
        self.created = 0
        self._going = asyncio.create_task(self._go(client, m, per_second))
        self._creating: list[asyncio.Task] = []

    async def _go(self, client: ZeebeClient, m: Model, per_second: int) -> None:
        start = time.monotonic()
        while True:
            self._creating.append(asyncio.create_task(self._create(client, m)))
            due = start + len(self._creating) / per_second
            await asyncio.sleep(max(0, due - time.monotonic()))

    async def _create(self, client: ZeebeClient, m: Model) -> None:
        await client.run_process(m.id)
        self.created += 1

    async def end(self) -> None:
        self._going.cancel()
        await asyncio.gather(self._going, return_exceptions=True)
        await asyncio.gather(*self._creating)


async def until(what: str, condition, seconds: float) -> float:
    """How long it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() < start + seconds, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.05)
    return time.monotonic() - start


def run(test, per_second: int, **knobs: int) -> None:
    async def scene():
        channel = create_insecure_channel(grpc_address=grpc_address())
        client = ZeebeClient(channel)
        m = model("task")
        await client.deploy_resource(m.path)
        worker = await Worker.start(m, **knobs)
        try:
            await until("the worker runs", lambda: worker.counts, 15)
            load = Load(client, m, per_second)
            await test(worker, load)
            await load.end()
        finally:
            await worker.end()
            await channel.close()

    asyncio.run(asyncio.wait_for(scene(), TEST_TIMEOUT_S))


def test_goes_on_at_its_old_pace_after_it_was_stopped():
    per_second, freeze_s = 40, 3

    async def test(worker, load):
        await until("the worker is warm", lambda: worker.counts["done"] >= 2 * per_second, 10)
        worker.pause()
        await asyncio.sleep(freeze_s)
        worker.go_on()

        def lag() -> int:
            return load.created - worker.counts["done"]

        assert lag() >= per_second * freeze_s / 2, "it was not stopped"
        # What it cannot have worked off by then, were half of its work in vain.
        caught_up = await until("it has caught up", lambda: lag() <= FIRST_CREDIT, 8)
        before, start = worker.counts["done"], time.monotonic()
        await asyncio.sleep(3)
        pace = (worker.counts["done"] - before) / (time.monotonic() - start)
        await load.end()
        await until("every job is done", lambda: lag() == 0, 8)
        print({**worker.counts, "created": load.created, "caught_up_s": caught_up, "pace": pace})
        assert pace >= 0.8 * per_second
        assert worker.counts["refused"] <= FIRST_CREDIT
        # One growth is tried before it is judged.
        assert worker.counts["held_max"] <= 1.5 * FIRST_CREDIT

    # At the most 80 jobs/s.
    run(test, per_second, places=8, work_ms=100, timeout_ms=2_000)


def test_holds_no_more_slow_jobs_than_its_credit():
    async def test(worker, load):
        # Fewer jobs than a window of the credit has, so that it stays what it is at first.
        await until("jobs end", lambda: worker.counts["done"] >= 2 * FIRST_CREDIT, 15)
        print({**worker.counts, "created": load.created})
        assert load.created >= 4 * FIRST_CREDIT, "the load leaves the credit unused"
        assert worker.counts["held_max"] == FIRST_CREDIT
        assert worker.counts["refused"] == 0

    # At the most 8 jobs/s.
    run(test, 30, places=8, work_ms=1_000, timeout_ms=60_000)
