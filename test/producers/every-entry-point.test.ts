import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetHttpClient } from '../../src/http-client/index.js';
import { addJob } from '../../src/producers/add-job.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addCandidateBatch } from '../../src/producers/flows/candidate-batch.js';
import { addGuardedEvaluation } from '../../src/producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { PythonProgram, pythonOfFile } from '../clients/python-program.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { wordCount } from '../kinds/word-kinds.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { fleetCommand } from '../support/fleet-command.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const redis = redisOfFile();
const PREFIX = 'entries';
let test: TestFleet;
let gateway: TestGateway;
let http: FleetHttpClient;
let python: PythonProgram | undefined;
const withPython = await pythonOfFile();

/** Reads submissions from standard input, a line each, and says what became of them. */
const PYTHON = `
def work(handle):
    return [handle.id, handle.outcome]

for line in sys.stdin:
    call, arguments = json.loads(line)
    try:
        if call == "submit":
            kind, payload, key = arguments
            done = [work(fleet.submit(kind, payload, key=key))]
        elif call == "submit_batch":
            done = []
            for each in fleet.submit_batch(arguments):
                if isinstance(each, ApiError):
                    raise each
                done.append(work(each))
        elif call == "refinement_step":
            step = fleet.refinement_step(**arguments)
            done = [work(step.extract), work(step.summarize)]
        elif call == "guarded_evaluation":
            made = fleet.guarded_evaluation(**arguments)
            done = [work(made.evaluation), work(made.check)]
        else:
            made = fleet.candidate_batch(**arguments)
            done = [work(handle) for each in made.evaluations for handle in (each.evaluation, each.check)]
            done += [work(made.after_all)] if made.after_all else []
        say(done=done)
    except ApiError as error:
        say(code=error.code)
`;

beforeAll(async () => {
  test = await startTestFleet(redis, PREFIX, { kinds: [wordCount] });
  gateway = await startTestGateway(redis, PREFIX);
  http = new FleetHttpClient({ url: gateway.url });
  if (withPython) python = new PythonProgram(gateway.url, PYTHON);
});
afterAll(async () => {
  await python?.end();
  await gateway.close();
  await test.close();
});

/** A job that a submission names, and what became of it. */
interface Named {
  readonly id: string;
  readonly outcome: string;
}

const named = ({ id, outcome }: Named): Named => ({ id, outcome });

interface EntryPoint {
  readonly name: string;
  /** @param value What the content is about: another value is other content. */
  submit(fleet: FleetClient, key: string, value: number): Promise<readonly Named[]>;
}

const check = (value: number) => ({ solution: { content: `x = ${value}\n` } });
const summary = (value: number) => ({ ablationCode: `print(${value})`, rawOutput: 'baseline: 0.80\n' });
const step = (value: number) => ({ ...summary(value), solution: { content: 'x = 1\n' }, previousBlocks: [] });
const evaluation = { queue: 'evaluate', name: 'score' };
const AFTER_ALL = { queue: 'select', name: 'best' };
/** The number of candidates depends on the content too. */
const candidates = (value: number) => Array.from({ length: value + 1 }, (_, at) => check(at + value));
/** How the names of entry points end whose keys are those of their candidates. */
const OWN_KEYS = 'with keys of their own';
/** The same with a key for each; the batch has none. */
const keyedCandidates = (key: string, value: number) =>
  candidates(value).map((candidate, at) => ({ ...candidate, key: `${key}/${at}` }));
const chain = (value: number) => ({
  ...check(value),
  then: [{ kind: 'solution-check', name: `again ${value}`, from: { solution: 'result.solution' } }],
});

