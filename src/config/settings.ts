import { z } from 'zod';
import { ModelLimitsTextSchema } from './model-limits.js';
import { ModelPricesTextSchema } from './model-prices.js';

/** One variable of the environment that the fleet reads. */
export interface Setting<Value> {
  readonly variable: string;
  readonly schema: z.ZodType<Value>;
  /** The default in words, as the documentation shows it. */
  readonly default: string;
  readonly description: string;
  /** A secret is never shown. */
  readonly secret?: true;
}

function setting<Value>(
  variable: string,
  defaultText: string,
  schema: z.ZodType<Value>,
  description: string,
): Setting<Value> {
  return { variable, schema, default: defaultText, description };
}

const text = (fallback: string) => z.string().default(fallback);
const optionalText = z.string().optional();

/** A number in plain decimal digits: blank, hexadecimal or exponential notation is more likely a mistake. */
const decimal = z
  .string()
  .trim()
  .regex(/^\d+(\.\d+)?$/, 'must be a number in decimal digits')
  .transform(Number);
const count = (fallback: number, min: number, max: number) =>
  decimal.pipe(z.number().int().min(min).max(max)).default(fallback);

/** A duration as in `90m`, `6h` or `2d`, in milliseconds. */
const duration = z
  .string()
  .trim()
  .regex(/^\d{1,5}[mhd]$/, 'must be a duration as in 90m, 6h or 2d')
  .transform(
    (text) =>
      Number(text.slice(0, -1)) *
      { m: 60_000, h: 3_600_000, d: 86_400_000 }[text.slice(-1) as 'm' | 'h' | 'd'],
  );

/** Texts separated by commas; unset is undefined. */
const list = z
  .string()
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  )
  .refine((entries) => entries.length > 0, 'lists nothing')
  .optional();

