import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { gatewayOfTest, type TestGateway } from '../gateway/gateway-fixture.js';
import type { TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { hasPython, PythonProgram } from './python-program.js';

const SUMMARIZE = `{"ablationCode": "print(1)", "rawOutput": "baseline: 0.80\\nno scaling: 0.70\\n"}`;
/** What every program begins with; `main` is its coroutine. */
const PRELUDE = `
import asyncio, math
from solution_fleet.aio import *

fleet = AsyncFleetClient(retry_timeout_s=20)

async def line():
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
`;

const withPython = await hasPython();
const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'asyncio', { stalledCheckMs: 200 }));
});

const start = (script: string, url = gateway.url) =>
  new PythonProgram(url, `${PRELUDE}${script}\nasyncio.run(main())`);

describe.skipIf(!withPython)('the asyncio client', () => {
  it('submits, waits for many jobs at once in one thread, reads, and stops a wait that is cancelled', async () => {
    const program = start(`
async def main():
    jobs = await asyncio.gather(*(fleet.submit("summarize", ${SUMMARIZE}, key=f"s{n}", tags={"run": "r"}) if n == 99 else
                                  fleet.submit("summarize", {**${SUMMARIZE}, "tags": {"run": "r/1 ü"}}, key=f"s{n}") for n in range(40)))
    late = asyncio.create_task(jobs[0].wait())
    await asyncio.sleep(0)
    try:
        await jobs[1].wait(timeout_s=0)
    except WaitTimeout as error:
        timeout = error.job_id == jobs[1].id
    waits = [asyncio.create_task(each.result(timeout_s=60)) for each in jobs]
    while len(asyncio.all_tasks()) < 42:
        await asyncio.sleep(0)
    say(waiting=True, timeout=timeout, threads=threading.active_count())
    await line()
    late.cancel()
    results = await asyncio.gather(*waits)
    run = await fleet.run("r/1 ü", limit=50)
    batch = await fleet.submit_batch([{"kind": "summarize", "payload": ${SUMMARIZE}}, {"kind": "none", "payload": {}}])
    refused = []
    for call in (fleet.submit("summarize", {}), fleet.submit("summarize", {}, keys="x"), fleet.job("summarize:none")):
        try:
            await call
        except (ApiError, TypeError) as error:
            refused.append(getattr(error, "code", str(error)))
    events = [event.name async for event in batch[0].events()]
    known = [await fleet.known.add("t", "print(1)\\n"), len(await fleet.known.of("t")), await fleet.known.remove("t")]
    metrics = await fleet.metrics()
    say(summaries=len({each["summary"] for each in results}), total=run["total"], batch=[type(each).__name__ for each in batch],
        refused=refused, last=events[-1], known=known, letters=await fleet.dead_letters.find(), late=late.cancelled(),
        health=[await fleet.health(), (await fleet.readiness())["status"]], metrics="fleet_jobs" in metrics, api=(await fleet.openapi())["openapi"])
`);
    expect(await program.said()).toEqual({ waiting: true, timeout: true, threads: 1 });
    await test.worker(createOfflineRunner());
    program.goOn();
    expect(await program.said()).toMatchObject({
      summaries: 1,
      total: 40,
      batch: ['AsyncJobHandle', 'ApiError'],
      refused: [
        'invalid-payload',
        expect.stringContaining("'keys' is not an option; did you mean 'key'?"),
        'job-not-found',
      ],
      last: 'end',
      known: [true, 1, 1],
      letters: [],
      late: true,
      health: [{ status: 'ok', redis: 'ok' }, 'ok'],
      metrics: true,
      api: '3.1.0',
    });
    expect(await program.end()).toMatchObject({ code: 0, stderr: '' });
  });

  it('REQ-SF-022: evaluates checked scripts, ends what an evaluator raises or cannot return, and gives back what is cancelled', async () => {
    await test.worker(createOfflineRunner());
    const program = start(`
async def main():
    def evaluation(n, attempts=1):
        return fleet.guarded_evaluation(solution=f"print({n})\\n", evaluation={"queue": "evaluate", "name": "score", "data": {"n": n}, "opts": {"attempts": attempts}})
    handles = [await evaluation(n) for n in range(4)]
    async def evaluate(claim):
        n = claim.data["n"]
        if n == 1:
            raise DoNotRetry("it never ends")
        return [claim.script, None, math.nan, {"score": 3}][n]
    ended = await fleet.evaluate("evaluate", evaluate, idle_s=3)
    jobs = [await each.evaluation.wait(timeout_s=30) for each in handles]

    last = await evaluation(9)
    await last.check.wait()
    begun = asyncio.Event()
    async def hang(claim):
        begun.set()
        await asyncio.sleep(600)
    task = asyncio.create_task(fleet.evaluate("evaluate", hang, lease_s=600))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    again = await fleet.claim("evaluate", wait_s=30, lease_s=3)
    async def cancelled():
        async with again.kept():
            await last.evaluation.cancel()
            await again.lost.wait()
    await cancelled()
    say(ended=ended, results=[job.get("result") for job in jobs], errors=[job["error"]["message"] for job in jobs if "error" in job],
        attempt=again.attempt, state=(await last.evaluation.job())["state"], task=task.cancelled())
`);
    expect(await program.said()).toEqual({
      ended: 4,
      results: ['print(0)\n', null, null, { score: 3 }],
      errors: ['it never ends', expect.stringContaining('the result is no JSON')],
      attempt: 1,
      state: 'cancelled',
      task: true,
    });
    expect((await program.end()).code).toBe(0);
  });

  it('over a link that is cut, a submission is one job, and an event stream resumes', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: gateway.port });
    const program = start(
      `
async def main():
    job = await fleet.submit("summarize", ${SUMMARIZE}, key="one")
    say(outcome=job.outcome)
    async for event in job.events():
        say(name=event.name, state=event.data.get("state"))
`,
      `http://127.0.0.1:${proxy.port}`,
    );
    expect(await program.said()).toEqual({ outcome: 'created' });
    expect(await program.said()).toEqual({ name: 'state', state: 'waiting' });
    proxy.cut();
    await test.worker(createOfflineRunner());
    const rest = [await program.said()];
    while (rest.at(-1).name !== 'end') rest.push(await program.said());
    expect(rest[0]).toEqual({ name: 'state', state: 'active' });
    expect(rest.at(-1)).toEqual({ name: 'end', state: 'completed' });
    expect((await program.end()).code).toBe(0);
    await proxy.stop();
  });
});