/** What the producers and the HTTP client return of flows. */
interface Flows {
  refinement(key: string, value: number): Promise<{ readonly extract: Named; readonly summarize: Named }>;
  guarded(key: string, value: number): Promise<{ readonly evaluation: Named; readonly check: Named }>;
  batch(
    key: string,
    value: number,
    after: object,
  ): Promise<{
    readonly evaluations: readonly { readonly evaluation: Named; readonly check: Named }[];
    readonly afterAll?: Named;
  }>;
  /** A batch without a key, whose candidates have keys. */
  keyedBatch(key: string, value: number): ReturnType<Flows['batch']>;
}

function producers(fleet: FleetClient): Flows {
  return {
    refinement: (key, value) => addRefinementStep(fleet, step(value), { key }),
    guarded: (key, value) => addGuardedEvaluation(fleet, { ...check(value), evaluation }, { key }),
    batch: (key, value, after) =>
      addCandidateBatch(fleet, { candidates: candidates(value), evaluation, ...after }, { key }),
    keyedBatch: (key, value) =>
      addCandidateBatch(fleet, { candidates: keyedCandidates(key, value), evaluation }),
  };
}

function requests(): Flows {
  return {
    refinement: (key, value) => http.addRefinementStep(step(value), { key }),
    guarded: (key, value) => http.addGuardedEvaluation({ ...check(value), evaluation }, { key }),
    batch: (key, value, after) =>
      http.addCandidateBatch({ candidates: candidates(value), evaluation, ...after }, { key }),
    keyedBatch: (key, value) =>
      http.addCandidateBatch({ candidates: keyedCandidates(key, value), evaluation }),
  };
}

function flowsOf(through: string, of: (fleet: FleetClient) => Flows): EntryPoint[] {
  const batchOf =
    (
      submitted: (flows: Flows, key: string, value: number) => ReturnType<Flows['batch']>,
    ): EntryPoint['submit'] =>
    async (fleet, key, value) => {
      const made = await submitted(of(fleet), key, value);
      const jobs = made.evaluations.flatMap((each) => [named(each.evaluation), named(each.check)]);
      return [...jobs, ...(made.afterAll === undefined ? [] : [named(made.afterAll)])];
    };
  return [
    {
      name: `${through}, a refinement step`,
      submit: async (fleet, key, value) => {
        const { extract, summarize } = await of(fleet).refinement(key, value);
        return [named(extract), named(summarize)];
      },
    },
    {
      name: `${through}, a guarded evaluation`,
      submit: async (fleet, key, value) => {
        const made = await of(fleet).guarded(key, value);
        return [named(made.evaluation), named(made.check)];
      },
    },
    {
      name: `${through}, a batch of candidates`,
      submit: batchOf((flows, key, value) => flows.batch(key, value, {})),
    },
    {
      name: `${through}, a batch of candidates with a job after it`,
      submit: batchOf((flows, key, value) => flows.batch(key, value, { afterAll: AFTER_ALL })),
    },
    {
      name: `${through}, a batch of candidates ${OWN_KEYS}`,
      submit: batchOf((flows, key, value) => flows.keyedBatch(key, value)),
    },
  ];
}

const PRODUCERS: readonly EntryPoint[] = [
  {
    name: 'TypeScript, one job',
    submit: async (fleet, key, value) => [named(await addJob(fleet, 'summarize', summary(value), { key }))],
  },
  {
    name: 'TypeScript, a job with follow-ups',
    submit: async (fleet, key, value) => [
      named(await addJob(fleet, 'solution-check', chain(value), { key })),
    ],
  },
  {
    name: 'TypeScript, a kind of its own',
    submit: async (fleet, key, value) => [
      named(await addJob(fleet, wordCount, { text: `words ${value}` }, { key })),
    ],
  },
  {
    name: 'TypeScript, a batch of jobs',
    submit: async (fleet, key, value) => {
      const item = (kind: 'summarize' | 'solution-check', payload: object) => ({
        kind,
        payload: payload as ReturnType<typeof check>,
        options: { key },
      });
      const items = [item('summarize', summary(value)), item('solution-check', check(value))];
      const outcomes = await addJobs(fleet, items);
      return outcomes.map((outcome) => {
        if ('error' in outcome) throw outcome.error;
        return named(outcome.handle);
      });
    },
  },
  ...flowsOf('TypeScript', producers),
];

