import { createAnthropicRunner } from '../../src/agents/anthropic-runner.js';
import { addJob } from '../../src/producers/add-job.js';
import type { KindName, PayloadOf } from '../../src/queues/registry.js';
import { correction, leaks } from '../../test/support/agent-answers.js';
import {
  jsonReply,
  type RecordedRequest,
  type Reply,
  startMessagesApi,
  textReply,
} from '../../test/support/messages-api.js';
import { BareBullmq } from '../harness/bare-bullmq.js';
import { startBenchFleet } from '../harness/bench-fleet.js';
import type { RedisWork } from '../harness/bench-redis.js';
import { CONTAMINATION_PAYLOAD } from '../harness/fill.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';

/** One kind of work whose traffic with Redis is counted. */
interface Counted<K extends KindName = KindName> {
  readonly name: string;
  readonly kind: K;
  readonly calls: number;
  readonly payload: PayloadOf<K>;
  reply(request: RecordedRequest): Reply;
}

const SCRIPT = 'a = fit(all)\nprint(a)\n';
const PLANS = { plans: [{ code_block: 'a = fit(all)', plan: 'Fit it on the training rows.' }] };
const noReply = (): Reply => {
  throw new Error('a kind without agent calls has made one');
};

const COUNTED: readonly Counted[] = [
  {
    name: 'solution-check, clean',
    kind: 'solution-check',
    calls: 1,
    payload: { solution: { content: SCRIPT } },
    reply: () => leaks(),
  },
  {
    name: 'solution-check, corrected',
    kind: 'solution-check',
    calls: 2,
    payload: { solution: { content: SCRIPT } },
    reply: ({ text }) => (text.includes('<block-') ? correction('a = fit(train)') : leaks('a = fit(all)')),
  },
  {
    name: 'summarize',
    kind: 'summarize',
    calls: 1,
    payload: { ablationCode: 'print(1)\n', rawOutput: 'baseline: 0.5\nwithout a: 0.4\n' },
    reply: () => textReply('Removing a lowers the score from 0.5 to 0.4.'),
  },
  {
    name: 'extract',
    kind: 'extract',
    calls: 1,
    payload: { summary: 'a matters most.', solution: { content: SCRIPT }, previousBlocks: [] },
    reply: () => jsonReply(PLANS),
  },
  {
    name: 'contamination',
    kind: 'contamination',
    calls: 0,
    payload: CONTAMINATION_PAYLOAD,
    reply: noReply,
  },
];

/** Commands, bytes and processor time of one job in Redis, from submission to its end. */
interface Traffic extends RedisWork {
  /** Commands that clients sent, without those that scripts call. */
  readonly sent: number;
}

const POLL_MS = 200;
const WARM_JOBS = 20;

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Commands that clients send while something runs, as Redis itself reports them. */
async function sentDuring({ redis }: RowContext, action: () => Promise<void>): Promise<number> {
  const monitor = await redis.client.monitor();
  let sent = 0;
  monitor.on('monitor', (_time: string, _args: readonly string[], source: string) => {
    if (source !== 'lua') sent += 1;
  });
  try {
    await action();
  } finally {
    monitor.disconnect();
  }
  return sent;
}

/** Traffic of one job, from the traffic of many. */
async function trafficOf(context: RowContext, work: (count: number) => Promise<void>): Promise<Traffic> {
  const count = context.short ? 50 : 500;
  await work(WARM_JOBS);
  const before = await context.redis.work();
  await work(count);
  const after = await context.redis.work();
  const monitored = count / 5;
  const sent = await sentDuring(context, () => work(monitored));
  const each = (name: keyof RedisWork) => (after[name] - before[name]) / count;
  return {
    sent: sent / monitored,
    commands: each('commands'),
    bytesIn: each('bytesIn'),
    bytesOut: each('bytesOut'),
    cpuUs: each('cpuUs'),
  };
}

async function fleetTraffic(context: RowContext, counted: Counted): Promise<Traffic> {
  const api = await startMessagesApi({ reply: (request) => counted.reply(request) });
  const bench = await startBenchFleet(context, {
    runner: createAnthropicRunner({ baseURL: api.url, apiKey: 'bench' }),
    kinds: [counted.kind],
    concurrency: 10,
  });
  const queue = bench.fleet.queue(counted.kind);
  let added = 0;
  try {
    const traffic = await trafficOf(context, async (count) => {
      for (let index = 0; index < count; index += 1) {
        await addJob(bench.fleet, counted.kind, counted.payload);
      }
      added += count;
      await until(async () => (await queue.getCompletedCount()) >= added);
    });
    if (api.requests.length !== added * counted.calls) {
      throw new Error(`${counted.name}: ${api.requests.length} calls for ${added} jobs`);
    }
    return traffic;
  } finally {
    await bench.close();
    await api.close();
  }
}

async function bareTraffic(context: RowContext): Promise<Traffic> {
  const bare = new BareBullmq(context.redis.url, context.prefix());
  await bare.worker(10).waitUntilReady();
  let added = 0;
  const traffic = await trafficOf(context, async (count) => {
    for (let index = 0; index < count; index += 1) {
      await bare.queue.add('job', { solution: { content: SCRIPT } });
    }
    added += count;
    await until(async () => (await bare.queue.getCompletedCount()) >= added);
  });
  await bare.close();
  return traffic;
}

function sampleOf(ours: Traffic, bare: Traffic, calls: number): Sample {
  return {
    ratio: ours.sent / bare.sent,
    details: {
      'sent by clients': `${ours.sent.toFixed(1)} (bare ${bare.sent.toFixed(1)})`,
      'with those in scripts': ours.commands.toFixed(0),
      'bytes to Redis': ours.bytesIn.toFixed(0),
      'bytes from Redis': ours.bytesOut.toFixed(0),
      'Redis processor time': `${ours.cpuUs.toFixed(0)} µs (bare ${bare.cpuUs.toFixed(0)} µs)`,
    },
    numbers: {
      ...ours,
      calls,
      bareSent: bare.sent,
      bareCommands: bare.commands,
      bareBytesIn: bare.bytesIn,
      bareBytesOut: bare.bytesOut,
      bareCpuUs: bare.cpuUs,
    },
  };
}

const nameOf = ({ name }: Counted) => `commands ${name}`;

/** The load of each kind of job on Redis: it determines the capacity of a Redis core. */
export const commands: RowGroup = {
  rows: COUNTED.map((counted) => ({
    name: nameOf(counted),
    work: `commands sent to Redis for one job (${counted.calls} agent calls), submission included`,
    against: 'a bare BullMQ job',
    target: null,
  })),
  shortSeconds: 6,
  measure: async (context) => {
    const samples: Record<string, Sample[]> = {};
    for (let run = 0; run < (context.short ? 1 : 3); run += 1) {
      for (const counted of COUNTED) {
        await context.redis.flush();
        const ours = await fleetTraffic(context, counted);
        const bare = await bareTraffic(context);
        const found = samples[nameOf(counted)] ?? [];
        samples[nameOf(counted)] = [...found, sampleOf(ours, bare, counted.calls)];
      }
    }
    return samples;
  },
};
