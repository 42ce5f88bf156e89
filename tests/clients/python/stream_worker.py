"""A worker that only streams, as a process of its own that a test can freeze.

Takes name=value arguments and tells its counts ten times a second, until it is killed. It takes whatever the stream
brings, as the clients' own workers do, and works at so many jobs at once as it has places.
"""

import asyncio
import json
import sys

from pyzeebe import ZeebeClient, create_insecure_channel
from pyzeebe.errors import JobAlreadyDeactivatedError, JobNotFoundError

TELL_EVERY_S = 0.1
STREAM_TIMEOUT_S = 60


async def work(client: ZeebeClient, waiting: asyncio.Queue, work_s: float, counts: dict) -> None:
    while True:
        key = await waiting.get()
        await asyncio.sleep(work_s)
        # Held no longer from here on: the server may learn of the end, and send another, before the answer is here.
        counts["held"] -= 1
        try:
            await client.zeebe_adapter.complete_job(key, {})
            counts["done"] += 1
        except (JobNotFoundError, JobAlreadyDeactivatedError):
            counts["refused"] += 1


async def listen(client: ZeebeClient, knobs: dict, waiting: asyncio.Queue, counts: dict) -> None:
    jobs = client.zeebe_adapter.stream_activate_jobs(
        task_type=knobs["type"],
        worker="only-streams",
        timeout=int(knobs["timeout_ms"]),
        variables_to_fetch=[],
        stream_request_timeout=STREAM_TIMEOUT_S,
    )
    async for job in jobs:
        counts["received"] += 1
        counts["held"] += 1
        counts["held_max"] = max(counts["held_max"], counts["held"])
        waiting.put_nowait(job.key)


async def tell(counts: dict) -> None:
    while True:
        print(json.dumps(counts), flush=True)
        await asyncio.sleep(TELL_EVERY_S)


async def main(knobs: dict) -> None:
    client = ZeebeClient(create_insecure_channel(grpc_address=knobs["address"]))
    counts = dict.fromkeys(("received", "held", "held_max", "done", "refused"), 0)
    waiting: asyncio.Queue = asyncio.Queue()
    places = [work(client, waiting, int(knobs["work_ms"]) / 1000, counts) for _ in range(int(knobs["places"]))]
    # The first that fails ends all, which the test sees.
    await asyncio.gather(listen(client, knobs, waiting, counts), tell(counts), *places)


if __name__ == "__main__":
    asyncio.run(main(dict(argument.split("=", 1) for argument in sys.argv[1:])))