async function fromPython(call: string, args: unknown): Promise<readonly Named[]> {
  python?.write(JSON.stringify([call, args]));
  const said = await python?.said();
  if (said.code !== undefined) throw Object.assign(new Error('refused'), { code: said.code });
  return said.done.map(([id, outcome]: [string, string]) => ({ id, outcome }));
}

const PYTHON_CALLS: readonly EntryPoint[] = [
  {
    name: 'Python, one job',
    submit: (_, key, value) => fromPython('submit', ['summarize', summary(value), key]),
  },
  {
    name: 'Python, a batch of jobs',
    submit: (_, key, value) =>
      fromPython('submit_batch', [{ kind: 'summarize', payload: summary(value), key }]),
  },
  {
    name: 'Python, a refinement step',
    submit: (_, key, value) =>
      fromPython('refinement_step', {
        ...{ ablation_code: summary(value).ablationCode, raw_output: '', solution: 'x = 1\n' },
        ...{ previous_blocks: [], key },
      }),
  },
  {
    name: 'Python, a guarded evaluation',
    submit: (_, key, value) =>
      fromPython('guarded_evaluation', { solution: `x = ${value}\n`, evaluation, key }),
  },
  ...[{}, { after_all: AFTER_ALL }].map((after) => ({
    name: `Python, a batch of candidates${'after_all' in after ? ' with a job after it' : ''}`,
    submit: (_: FleetClient, key: string, value: number) =>
      fromPython('candidate_batch', { candidates: candidates(value), evaluation, ...after, key }),
  })),
  {
    name: `Python, a batch of candidates ${OWN_KEYS}`,
    submit: (_, key, value) =>
      fromPython('candidate_batch', { candidates: keyedCandidates(key, value), evaluation }),
  },
];

