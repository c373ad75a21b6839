import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { asyncioProgram, PythonProgram, pythonOfFile, runPython } from './python-program.js';

/** Fits a scaler on all rows before they are split. */
const LEAKY = `
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

X, y = load_digits(return_X_y=True)
X = StandardScaler().fit_transform(X)
X_train, X_valid, y_train, y_valid = train_test_split(X, y, random_state=0)
print(LogisticRegression().fit(X_train, y_train).score(X_valid, y_valid))
`;
const guarded = (script = 'print(1)\n', more = '') =>
  `fleet.guarded_evaluation(solution=${JSON.stringify(script)}, evaluation={"queue": "evaluate", "name": "score", "data": {"fold": 3}${more}})`;

/** Evaluates so many claims and then stops. */
const WORK = `
def work(times, evaluate):
    stop, seen = threading.Event(), []
    def one(claim):
        seen.append(claim)
        if len(seen) == times:
            stop.set()
        return evaluate(claim)
    return fleet.evaluate("evaluate", one, stop=stop)
`;

const withPython = await pythonOfFile();
const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

// One for all tests: each evaluates what it has submitted, or uses a queue of its own.
beforeAll(async () => {
  test = await startTestFleet(redis, 'evaluations');
  gateway = await startTestGateway(redis, 'evaluations', {}, { stalledCheckMs: 500 });
  await test.worker(createOfflineRunner());
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

describe.skipIf(!withPython)('the asyncio client', () => {
  it('REQ-SF-022: evaluates checked scripts, ends what an evaluator raises or cannot return, and gives back what is cancelled', async () => {
    const program = asyncioProgram(
      gateway.url,
      `
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
    try:
        await fleet.evaluate("evaluate", lambda claim: 1)
    except TypeError as error:
        blocking = str(error)
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
        attempt=again.attempt, state=(await last.evaluation.job())["state"], task=task.cancelled(), blocking="is no coroutine function" in blocking)
`,
    );
    expect(await program.said()).toEqual({
      ended: 4,
      results: ['print(0)\n', null, null, { score: 3 }],
      errors: ['it never ends', expect.stringContaining('the result is no JSON')],
      attempt: 1,
      state: 'cancelled',
      task: true,
      blocking: true,
    });
    expect((await program.end()).code).toBe(0);
  });
});

describe.skipIf(!withPython)('evaluations of the Python client', () => {
  it('REQ-SF-022: the evaluator gets the checked script, and its result is the job’s', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
handles = ${guarded(LEAKY)}
seen = []
def evaluate(claim):
    seen.append(claim)
    return {"score": 0.75, "fold": claim.data["fold"]}
ended = work(1, evaluate)
claim, check = seen[0], handles.check.result()
say(ended=ended, result=handles.evaluation.result(), status=claim.status, attempt=claim.attempt, name=claim.name,
    same=claim.script == check["solution"]["content"], findings=[each["outcome"] for each in claim.findings],
    changed=claim.script != ${JSON.stringify(LEAKY)})
`,
    );
    expect(said).toEqual({
      ended: 1,
      result: { score: 0.75, fold: 3 },
      status: 'corrected',
      attempt: 1,
      name: 'score',
      same: true,
      findings: ['corrected'],
      changed: true,
    });
  });

  it('a refinement loop has its blocks rewritten and its scripts evaluated', async () => {
    const said = await runPython(
      gateway.url,
      `
script = "model = Ridge()\\nprint(model.fit(X, y).score(X, y))\\n"
handle = fleet.submit("refinement-loop", {
    "solution": {"content": script}, "score": 0.5, "direction": "higher", "previousBlocks": [], "rounds": 4,
    "ablationCode": "x", "rawOutput": "Baseline: 0.50\\nNo Ridge: 0.30\\n",
    "newBlock": {"queue": "coder", "data": {"task": "digits"}}, "evaluation": {"queue": "evaluate"},
})
requests, scripts, stop = [], [], threading.Event()
def rewrite(request):
    requests.append(request)
    if request["round"] == 2:
        return {"codeBlock": request["codeBlock"].replace("Ridge", "Forest"), "plan": "Try trees."}
    return request["codeBlock"].replace("Ridge", "Lasso") if request["round"] == 1 else None
def score(claim):
    scripts.append(claim.script)
    return {"score": 0.75 if "Forest" in claim.script else 0.25}
coder = threading.Thread(target=fleet.rewrite_blocks, args=("coder", rewrite), kwargs={"stop": stop})
evaluator = threading.Thread(target=fleet.evaluate, args=("evaluate", score), kwargs={"stop": stop})
coder.start(), evaluator.start()
result = handle.result(timeout_s=60)
stop.set()
say(outcome=result["outcome"], score=result["score"], stopped=result["stopped"], same=result["solution"]["content"] == scripts[1],
    plans=[each["plan"] for each in result["rounds"]][1:], task=requests[0]["task"], tried=[each["score"] for each in requests[2]["tried"]])
`,
    );
    expect(said).toEqual({
      outcome: 'improved',
      score: 0.75,
      stopped: 'no-new-block',
      same: true,
      plans: ['Try trees.'],
      task: 'digits',
      tried: [0.25, 0.75],
    });
  });

  it('an evaluation that requires statuses is refused a known solution, and the evaluator sees the other status', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
def submit(script):
    return fleet.guarded_evaluation(solution=script, evaluation={"queue": "evaluate", "name": "score"},
        contamination={"testCase": {"id": "digits", "name": "Digits", "difficulty": "easy"}},
        require={"leakage": ("clean", "corrected"), "contamination": "clean"})
try:
    submit("print(1)\\n")
except ApiError as error:
    field = error.field
fleet.known.add("digits", "print(1)\\n")
copied, own = submit("print(1)\\n"), submit("x = 2\\nprint(x)\\n")
statuses = []
work(1, lambda claim: statuses.append(claim.contamination["status"]))
copied.check.result()
fleet.evaluate("evaluate", lambda claim: None, idle_s=0)
try:
    copied.evaluation.result(timeout_s=10)
except JobFailed as error:
    say(field=field, statuses=statuses, own=own.check.result()["contamination"]["status"], code=error.code,
        named="is contaminated" in str(error))
`,
    );
    expect(said).toEqual({
      field: 'require.contamination',
      statuses: ['clean'],
      own: 'clean',
      code: 'solution-refused',
      named: true,
    });
  });

  it('data and results in the form of a reference come back as they are; a result that is too large fails once', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
mark = {"fleet:text": "a" * 64, "bytes": 10}
both = [fleet.guarded_evaluation(solution="print(1)\\n", evaluation={"queue": "evaluate", "name": "score", "data": {"mark": mark}, "opts": {"attempts": 3}})
        for _ in range(2)]
results = [[mark, claims] for claims in range(1)] + ["x" * 70_000]
seen = []
def evaluate(claim):
    seen.append((claim.data["mark"], claim.id))
    return results[len(seen) - 1]
work(2, evaluate)
first, second = [fleet.job(id) for _, id in seen]
say(data=[data for data, _ in seen] == [mark, mark], result=first["result"], state=second["state"],
    refused="result has 70002 bytes" in second["error"]["message"], attempts=second["attempts"])
`,
    );
    expect(said).toEqual({
      data: true,
      result: [{ 'fleet:text': 'a'.repeat(64), bytes: 10 }, 0],
      state: 'failed',
      refused: true,
      attempts: 1,
    });
  });

  it('what an evaluation raises fails the try, and another try follows; DoNotRetry ends it', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
twice = ${guarded('print(2)\n', ', "opts": {"attempts": 2}')}
never = ${guarded('print(3)\n', ', "opts": {"attempts": 2}')}
tries = []
def evaluate(claim):
    tries.append([claim.script, claim.attempt])
    if claim.script == "print(3)\\n":
        raise DoNotRetry("it never ends")
    if claim.attempt == 1:
        raise OSError("no GPU")
    return None
work(3, evaluate)
job = never.evaluation.job()
say(tries=sorted(tries), done=twice.evaluation.result(), state=job["state"], error=job["error"]["message"])
`,
    );
    expect(said).toEqual({
      tries: [
        ['print(2)\n', 1],
        ['print(2)\n', 2],
        ['print(3)\n', 1],
      ],
      done: null,
      state: 'failed',
      error: 'it never ends',
    });
  });

  it('a result that is no JSON, such as NaN, fails the evaluation and says so', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
handles = [${guarded('print(4)\n')}, ${guarded('print(5)\n')}]
work(2, lambda claim: float("nan") if "4" in claim.script else {1, 2})
say(errors=[each.evaluation.job()["error"]["message"] for each in handles])
`,
    );
    expect(said.errors).toEqual([
      expect.stringContaining('the result is no JSON'),
      expect.stringContaining('the result is no JSON'),
    ]);
  });

  it('heartbeats keep a lease that is much shorter than the work', async () => {
    const program = new PythonProgram(
      gateway.url,
      `
handles = ${guarded()}
handles.check.result()
def evaluate(claim):
    say(lease=claim.lease_s)
    sys.stdin.readline()
    return claim.attempt
fleet.evaluate("evaluate", evaluate, lease_s=5, idle_s=0)
say(result=handles.evaluation.result())
`,
    );
    expect(await program.said()).toEqual({ lease: 5 });
    // When the lease would have run out long ago, nobody else can have it.
    const other = await runPython(
      gateway.url,
      'claim = fleet.claim("evaluate", wait_s=8)\nsay(got=claim is not None)',
    );
    expect(other).toEqual({ got: false });
    program.goOn();
    expect(await program.said()).toEqual({ result: 1 });
  });

  it('an evaluation that is cancelled meanwhile is lost to the evaluator, which continues with the next', async () => {
    const program = new PythonProgram(
      gateway.url,
      `
handles = ${guarded()}
handles.check.result()
def evaluate(claim):
    say(id=claim.id)
    claim.lost.wait(30)
    return "too late"
ended = fleet.evaluate("evaluate", evaluate, lease_s=4, idle_s=1)
job = handles.evaluation.job()
say(ended=ended, state=job["state"], over="endedAt" in job)
`,
    );
    const { id } = await program.said();
    expect((await gateway.send('DELETE', `/v1/jobs/${id}`)).status).toBe(200);
    expect(await program.said()).toEqual({ ended: 0, state: 'cancelled', over: true });
    expect((await program.end()).stderr).toContain('is dropped');
  });

  it('an evaluator that is interrupted gives its evaluation back, without a used attempt', async () => {
    const program = new PythonProgram(
      gateway.url,
      `
${guarded()}
def evaluate(claim):
    say(id=claim.id)
    threading.Event().wait(60)
fleet.evaluate("evaluate", evaluate, lease_s=600)
`,
    );
    const { id } = await program.said();
    await program.signal('SIGINT');
    expect((await program.end()).code).not.toBe(0);
    const next = await runPython(
      gateway.url,
      'claim = fleet.claim("evaluate", wait_s=30)\nclaim.complete("ok")\nsay(id=claim.id, attempt=claim.attempt)',
    );
    expect(next).toEqual({ id, attempt: 1 });
  });

  it('stops on request', async () => {
    const said = await runPython(
      gateway.url,
      `
stop = threading.Event()
for script in ("print(6)\\n", "print(7)\\n"):
    fleet.guarded_evaluation(solution=script, evaluation={"queue": "evaluate-once", "name": "score"})
def evaluate(claim):
    stop.set()
    return 1
say(ended=fleet.evaluate("evaluate-once", evaluate, stop=stop))
`,
    );
    expect(said).toEqual({ ended: 1 });
  });

  it('a candidate batch keeps its order, and one bad candidate sinks no other', async () => {
    const said = await runPython(
      gateway.url,
      `${WORK}
batch = fleet.candidate_batch(
    candidates=[{"solution": {"content": f"print({n})\\n"}, "data": {"n": n}} for n in range(4)],
    evaluation={"queue": "evaluate", "name": "score"}, after_all={"queue": "choose", "name": "best"})
def evaluate(claim):
    if claim.data["n"] == 2:
        raise ValueError("bad")
    return claim.data["n"] * 10
work(4, evaluate)
results = []
for each in batch.evaluations:
    try:
        results.append(each.evaluation.result(timeout_s=10))
    except JobFailed as error:
        results.append(str(error))
def choose(claim):
    return max(each["result"] for each in claim.outcomes if each["state"] == "evaluated")
ids = [each.evaluation.id for each in batch.evaluations]
claim = fleet.claim("choose", wait=20)
failed = [ids.index(each["evaluation"]) for each in claim.outcomes if each["state"] == "failed"]
try:
    claim.script
except ValueError as error:
    script = str(error)
claim.complete(choose(claim))
say(results=results, best=batch.after_all.result(), failed=failed, script=script)
`,
    );
    expect(said.results).toEqual([0, 10, expect.stringContaining('ValueError: bad'), 30]);
    expect(said).toMatchObject({ best: 30, failed: [2], script: expect.stringContaining('claim.outcomes') });
  });
});
