import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { addJobs } from '../../src/producers/add-jobs.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { seeded } from '../../test/contamination/pairs/corpus.js';
import { type BenchProcess, startBenchProcess } from '../harness/child-process.js';
import type { RowContext, RowGroup, Sample } from '../harness/row.js';
import { killAll, startWorkerProcesses } from '../harness/worker-processes.js';
import type { ProviderLimits, SeenCall } from '../peers/limited-provider.js';
import { startPlainWorkers } from '../peers/start-plain-workers.js';

const WORKERS = 8;
const CONCURRENCY = 10;
const SECONDS = 20;
const LIMITS: ProviderLimits = { requests: 6_000, inputTokens: 4_000_000, startSeconds: 1 };
/** More than the limits let through. */
const JOBS = 3_000;

/** Scripts of uneven sizes: most of some hundred bytes, a quarter of some thousand, a few of some ten thousand. */
function unevenScripts(): string[] {
  const random = seeded(29);
  const sizeOf = (kind: number) => {
    if (kind < 0.7) return 100 + 700 * random();
    return kind < 0.95 ? 2_000 + 3_500 * random() : 12_000 + 18_000 * random();
  };
  return Array.from({ length: JOBS }, (_, index) => {
    const size = sizeOf(random());
    let script = `job = ${index}\n`;
    for (let line = 0; script.length < size; line += 1) script += `value_${line} = job * ${line} + 1\n`;
    return `${script}print(job)\n`;
  });
}

/** What a provider received from one kind of workers within the time. */
interface Seen {
  readonly acceptedCalls: number;
  readonly acceptedTokens: number;
  readonly refused: number;
  /** Used fraction of the limits: of the limit that was used most. */
  readonly useful: number;
}

function seen(calls: readonly SeenCall[], seconds: number): Seen {
  const inTime = calls.filter(({ at }) => at <= seconds * 1_000);
  const accepted = inTime.filter((call) => call.accepted);
  const acceptedTokens = accepted.reduce((sum, call) => sum + call.tokens, 0);
  const allowed = (perMinute: number) => (perMinute / 60) * (seconds + LIMITS.startSeconds);
  return {
    acceptedCalls: accepted.length,
    acceptedTokens,
    refused: inTime.length - accepted.length,
    useful: Math.max(
      accepted.length / allowed(LIMITS.requests),
      acceptedTokens / allowed(LIMITS.inputTokens),
    ),
  };
}

/** Runs workers against their own provider, and returns what it received when the time is over. */
async function against(
  seconds: number,
  work: (apiUrl: string) => Promise<() => Promise<unknown>>,
): Promise<Seen> {
  const provider = await startBenchProcess('limited-provider-main.ts', { LIMITS: JSON.stringify(LIMITS) });
  try {
    const [apiUrl = '', callsUrl = ''] = provider.firstLine.split(' ');
    const stop = await work(apiUrl);
    const calls = await callsAfter(callsUrl, seconds, provider);
    await stop();
    return seen(calls, seconds);
  } finally {
    await provider.kill();
  }
}

async function callsAfter(url: string, seconds: number, provider: BenchProcess): Promise<SeenCall[]> {
  const deadline = performance.now() + (seconds + 60) * 1_000;
  while (performance.now() < deadline && provider.child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const calls = (await (await fetch(url)).json()) as SeenCall[];
    // The provider's time runs from its first call: a call after the end shows that it is over.
    if ((calls.at(-1)?.at ?? 0) > seconds * 1_000) return calls;
  }
  throw new Error('the workers stopped calling before the time was over');
}

function fleetSeen(context: RowContext, scripts: readonly string[], seconds: number): Promise<Seen> {
  return against(seconds, async (apiUrl) => {
    const prefix = context.prefix();
    const fleet = await FleetClient.open({ redisUrl: context.redis.url, prefix });
    const options = { prefix, apiUrl, concurrency: CONCURRENCY };
    const workers = await startWorkerProcesses(context, WORKERS, options);
    await addJobs(
      fleet,
      scripts.map((content) => ({ kind: 'solution-check' as const, payload: { solution: { content } } })),
    );
    return async () => {
      await killAll(workers);
      await fleet.close();
    };
  });
}

/** The same questions by bare workers. */
function plainSeen(context: RowContext, scripts: readonly string[], seconds: number): Promise<Seen> {
  return against(seconds, async (apiUrl) => {
    const plain = await startPlainWorkers(context, WORKERS, { apiUrl, concurrency: CONCURRENCY });
    const agent = new AgentConfig({ agentType: AgentType.leakage, variant: 'detection' });
    const prompts = scripts.map((code) => agent.render({ code }));
    await plain.add(prompts.map(({ stable, variable }) => [plain.request(variable, stable)]));
    return () => plain.close();
  });
}

const percent = (fraction: number) => `${(100 * fraction).toFixed(1)} %`;

const HEAD = `${WORKERS} worker processes under 6,000 calls and 4 M input tokens a minute, ${SECONDS} s, uneven sizes`;

export const rateLimit: RowGroup = {
  rows: [
    {
      name: 'rate limit',
      work: `useful calls of ${HEAD}`,
      against: 'the limit itself',
      target: { atLeast: 0.95 },
    },
    {
      name: 'rate limit refused',
      work: `refused calls of ${HEAD}`,
      against: 'all calls',
      target: { atMost: 0.01 },
    },
    {
      name: 'rate limit vs retry',
      work: `useful calls of ${HEAD}`,
      against: "bare BullMQ workers, the SDK's retries, attempts with exponential back-off",
      target: { atLeast: 1 },
    },
  ],
  shortSeconds: null,
  measure: async (context) => {
    const seconds = context.short ? 8 : SECONDS;
    const scripts = unevenScripts();
    const samples: Record<string, Sample[]> = {
      'rate limit': [],
      'rate limit refused': [],
      'rate limit vs retry': [],
    };
    for (let run = 0; run < (context.short ? 1 : 3); run += 1) {
      await context.redis.flush();
      const fleet = await fleetSeen(context, scripts, seconds);
      const plain = await plainSeen(context, scripts, seconds);
      samples['rate limit']?.push({
        ratio: fleet.useful,
        details: {
          calls: String(fleet.acceptedCalls),
          'input tokens': fleet.acceptedTokens.toLocaleString('en'),
        },
      });
      samples['rate limit refused']?.push({
        ratio: fleet.refused / (fleet.refused + fleet.acceptedCalls),
        details: {
          fleet: `${fleet.refused} refused`,
          retry: `${plain.refused} refused (${percent(plain.refused / (plain.refused + plain.acceptedCalls))})`,
        },
      });
      samples['rate limit vs retry']?.push({
        ratio: fleet.useful / plain.useful,
        details: { fleet: percent(fleet.useful), retry: percent(plain.useful) },
      });
    }
    return samples;
  },
};