const OTHERS: readonly EntryPoint[] = [
  {
    name: 'HTTP, one job',
    submit: async (_, key, value) => [named(await http.add('summarize', summary(value), { key }))],
  },
  {
    name: 'HTTP, a batch of jobs',
    submit: async (_, key, value) => {
      const [outcome] = await http.addBatch([{ kind: 'summarize', payload: summary(value), key }]);
      if (outcome === undefined || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
      return [named(outcome)];
    },
  },
  ...flowsOf('HTTP', requests),
  {
    name: 'the command line',
    submit: async (_, key, value) => {
      const args = ['submit', 'summarize', '--data', '-', '--json', '--key', key];
      const env = { FLEET_REDIS_URL: redis.url, FLEET_PREFIX: PREFIX };
      const { stdout, stderr } = await fleetCommand(args, { env, input: JSON.stringify(summary(value)) });
      const code = /\b(key-conflict)\b/.exec(stderr)?.[1];
      if (code !== undefined) throw Object.assign(new Error(stderr), { code });
      return [named(JSON.parse(stdout))];
    },
  },
  ...(withPython ? PYTHON_CALLS : []),
];

/** Number of stored jobs of a fleet. */
async function stored(fleet: FleetClient): Promise<number> {
  const jobs = await fleet.client.keys(`${fleet.prefix}:*`);
  return jobs.filter((key) => /:[\w-]+-([0-9a-f]{40}|[0-9a-f-]{36})$/.test(key)).length;
}

describe.each([...PRODUCERS, ...OTHERS])('a key through $name', ({ name, submit }) => {
  it('names the same work again, and refuses other content', async () => {
    const { fleet } = test;
    const key = `same: ${name}`;
    const before = await stored(fleet);
    const first = await submit(fleet, key, 1);
    expect(new Set(first.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    const count = await stored(fleet);
    expect(count).toBe(before + first.length);
    const second = await submit(fleet, key, 1);
    expect(second).toEqual(first.map(({ id }) => ({ id, outcome: 'existing' })));
    await expect(submit(fleet, key, 2)).rejects.toMatchObject({ code: 'key-conflict' });
    await expect(submit(fleet, key, 0)).rejects.toMatchObject({ code: 'key-conflict' });
    expect(await stored(fleet)).toBe(count);
  });
});

describe('a flow whose child has been removed', () => {
  it.each([...PRODUCERS, ...OTHERS].filter(({ name }) => /step|evaluation/.test(name)))(
    'is found by its key through $name, and refuses other content',
    async ({ name, submit }) => {
      const { fleet } = test;
      const key = `removed: ${name}`;
      const first = await submit(fleet, key, 1);
      const [root, child] = first;
      const kind = fleet.kinds.ofJobId(child?.id ?? '') ?? '';
      const childKey = fleet.jobKey(kind, child?.id ?? '');
      const parent = await fleet.client.hget(childKey, 'parentKey');
      // What is left of a child that completed and was removed after its retention.
      await fleet.client.hset(`${parent}:processed`, childKey, '{}');
      await fleet.queue(kind).remove(child?.id ?? '');
      expect(await submit(fleet, key, 1)).toEqual([
        { id: root?.id, outcome: 'existing' },
        { id: child?.id, outcome: 'existing' },
      ]);
      await expect(submit(fleet, key, 2)).rejects.toMatchObject({ code: 'key-conflict' });
    },
  );
});

describe.each(PRODUCERS)('two clients at once through $name', ({ name, submit }) => {
  it('submit the same work once, and of different content one is refused and stores nothing', async () => {
    const { fleet } = test;
    const other = await FleetClient.open({
      redisUrl: redis.url,
      prefix: PREFIX,
      waitForSlow: true,
      kinds: [wordCount],
    });
    onTestFinished(() => other.close());
    const before = await stored(fleet);
    const [one, two] = await Promise.all([
      submit(fleet, `twice: ${name}`, 1),
      submit(other, `twice: ${name}`, 1),
    ]);
    expect(two.map(({ id }) => id)).toEqual(one.map(({ id }) => id));
    expect(await stored(fleet)).toBe(before + one.length);
    const both = await Promise.allSettled([
      submit(fleet, `differ: ${name}`, 1),
      submit(other, `differ: ${name}`, 2),
    ]);
    const won = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(won).toHaveLength(1);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'key-conflict' },
    });
    const added = (await stored(fleet)) - before - one.length;
    // A candidate with a free key of its own is stored, whatever becomes of the others.
    if (name.endsWith(OWN_KEYS)) expect(added).toBeGreaterThanOrEqual(won[0]?.length ?? 0);
    else expect(added).toBe(won[0]?.length ?? 0);
  });
});

describe.each(PRODUCERS)('a connection that is cut through $name', ({ name, submit }) => {
  it('after any step of a submission: submitted again, the work is there once', async () => {
    const { fleet } = test;
    let isThrough = false;
    for (let steps = 1; !isThrough; steps += 1) {
      const proxy = await TcpProxy.start({ path: redis.socketPath });
      const cutOff = await FleetClient.open({ redisUrl: proxy.url, prefix: PREFIX, kinds: [wordCount] });
      let left = steps;
      proxy.onRequest = () => {
        left -= 1;
        if (left > 0) return;
        proxy.mode = 'refusing';
        // This step arrives, and its answer is lost.
        setImmediate(() => proxy.cut());
      };
      const key = `cut ${steps}: ${name}`;
      const before = await stored(fleet);
      isThrough = await submit(cutOff, key, 1).then(
        () => left > 0,
        () => false,
      );
      await cutOff.close();
      await proxy.stop();
      const again = await submit(fleet, key, 1);
      expect(await stored(fleet)).toBe(before + again.length);
      expect(await submit(fleet, key, 1)).toEqual(again.map(({ id }) => ({ id, outcome: 'existing' })));
    }
  });
});

