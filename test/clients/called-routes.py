"""Calls every method of both clients, and prints the requests that each sends: {client: [[method, path]]}."""

import asyncio
import inspect
import json

from solution_fleet import Claim, DeadLetters, FleetClient, KnownSolutions
from solution_fleet.aio import AsyncClaim, AsyncDeadLetters, AsyncFleetClient, AsyncKnownSolutions

SUBMITTED = {"id": "j", "kind": "k", "outcome": "created"}
CLAIMED = {"queue": "q", "id": "j", "lease": "l", "name": "n", "data": {}, "attempt": 1, "leaseMs": 60_000}
#: Has every field that an operation reads.
ANSWER = {
    **SUBMITTED, **CLAIMED, "state": "completed", "jobs": [], "disagreements": [], "solutions": [], "added": True, "removed": 1,
    "evaluation": SUBMITTED, "check": SUBMITTED, "extract": SUBMITTED, "summarize": SUBMITTED, "evaluations": [],
}
EVALUATION = {"queue": "q", "name": "n"}
ARGUMENTS = {
    "FleetClient": {
        "submit": lambda kind: ((kind, {}), {}),
        "submit_batch": (([{"kind": "k", "payload": {}}],), {}),
        "refinement_step": ((), {"ablation_code": "", "raw_output": "", "solution": "", "previous_blocks": []}),
        "guarded_evaluation": ((), {"solution": "", "evaluation": EVALUATION}),
        "candidate_batch": ((), {"candidates": [], "evaluation": EVALUATION}),
        "job": (("j",), {}), "jobs": ((), {}), "run": (("r",), {}), "disagreements": ((), {}), "wait": (("j",), {}), "events": (("j",), {}),
        "cancel": (("j",), {}), "retry": (("j",), {}), "claim": (("q",), {}),
        "health": ((), {}), "readiness": ((), {}), "metrics": ((), {}), "openapi": ((), {}),
    },
    "KnownSolutions": {"of": (("t",), {}), "add": (("t", "s"), {}), "remove": (("t",), {})},
    "DeadLetters": {"find": ((), {}), "show": (("j",), {}), "retry": ((), {"run": "r"}), "drop": ((), {"run": "r"})},
    "Claim": {"heartbeat": ((), {}), "complete": ((1,), {}), "fail": (("m",), {})},
}
#: They only call those above.
MADE_OF_OTHERS = {
    "FleetClient": {"evaluate", "rewrite_blocks", "request", "perform"},
    "Claim": {"work", "kept", "give_back", "lease_seconds", "script"},
}
KINDS = json.loads(input())


class Recorder:
    def __init__(self):
        self.requests = []

    def answer(self, request):
        self.requests.append([request.method, request.path.split("?")[0]])
        batch = request.path.endswith(":batch")
        return {**ANSWER, "jobs": [SUBMITTED]} if batch else "" if request.text else ANSWER


def public(cls):
    return {name for name in dir(cls) if not name.startswith("_")}


def parameters(function):
    """Without names, it is one that also takes old names."""
    function = inspect.unwrap(function)
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def calls(parts):
    for cls, methods in ARGUMENTS.items():
        for name, arguments in methods.items():
            for args, options in map(arguments, KINDS) if callable(arguments) else [arguments]:
                if name != "events":
                    yield getattr(parts[cls], name), args, options


def compare(cls, other):
    name = cls.__name__
    assert public(cls) == set(ARGUMENTS[name]) | MADE_OF_OTHERS.get(name, set()), public(cls)
    assert public(other) | {"lease_seconds"} == public(cls) | {"lease_seconds"}, public(cls) ^ public(other)
    for method in public(other):
        one, two = getattr(cls, method), getattr(other, method)
        if callable(one) and method not in ("evaluate", "rewrite_blocks", "kept", "work"):
            assert parameters(one) == parameters(two), method


def main():
    for pair in (
        (FleetClient, AsyncFleetClient), (KnownSolutions, AsyncKnownSolutions), (DeadLetters, AsyncDeadLetters),
        (Claim, AsyncClaim),
    ):
        compare(*pair)
    called = {}
    for client, claim in ((FleetClient, Claim), (AsyncFleetClient, AsyncClaim)):
        recorder = Recorder()
        fleet = client("http://127.0.0.1:1")

        class Transport:
            def send(self, request):
                return recorder.answer(request)

        class AsyncTransport:
            async def send(self, request):
                return recorder.answer(request)

        following = fleet._transport
        fleet._transport = Transport() if client is FleetClient else AsyncTransport()

        async def run():
            parts = {"FleetClient": fleet, "KnownSolutions": fleet.known, "DeadLetters": fleet.dead_letters,
                     "Claim": claim(fleet, CLAIMED)}
            for function, args, options in calls(parts):
                result = function(*args, **options)
                if inspect.isawaitable(result):
                    await result

        asyncio.run(run())
        # Event streams are opened, not sent.
        opened = []

        class Opened(Exception):
            pass

        def open(method, path, *args, **options):
            opened.append([method, path])
            raise Opened

        setattr(following, "open" if client is FleetClient else "_open", open)
        fleet._transport = following
        try:
            events = fleet.events("j")
            next(events) if client is FleetClient else asyncio.run(events.__anext__())
        except Opened:
            recorder.requests += opened
        called[client.__name__] = recorder.requests
    print(json.dumps(called))


main()