/** Longest wait of Node's timers, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Every `FLEET_*` variable. `docs/configuration.md` lists exactly these, with these defaults (tested). */
export const SETTINGS = {
  redisUrl: setting(
    'FLEET_REDIS_URL',
    'unset: an embedded Redis',
    optionalText,
    'Redis to use: `redis://`, `rediss://`, `unix://`, or one of the forms for Sentinel and Cluster in redis.md.',
  ),
  prefix: setting(
    'FLEET_PREFIX',
    'fleet',
    z
      .string()
      .regex(/^[^:\s]{1,100}$/, 'must be 1 to 100 characters without a colon or a space')
      .default('fleet'),
    'Prefix of every key in Redis.',
  ),
  dataDirectory: setting(
    'FLEET_DATA_DIR',
    '.',
    text('.'),
    'Project folder, which must exist. Each has a separate embedded Redis with its data in the state directory of the user (redis.md).',
  ),
  embeddedRedis: setting(
    'FLEET_EMBEDDED_REDIS',
    'on',
    z.enum(['on', 'off']).default('on'),
    'Whether there is an embedded Redis: with `off`, commands that keep jobs need `FLEET_REDIS_URL`; `demo`, and `check` and `refine` with agents, use a temporary one. The container image sets `off`.',
  ),
  agent: setting(
    'FLEET_AGENT',
    'auto',
    z.enum(['auto', 'anthropic', 'openai', 'offline']).default('auto'),
    'Agent that answers: `anthropic`, `openai` (OpenAI’s API or any that is compatible: other-models.md), `offline`, or `auto` (anthropic if a key is set).',
  ),
  model: setting(
    'FLEET_MODEL',
    'unset: the built-in default',
    optionalText,
    'Model of jobs without a model in their payload. With `FLEET_AGENT=openai` there is no default.',
  ),
  modelPrices: setting(
    'FLEET_MODEL_PRICES',
    'unset: the built-in price list',
    ModelPricesTextSchema.optional(),
    'Prices of models in US dollars for a million tokens, as JSON: `{"gpt-5":{"input":1.25,"output":10,"cacheRead":0.125}}`; they come before those of the built-in list.',
  ),
  openaiTokenLimit: setting(
    'FLEET_OPENAI_TOKEN_LIMIT',
    'max_completion_tokens',
    z.enum(['max_completion_tokens', 'max_tokens']).default('max_completion_tokens'),
    'Field in which the token limit is sent with `FLEET_AGENT=openai`; some compatible servers know only `max_tokens`.',
  ),
  openaiFormat: setting(
    'FLEET_OPENAI_FORMAT',
    'json_schema',
    z.enum(['json_schema', 'json_object']).default('json_schema'),
    'How structured output is asked for with `FLEET_AGENT=openai`: `json_schema`, or `json_object` for servers that do not take schemas; the schema is then part of the instructions.',
  ),
  prompts: setting(
    'FLEET_PROMPTS',
    'unset: the shipped prompts',
    optionalText,
    'Folder with files that override single prompt files.',
  ),
  python: setting(
    'FLEET_PYTHON',
    'python3',
    text('python3'),
    'Interpreter that checks whether a script parses; empty: none is used.',
  ),
  kindsFrom: setting(
    'FLEET_KINDS_FROM',
    'unset: the built-in kinds alone',
    list,
    'Modules with job kinds of your own, separated by commas: paths of JavaScript files (adding-a-job-kind.md).',
  ),
  concurrency: setting(
    'FLEET_CONCURRENCY',
    '10',
    count(10, 1, 10_000),
    'Jobs of each kind that one worker runs at once.',
  ),
  drainSeconds: setting(
    'FLEET_DRAIN_SECONDS',
    '30',
    count(30, 0, 86_400),
    'How long a stopping worker waits for its running jobs.',
  ),
  maxTokens: setting('FLEET_MAX_TOKENS', '32000', count(32_000, 1, 1_000_000), 'Token limit of one answer.'),
  callTimeoutMs: setting(
    'FLEET_CALL_TIMEOUT_MS',
    '1200000',
    count(1_200_000, 1, MAX_TIMER_MS),
    'Longest duration of one agent call.',
  ),
  callIdleMs: setting(
    'FLEET_CALL_IDLE_MS',
    '90000',
    count(90_000, 1, MAX_TIMER_MS),
    'Longest time without data once an answer has begun.',
  ),
  callRetries: setting(
    'FLEET_CALL_RETRIES',
    '4',
    count(4, 0, 100),
    'How often a call with a transient failure is retried within the attempt.',
  ),
  budgetUsd: setting(
    'FLEET_BUDGET_USD',
    'unset: no limit',
    decimal.pipe(z.number().nonnegative().max(1_000_000)).optional(),
    'What the agent calls of one day (UTC) may cost, in US dollars; no call is sent that could exceed it.',
  ),
  callsInDoubt: setting(
    'FLEET_IN_DOUBT',
    'resend',
    z.enum(['resend', 'park']).default('resend'),
    'A call in doubt (sent, and nobody knows whether it was answered): `resend` it, or `park` the job until a person retries it.',
  ),
  reuse: setting(
    'FLEET_REUSE',
    'none',
    z.enum(['none', 'fleet']).default('none'),
    'What jobs do whose submission names no `reuse`: `fleet` answers a call from the ledger of another job of the same tenant that asked exactly the same (costs.md), `none` asks the model.',
  ),
  batchAfterMs: setting(
    'FLEET_BATCH_AFTER',
    'unset: they are sent at once',
    duration.optional(),
    'Deadline of jobs that name none, counted from their submission, as in `6h` (batches.md): those that can wait cost half.',
  ),
  batchCollectMs: setting(
    'FLEET_BATCH_COLLECT_MS',
    '60000',
    count(60_000, 1, MAX_TIMER_MS),
    'How long the first call of a batch waits for others.',
  ),
  batchPollMs: setting(
    'FLEET_BATCH_POLL_MS',
    '60000',
    count(60_000, 1, MAX_TIMER_MS),
    'How often a batch is looked at.',
  ),
  batchMarginMs: setting(
    'FLEET_BATCH_MARGIN_MS',
    '900000',
    count(900_000, 1, MAX_TIMER_MS),
    'So long before its deadline a job sends a call by itself; twice as long before it leaves its batch, and a call is only queued if its job has six times as long.',
  ),
  batchTimeoutMs: setting(
    'FLEET_BATCH_TIMEOUT_MS',
    '300000',
    count(300_000, 1, MAX_TIMER_MS),
    'Longest duration of one request about batches; after twice as long, a batch that the provider does not list was not created.',
  ),
  modelLimits: setting(
    'FLEET_MODEL_LIMITS',
    'unset: what the provider says',
    ModelLimitsTextSchema.optional(),
    'Limits a minute by model, as JSON: `{"*":{"requests":50,"inputTokens":40000,"outputTokens":8000}}`.',
  ),
  quotaParkMs: setting(
    'FLEET_QUOTA_PARK_MS',
    '600000',
    count(600_000, 1, MAX_TIMER_MS),
    'If a quota returns later than this, its jobs are parked until then and say so.',
  ),
  callWaitMs: setting(
    'FLEET_CALL_WAIT_MS',
    '86400000',
    count(86_400_000, 1, MAX_TIMER_MS),
    'How long rate limits may defer a job before it fails.',
  ),
  cacheWaitMs: setting(
    'FLEET_CACHE_WAIT_MS',
    '10000',
    count(10_000, 0, 600_000),
    'How long a call waits for the answer to another call with the same long instructions to begin, so that it reads them from the prompt cache for a tenth of the price (costs.md); 0: not at all.',
  ),
  textBytes: setting(
    'FLEET_MAX_TEXT_BYTES',
    '1048576',
    count(2 ** 20, 1, 2 ** 29),
    'Largest text in a payload.',
  ),
  largeTextBytes: setting(
    'FLEET_MAX_OUTPUT_BYTES',
    '16777216',
    count(16 * 2 ** 20, 1, 2 ** 29),
    'Largest `rawOutput` or `output` in a payload.',
  ),
  dataBytes: setting(
    'FLEET_MAX_DATA_BYTES',
    '65536',
    count(65_536, 1, 16 * 2 ** 20),
    'Largest `data` of a job in a queue of the pipeline’s own, and largest `result` of one through HTTP, in bytes of JSON.',
  ),
  offloadBytes: setting(
    'FLEET_PAYLOAD_BYTES',
    '65536',
    count(65_536, 1_024, 2 ** 29),
    'Texts above this size, in bytes, are stored outside of their job, compressed and only once.',
  ),
  retentionDays: setting(
    'FLEET_RETENTION_DAYS',
    '7',
    decimal.pipe(z.number().positive().max(3_650)).default(7),
    'How long finished jobs and their results are kept.',
  ),
  lockMs: setting(
    'FLEET_LOCK_MS',
    '20000',
    count(20_000, 1_000, 3_600_000),
    'Duration of the lock of a running job, renewed at half of it; after a worker crashed, another takes its jobs after that time.',
  ),
  jobTimeoutMs: setting(
    'FLEET_JOB_TIMEOUT_MS',
    '14400000',
    count(14_400_000, 1, MAX_TIMER_MS),
    'Longest attempt of one job; it is then aborted, and the job fails.',
  ),
  analysisTimeoutMs: setting(
    'FLEET_ANALYSIS_TIMEOUT_MS',
    '30000',
    count(30_000, 100, MAX_TIMER_MS),
    'Longest computation over one text (static analysis, comparison, numbers of a summary), in processor time where the system tells it; the job then fails with `analysis-limit`. It also applies to commands that compute themselves, such as `fleet contamination`.',
  ),
  analysisHeapMb: setting(
    'FLEET_ANALYSIS_HEAP_MB',
    '512',
    count(512, 64, 65_536),
    'Heap of each thread in which a worker computes over texts, in MiB.',
  ),
  trialSandbox: setting(
    'FLEET_TRIAL_SANDBOX',
    'auto',
    text('auto'),
    'Where scripts of jobs with `trial` run: `auto` (bubblewrap, else `unshare`; as root `unshare`), `bwrap`, `unshare`, `off`, or a command that isolates, to which Python and its arguments are appended.',
  ),
  trialPython: setting(
    'FLEET_TRIAL_PYTHON',
    'unset: FLEET_PYTHON',
    optionalText,
    'Interpreter that runs them, with the libraries of the scripts; it needs numpy and pandas.',
  ),
  trialSeconds: setting(
    'FLEET_TRIAL_SECONDS',
    '120',
    count(120, 1, 86_400),
    'Longest trial of one correction, in seconds.',
  ),
  trialMemoryMb: setting(
    'FLEET_TRIAL_MEMORY_MB',
    '2048',
    count(2_048, 256, 1_048_576),
    'Memory of a script in a trial with all its processes, in MiB.',
  ),
  trialConcurrency: setting(
    'FLEET_TRIAL_CONCURRENCY',
    '2',
    count(2, 1, 1_000),
    'Trials that one worker runs at once.',
  ),
  unhealthyMs: setting(
    'FLEET_UNHEALTHY_MS',
    '300000',
    count(300_000, 1_000, MAX_TIMER_MS),
    'A worker that cannot work for so long (Redis away, no job taken) ends with exit code 1.',
  ),
  healthFile: setting(
    'FLEET_HEALTH_FILE',
    'unset: none',
    optionalText,
    'File that `fleet worker` writes every five seconds: what prevents it from working, or nothing. The health check of the container image reads it.',
  ),
  redisAdmitPercent: setting(
    'FLEET_REDIS_ADMIT_PERCENT',
    '80',
    count(80, 1, 100),
    'Percentage of Redis’ memory limit up to which jobs are accepted; the rest is reserved for accepted jobs to end.',
  ),
  maxStoredBytes: setting(
    'FLEET_MAX_STORED_BYTES',
    'unset: `maxmemory`, else the machine’s memory',
    count(1, 1, Number.MAX_SAFE_INTEGER).removeDefault().optional(),
    'Memory limit of Redis, in bytes, for accepting jobs; the lower of it and `maxmemory` applies.',
  ),
  maxWaiting: setting(
    'FLEET_MAX_WAITING',
    '100000',
    count(100_000, 1, 100_000_000),
    'Number of unstarted jobs of one kind above which the gateway answers 429.',
  ),
  requestsPerMinute: setting(
    'FLEET_REQUESTS_PER_MINUTE',
    '12000',
    count(12_000, 1, 10_000_000),
    'Requests a minute that the gateway accepts from one token; that many may arrive at once.',
  ),
  loginsPerMinute: setting(
    'FLEET_LOGINS_PER_MINUTE',
    '30',
    count(30, 1, 1_000_000),
    'Logins a minute that the gateway accepts from one address, failed ones included.',
  ),
  maxConnections: setting(
    'FLEET_MAX_CONNECTIONS',
    '10000',
    count(10_000, 8, 1_000_000),
    'Connections of clients to one gateway; one token may have half of them, those without a token a quarter.',
  ),
  maxWaits: setting(
    'FLEET_MAX_WAITS',
    '2000',
    count(2_000, 1, 1_000_000),
    'Requests of one token that may wait for a job at one gateway at the same time, and as many waiting claims.',
  ),
  maxStreams: setting(
    'FLEET_MAX_STREAMS',
    '2000',
    count(2_000, 1, 1_000_000),
    'Event streams of one token at one gateway at the same time.',
  ),
  maxReads: setting(
    'FLEET_MAX_READS',
    '4',
    count(4, 1, 10_000),
    'Large reads (runs, lists, dead letters) of one token that run at the same time; others wait.',
  ),
  bodyBytes: setting(
    'FLEET_MAX_BODY_BYTES',
    '33554432',
    count(32 * 2 ** 20, 1_024, 2 ** 29),
    'Largest request body that the gateway reads.',
  ),
  models: setting(
    'FLEET_MODELS',
    'unset: the default model alone',
    list,
    'Models that payloads through HTTP may name, separated by commas.',
  ),
  workspaceRoots: setting(
    'FLEET_WORKSPACE_ROOTS',
    'unset: no workspace',
    list,
    'Directories that must contain the workspaces of jobs, separated by commas. The gateway checks it at submission, a worker whenever an agent reads.',
  ),
  workspaceSecrets: setting(
    'FLEET_WORKSPACE_SECRETS',
    'refuse',
    z.enum(['refuse', 'allow']).default('refuse'),
    'Whether agents may read files of a workspace with names of secrets, such as `.env` and `.git/config`.',
  ),
  auth: setting(
    'FLEET_AUTH',
    'auto',
    z.enum(['auto', 'required', 'open']).default('auto'),
    'Whether the gateway requires tokens: `required`; `auto` (not on loopback until the first token exists); `open` (not on loopback while no token exists, even if there were some before).',
  ),
  secureCookies: setting(
    'FLEET_SECURE_COOKIES',
    'off',
    z.enum(['on', 'off']).default('off'),
    'Set to `on` if people reach the gateway by HTTPS: browsers then send its cookie over HTTPS only.',
  ),
  trustedHosts: setting(
    'FLEET_TRUSTED_HOSTS',
    'unset: loopback names',
    list,
    'Host names that a gateway without tokens accepts, besides the loopback names.',
  ),
  opinion: setting(
    'FLEET_OPINION',
    'both',
    z.enum(['both', 'agent', 'analysis', 'static-first']).default('both'),
    'Whose findings of leakage count beside a model: those of `both`, of the `agent` (the model) alone, or of the `analysis` alone; the model then only corrects. With `static-first` the model is asked only where the analysis is not certain (leakage.md).',
  ),
  auditFraction: setting(
    'FLEET_AUDIT_SHARE',
    '0.02',
    decimal.pipe(z.number().min(0).max(1)).default(0.02),
    'With `FLEET_OPINION=static-first`: share of the scripts that the model is asked about although the analysis is certain, from 0 to 1; `fleet disagreements` lists where they differ.',
  ),
  corrections: setting(
    'FLEET_CORRECTIONS',
    'each',
    z.enum(['each', 'shared', 'edits']).default('each'),
    'How the model is asked for corrections: `each` leak in a call that answers with the whole block; `shared`: one call for leaks that share a block or a split; `edits`: as `shared`, and only the changed lines of long blocks (costs.md).',
  ),
  minSeverity: setting(
    'FLEET_MIN_SEVERITY',
    'low',
    z.enum(['high', 'medium', 'low']).default('low'),
    'Lowest severity of a leak that makes `fleet check` end with exit code 1.',
  ),
  logLevel: setting(
    'FLEET_LOG_LEVEL',
    'info',
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    'Lowest severity of a log line that is written.',
  ),
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;
export type Config = { readonly [Name in SettingName]: z.infer<(typeof SETTINGS)[Name]['schema']> };