it('a process that is killed between two transactions of a batch: submitted again, all candidates are there once', async () => {
  const proxy = await TcpProxy.start({ path: redis.socketPath });
  const prefix = 'killed';
  const count = 300;
  let transactions = 0;
  const stalled = new Promise<void>((resolve) => {
    proxy.onRequest = (chunk) => {
      transactions += chunk.includes('$4\r\nexec\r\n') || chunk.includes('$4\r\nEXEC\r\n') ? 1 : 0;
      if (transactions < 2) return;
      proxy.mode = 'black-hole';
      resolve();
    };
  });
  const program = testProgram('test/producers/submitting-program');
  const child = spawn(process.execPath, [program, proxy.url, prefix, 'night', String(count)]);
  await stalled;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await proxy.stop();
  const { fleet, close } = await startTestFleet(redis, prefix);
  onTestFinished(() => close());
  const evaluations = () => fleet.queue('evaluate').getWaitingChildrenCount();
  expect(await evaluations()).toBe(250);
  const candidates = Array.from({ length: count }, (_, at) => ({ solution: { content: `c = ${at}\n` } }));
  const made = await addCandidateBatch(fleet, { candidates, evaluation }, { key: 'night' });
  const outcomes = made.evaluations.map((each) => each.evaluation.outcome);
  expect(outcomes.filter((outcome) => outcome === 'existing')).toHaveLength(250);
  expect([await evaluations(), await fleet.queue('solution-check').count()]).toEqual([count, count]);
});

it('options hold for flows as for jobs: priority, delay and budget, of evaluations that a pipeline claims too', async () => {
  const { fleet, worker, close } = await startTestFleet(redis, 'options');
  const claims = await startTestGateway(redis, 'options');
  onTestFinished(async () => {
    await claims.close();
    await close();
  });
  const client = new FleetHttpClient({ url: claims.url });
  const tags = { run: 'one tenant' };
  const plain: string[] = [];
  for (const value of [1, 2, 3]) {
    plain.push((await client.addGuardedEvaluation({ ...check(value), evaluation, tags })).evaluation.id);
  }
  const urgent = await client.addGuardedEvaluation({ ...check(4), evaluation, tags }, { priority: 1 });
  const late = await client.addCandidateBatch(
    { candidates: [check(5)], evaluation, tags },
    { delayMs: 3_600_000, budgetUsd: 2 },
  );
  const stepMade = await client.addRefinementStep(step(5), { budgetUsd: 3, tenant: 'acme', priority: 7 });
  expect(late.evaluations[0]?.check.state).toBe('delayed');
  const options = async (kind: string, id: string | undefined) => {
    const job = await fleet.queue(kind).getJob(id ?? '');
    return (job?.opts as { fleet?: object } | undefined)?.fleet;
  };
  expect(await options('solution-check', late.evaluations[0]?.check.id)).toMatchObject({ budgetUsd: 2 });
  const shared = { budgetUsd: 3, tenant: 'acme', priority: 7 };
  expect(await options('extract', stepMade.extract.id)).toMatchObject(shared);
  expect(await options('summarize', stepMade.summarize.id)).toMatchObject({
    ...shared,
    budgetJob: stepMade.extract.id,
  });
  // The check of the urgent one is the first of its tenant.
  const waiting = await fleet.queue('solution-check').getPrioritized();
  expect(waiting[0]?.id).toBe(urgent.check.id);
  await worker(createOfflineRunner(), { kinds: ['solution-check'] });
  await expect.poll(async () => fleet.queue('evaluate').getPrioritizedCount()).toBe(4);
  const taken: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { json } = await claims.send('POST', '/v1/evaluations/claim', {
      queue: 'evaluate',
      leaseMs: 60_000,
    });
    taken.push(json.id);
  }
  expect(taken[0]).toBe(urgent.evaluation.id);
  expect(taken.slice(1).sort()).toEqual([...plain].sort());
});
