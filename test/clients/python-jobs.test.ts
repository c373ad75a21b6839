import { beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { gatewayOfTest, startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { runnerFor } from '../support/agent-answers.js';
import type { TestFleet } from '../support/fleet.js';
import { errorReply, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { asyncioProgram, PythonProgram, pythonOfFile, runPython } from './python-program.js';

const SUMMARIZE = `{"ablationCode": "print(1)", "rawOutput": "baseline: 0.80\\nno scaling: 0.70\\n"}`;

const withPython = await pythonOfFile();
const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'python'));
});

describe.skipIf(!withPython)('the asyncio client', () => {
  it('submits, waits for many jobs at once in one thread, reads, and stops a wait that is cancelled', async () => {
    const program = asyncioProgram(
      gateway.url,
      `
async def main():
    jobs = await asyncio.gather(*(fleet.submit("summarize", {**${SUMMARIZE}, "tags": {"run": "r/1 ü"}}, key=f"s{n}") for n in range(12)))
    late = asyncio.create_task(jobs[0].wait())
    await asyncio.sleep(0)
    try:
        await jobs[1].wait(timeout_s=0)
    except WaitTimeout as error:
        timeout = error.job_id == jobs[1].id
    waits = [asyncio.create_task(each.result(timeout_s=60)) for each in jobs]
    while len(asyncio.all_tasks()) < 14:
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
`,
    );
    expect(await program.said()).toEqual({ waiting: true, timeout: true, threads: 1 });
    await test.worker(createOfflineRunner());
    program.goOn();
    expect(await program.said()).toMatchObject({
      summaries: 1,
      total: 12,
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
});

describe.skipIf(!withPython)('jobs of the Python client', () => {
  it('submits, waits, and gives the result', async () => {
    await test.worker(createOfflineRunner());
    const said = await runPython(
      gateway.url,
      `
script = "import numpy as np\\nprint(1)\\n"
handle = fleet.submit("solution-check", {"solution": {"content": script}, "tags": {"run": "r/1 ü"}})
result = handle.result(timeout_s=30)
run = fleet.run("r/1 ü")
say(kind=handle.kind, outcome=handle.outcome, status=result["status"], same=result["solution"]["content"] == script,
    total=run["total"], first=run["jobs"][0]["id"] == handle.id, jobs=[job["id"] for job in fleet.jobs(run="r/1 ü")] == [handle.id])
`,
    );
    expect(said).toEqual({
      kind: 'solution-check',
      outcome: 'created',
      status: 'clean',
      same: true,
      total: 1,
      first: true,
      jobs: true,
    });
  });

  it('starts follow-ups, waits for them or only for the result, and names a follow-up that cannot be right', async () => {
    await test.worker(createOfflineRunner());
    const said = await runPython(
      gateway.url,
      `
from solution_fleet.handles import result_of
payload = {"solution": {"content": "print(1)\\n"}}
compare = {"kind": "contamination", "when": {"status": ["clean", "corrected"]},
           "payload": {"testCase": {"id": "t", "name": "t", "difficulty": "easy"}}, "from": {"output": "result.solution.content"}}
never = {**compare, "name": "never", "when": {"status": "uncorrected"}}
handle = fleet.submit("solution-check", {**payload, "then": [compare, never]})
early = handle.result(timeout_s=30, follow=False)["status"]
# As it is seen while its follow-ups begin, run and end.
seen = [result_of({"id": "i", "state": state, "result": "r"}) for state in ("active", "waiting-children", "waiting")]
first, second = handle.wait(timeout_s=30)["followUps"]
try:
    fleet.submit("solution-check", {**payload, "then": [{**compare, "when": {"state": "clean"}}]})
except ApiError as error:
    say(early=early, seen=seen, job=first["job"]["state"], contaminated=first["job"]["result"]["contaminated"], skipped=second["skipped"],
        field=error.field)
`,
    );
    expect(said).toEqual({
      early: 'clean',
      seen: ['r', 'r', 'r'],
      job: 'completed',
      contaminated: false,
      skipped: 'status is "clean", not "uncorrected"',
      field: 'payload.then[0].when.state',
    });
  });

  it('the same key is the same job, also with characters of any language, and refuses another payload', async () => {
    const said = await runPython(
      gateway.url,
      `
first = fleet.submit("summarize", ${SUMMARIZE}, key="schlüssel:1 \\U0001f511")
second = fleet.submit("summarize", ${SUMMARIZE}, key="schlüssel:1 \\U0001f511")
unnamed = {fleet.submit("summarize", ${SUMMARIZE}).id for _ in range(2)}
try:
    fleet.submit("summarize", {"ablationCode": "x", "rawOutput": ""}, key="schlüssel:1 \\U0001f511")
except ApiError as error:
    say(same=first.id == second.id, outcome=second.outcome, unnamed=len(unnamed), status=error.status, code=error.code,
        retryable=error.retryable)
`,
    );
    expect(said).toEqual({
      same: true,
      outcome: 'existing',
      unnamed: 2,
      status: 409,
      code: 'key-conflict',
      retryable: false,
    });
  });

  it('says which field a refusal is about, and refuses options that there are not before it asks', async () => {
    const said = await runPython(
      gateway.url,
      `
try:
    fleet.submit("solution-check", {"solution": {"content": ""}, "sort": 1})
except ApiError as error:
    refused = error
try:
    fleet.submit("summarize", ${SUMMARIZE}, prio=1)
except TypeError as error:
    say(code=refused.code, field=refused.field, fields=sorted(each["field"] for each in refused.errors),
        text=str(refused), unknown=str(error))
`,
    );
    expect(said.code).toBe('invalid-payload');
    expect(said.fields).toEqual(['payload.solution.content', 'payload.sort']);
    expect(said.text).toContain('[invalid-payload] ');
    expect(said.unknown).toContain("'prio' is not an option");
  });

  it('a wait that times out raises an error, and the job continues', async () => {
    const said = await runPython(
      gateway.url,
      `
handle = fleet.submit("summarize", ${SUMMARIZE}, delay_s=3600)
try:
    handle.wait(timeout_s=0.2)
except WaitTimeout as error:
    say(builtin=isinstance(error, TimeoutError), job=error.job_id == handle.id, state=handle.job()["state"])
`,
    );
    expect(said).toEqual({ builtin: true, job: true, state: 'delayed' });
  });

  it('a job that failed gives its code, and can be run again', async () => {
    const api = await startMessagesApi({ reply: () => errorReply(401) });
    try {
      await test.worker(runnerFor(api));
      const said = await runPython(
        gateway.url,
        `
handle = fleet.submit("summarize", ${SUMMARIZE})
try:
    handle.result(timeout_s=30)
except JobFailed as error:
    state = fleet.retry(handle.id)["state"]
    say(state=error.state, code=error.code, job=error.job_id == handle.id, retryable=error.retryable, after=state)
`,
      );
      expect(said).toMatchObject({ state: 'failed', code: 'unauthorized', job: true, retryable: false });
      expect(said.after).toMatch(/^(waiting|active|failed)$/);
    } finally {
      await api.close();
    }
  });

  it('cancels, and a result of a cancelled job is an error', async () => {
    const said = await runPython(
      gateway.url,
      `
handle = fleet.submit("summarize", ${SUMMARIZE})
handle.cancel()
try:
    handle.result()
except JobFailed as error:
    say(state=error.state, code=error.code)
`,
    );
    expect(said).toEqual({ state: 'cancelled', code: 'job-cancelled' });
  });

  it('streams what happens until the end, and continues after an event that it knows', async () => {
    const program = new PythonProgram(
      gateway.url,
      `
handle = fleet.submit("summarize", ${SUMMARIZE})
events = handle.events()
first = next(events)
say(name=first.name, data=first.data)
rest = list(events)
again = list(fleet.events(handle.id, after=rest[0].id))
say(states=[each.data["state"] for each in rest if each.name == "state"], last=rest[-1].name,
    summary=rest[-1].data["result"]["summary"], again=again == rest[1:], later=list(fleet.events(handle.id, after=rest[-1].id)))
`,
    );
    expect(await program.said()).toEqual({ name: 'state', data: { state: 'waiting' } });
    await test.worker(createOfflineRunner());
    const said = await program.said();
    expect(said).toMatchObject({ states: ['active'], last: 'end', again: true, later: [] });
    expect(said.summary).toContain('scaling');
    expect(await program.end()).toEqual({ code: 0, stderr: '' });
  });

  it('REQ-P2O-016: a refinement step gives the summary, and the block and plan that follow from it', async () => {
    await test.worker(createOfflineRunner());
    const said = await runPython(
      gateway.url,
      `
script = "import pandas as pd\\nscaler = StandardScaler()\\nX = scaler.fit_transform(X)\\nencoder = OneHotEncoder()\\nZ = encoder.fit_transform(Z)\\n"
step = fleet.refinement_step(ablation_code="print(1)", raw_output="baseline: 0.80\\nno OneHotEncoder: 0.70\\nno StandardScaler: 0.79\\n",
    solution=script, previous_blocks=[], tags={"run": "r", "step": "1"}, key="step 1")
result = step.extract.result(timeout_s=30)
say(block=result["codeBlock"], inside=result["codeBlock"] in script, plan=len(result["plan"]) > 20,
    summary=step.summarize.result()["summary"], tags=step.extract.job()["tags"],
    skipped=fleet.refinement_step(ablation_code="print(1)", raw_output="", solution=script, previous_blocks=[]).extract.result()["reason"])
`,
    );
    expect(said).toMatchObject({ inside: true, plan: true, tags: { run: 'r', step: '1' } });
    expect(said.skipped).toContain('printed no score');
    expect(said.block).toContain('OneHotEncoder');
    expect(said.summary).toContain('OneHotEncoder');
  });
});

describe.skipIf(!withPython)('batches of the Python client', () => {
  it('give each job its own outcome, in order', async () => {
    const said = await runPython(
      gateway.url,
      `
jobs = [{"kind": "summarize", "payload": ${SUMMARIZE}} for _ in range(500)]
jobs[7] = {"kind": "summarize", "payload": {"ablationCode": ""}}
jobs[8] = {"kind": "nonsense", "payload": {}}
outcomes = fleet.submit_batch(jobs)
refused = [index for index, each in enumerate(outcomes) if isinstance(each, ApiError)]
say(count=len(outcomes), refused=refused, code=outcomes[7].code, status=outcomes[7].status,
    ids=len({each.id for each in outcomes if isinstance(each, JobHandle)}), waiting=outcomes[499].job()["state"])
`,
    );
    expect(said).toEqual({
      count: 500,
      refused: [7, 8],
      code: 'invalid-payload',
      status: 422,
      ids: 498,
      waiting: 'waiting',
    });
    const queue = test.fleet.queue('summarize');
    expect(await queue.getJobCountByTypes('waiting', 'prioritized')).toBe(498);
  });

  it('are halved until they fit the gateway; a job that does not fit by itself is refused alone', async () => {
    const small = await startTestGateway(redis, test.fleet.prefix, { bodyBytes: 20_000 });
    try {
      const said = await runPython(
        small.url,
        `
jobs = [{"kind": "summarize", "payload": {"ablationCode": "print(1)", "rawOutput": str(n) * 3000}} for n in range(9)]
jobs[4]["payload"]["rawOutput"] = "x" * 30000
outcomes = fleet.submit_batch(jobs)
handles = [each for each in outcomes if isinstance(each, JobHandle)]
say(statuses=[getattr(each, "status", 202) for each in outcomes], ids=[each.id for each in handles])
`,
      );
      expect(said.statuses).toEqual([202, 202, 202, 202, 413, 202, 202, 202, 202]);
      const queue = test.fleet.queue('summarize');
      const outputs = await Promise.all(
        said.ids.map(async (id: string) => (await queue.getJob(id))?.data.rawOutput[0]),
      );
      expect(outputs).toEqual(['0', '1', '2', '3', '5', '6', '7', '8']);
    } finally {
      await small.close();
    }
  });
});
