/**
 * The one error table. Every error that leaves a public function, a job, the command line or the HTTP API
 * has a code from it. `docs/errors.md` lists exactly these codes (tested both ways).
 */
export interface ErrorEntry {
  /** Exported class a caller can test with `instanceof`. */
  readonly class: string;
  /** Whether the same request can succeed later without being changed. */
  readonly retryable: boolean;
  /** HTTP status of a response that carries this error. */
  readonly httpStatus: number;
  /** Exit code of a command that ends with this error. */
  readonly exitCode: number;
  /** What the reader of the message can do. */
  readonly whatToDo: string;
}

function entry(
  className: string,
  retryable: boolean,
  httpStatus: number,
  exitCode: number,
  whatToDo: string,
): ErrorEntry {
  return { class: className, retryable, httpStatus, exitCode, whatToDo };
}

export const ERROR_TABLE = {
  // What was handed in
  'invalid-payload': entry('PayloadError', false, 422, 2, 'Correct the named field and submit again.'),
  'payload-too-large': entry(
    'PayloadError',
    false,
    413,
    2,
    'Shorten the named text, or raise the limit in the configuration.',
  ),
  'newer-contract': entry(
    'PayloadError',
    true,
    409,
    2,
    'Upgrade the workers: the job waits for one that knows this contract version.',
  ),
  'unknown-kind': entry('UsageError', false, 404, 2, 'Use one of the kinds that the message lists.'),
  usage: entry('UsageError', false, 400, 2, 'Correct the command or the argument as the message says.'),
  'unreadable-input': entry('UsageError', false, 400, 2, 'Name a readable, non-empty text file.'),
  'unwritable-output': entry(
    'UsageError',
    false,
    400,
    2,
    'Make the file and its folder writable, or print the correction and apply it yourself.',
  ),
  'invalid-configuration': entry(
    'ConfigurationError',
    false,
    500,
    2,
    'Correct the named variable; `fleet config` shows the values in use and where they come from.',
  ),

  // Pure functions
  'block-not-found': entry('BlockNotFoundError', false, 422, 2, 'Pass a block that is in the solution.'),
  'unclosed-fence': entry('UnclosedFenceError', false, 502, 2, 'Ask again with a larger token limit.'),
  'prompt-variable': entry(
    'PromptError',
    false,
    500,
    2,
    'Pass every variable of the prompt exactly once, and no other.',
  ),
  'prompt-not-found': entry(
    'PromptError',
    false,
    500,
    2,
    'Correct the prompt name or the FLEET_PROMPTS folder.',
  ),

  // Agent calls
  'answer-truncated': entry(
    'AgentError',
    false,
    502,
    2,
    'Raise FLEET_MAX_TOKENS, or submit a shorter script.',
  ),
  'answer-refused': entry(
    'AgentError',
    false,
    502,
    2,
    'Read the refusal; use another model or another script.',
  ),
  'answer-invalid': entry(
    'AgentError',
    false,
    502,
    2,
    'Read the raw answer stored with the error; a stronger model may follow the schema.',
  ),
  'answer-incomplete': entry('AgentError', true, 502, 2, 'Nothing: the call is tried again.'),
  'answer-unknown-stop': entry(
    'AgentError',
    false,
    502,
    2,
    'Upgrade solution-fleet: the provider ended the answer in a way this version does not know.',
  ),
  'analysis-exhausted': entry(
    'AgentError',
    false,
    422,
    2,
    'Simplify the script, or let a model check it (FLEET_AGENT=anthropic).',
  ),
  'analysis-limit': entry(
    'AnalysisLimitError',
    false,
    422,
    2,
    'Shorten or simplify the text that was analyzed; or raise FLEET_ANALYSIS_TIMEOUT_MS or FLEET_ANALYSIS_HEAP_MB of the workers.',
  ),
  'tool-loop': entry(
    'AgentError',
    false,
    502,
    2,
    'The agent kept calling tools without an answer; shorten its task.',
  ),
  'context-exceeded': entry(
    'AgentError',
    false,
    422,
    2,
    'Submit a shorter text, or use a model with a larger window.',
  ),
  'call-idle': entry('AgentError', true, 504, 2, 'Nothing: the call is tried again.'),
  'call-timeout': entry(
    'AgentError',
    true,
    504,
    2,
    'Raise FLEET_CALL_TIMEOUT_MS if answers really take this long.',
  ),
  'call-cancelled': entry(
    'AgentError',
    true,
    409,
    2,
    'Nothing: the job was cancelled, or its worker is stopping.',
  ),
  'rate-limited': entry('AgentError', true, 429, 2, 'Wait, or raise the limit at the provider.'),
  overloaded: entry('AgentError', true, 503, 2, 'Wait: the provider is overloaded.'),
  unreachable: entry('AgentError', true, 503, 2, 'Check the network and ANTHROPIC_BASE_URL.'),
  unauthorized: entry('AgentError', false, 401, 2, 'Set a valid ANTHROPIC_API_KEY on the worker.'),
  'bad-request': entry(
    'AgentError',
    false,
    400,
    2,
    'Read the message of the provider and change the request.',
  ),
  'unknown-model': entry(
    'AgentError',
    false,
    404,
    2,
    'Use a model id that the provider knows (FLEET_MODEL).',
  ),

  // Calls that the fleet does not send
  'budget-exhausted': entry(
    'CallRefusedError',
    false,
    402,
    2,
    'Raise FLEET_BUDGET_USD or the run’s budget, or wait for the next day (UTC); then `fleet retry ID`.',
  ),
  'quota-exhausted': entry(
    'CallRefusedError',
    false,
    429,
    2,
    'Raise the limit at the provider; `fleet retry ID` then continues where the job stopped.',
  ),
  'call-in-doubt': entry(
    'CallRefusedError',
    false,
    409,
    2,
    'Look whether the provider billed the call; `fleet retry ID` sends it again.',
  ),

  // Jobs
  'lock-lost': entry('JobError', true, 409, 2, 'Nothing: another worker has taken the job over.'),
  'killed-its-worker': entry(
    'JobError',
    false,
    500,
    2,
    'Read the workers’ last log lines and give them more memory, or hand in another script.',
  ),
  'job-not-found': entry(
    'JobError',
    false,
    404,
    2,
    'Check the id; finished jobs are removed after the retention time.',
  ),
  'job-cancelled': entry('JobError', false, 409, 2, 'Submit the job again if you still need it.'),
  'job-already-ended': entry(
    'JobError',
    false,
    409,
    2,
    'Nothing: the job has its outcome; `fleet get ID` shows it.',
  ),
  'job-failed': entry(
    'JobError',
    false,
    500,
    2,
    'Read the reason on the job; `fleet retry ID` runs it again.',
  ),
  'job-not-retryable': entry(
    'JobError',
    false,
    409,
    2,
    'Only a failed job can be run again; submit a new one.',
  ),
  'child-failed': entry('JobError', true, 502, 2, 'Run the failed child job again; this job then continues.'),
  'key-conflict': entry(
    'JobError',
    false,
    409,
    2,
    'Use another key: this one names a job with another payload.',
  ),
  'job-timeout': entry(
    'JobError',
    false,
    504,
    2,
    'Raise FLEET_JOB_TIMEOUT_MS if jobs really take this long; `fleet retry ID` continues with the recorded answers.',
  ),
  'handler-ignored-abort': entry(
    'JobError',
    false,
    500,
    2,
    'The code that ran the job did not stop when it was aborted, and its slot was freed; restart the worker.',
  ),
  'payload-missing': entry(
    'JobError',
    true,
    500,
    2,
    'Check Redis: a text of the job is missing or was changed; submit the job again with `force`.',
  ),
  'broken-record': entry(
    'JobError',
    true,
    500,
    2,
    'Check Redis: the record that the message names is damaged; submit the job again with `force`.',
  ),
  'unchecked-solution': entry(
    'UncheckedSolutionError',
    false,
    409,
    2,
    'Create evaluation jobs with addGuardedEvaluation, and take the script from checkedSolution alone.',
  ),
  'wait-timeout': entry(
    'JobError',
    true,
    504,
    2,
    'The job continues: wait longer, or ask later with its id.',
  ),
  internal: entry(
    'InternalError',
    true,
    500,
    2,
    'This is a defect of solution-fleet; report it with the message.',
  ),

  // What the HTTP API refuses
  'malformed-request': entry(
    'RequestError',
    false,
    400,
    2,
    'Send the request as /docs describes it: JSON in UTF-8, known parameters, nesting within the limit.',
  ),
  unauthenticated: entry(
    'RequestError',
    false,
    401,
    2,
    'Send a valid token (Authorization: Bearer …); `fleet token add` creates one.',
  ),
  forbidden: entry(
    'RequestError',
    false,
    403,
    2,
    'Use a token with a role that allows this, from a page of this gateway or from a program.',
  ),
  'route-not-found': entry('RequestError', false, 404, 2, 'Use one of the routes that /docs lists.'),
  'method-not-allowed': entry(
    'RequestError',
    false,
    405,
    2,
    'Use one of the methods that the Allow header lists.',
  ),
  'unsupported-media-type': entry(
    'RequestError',
    false,
    415,
    2,
    'Send the body as application/json, without a content encoding.',
  ),
  'too-many-requests': entry(
    'RequestError',
    true,
    429,
    2,
    'Wait as long as Retry-After says, or raise FLEET_REQUESTS_PER_MINUTE.',
  ),
  'too-many-waiting': entry(
    'RequestError',
    true,
    429,
    2,
    'Wait as long as Retry-After says, start more workers, or raise FLEET_MAX_WAITING.',
  ),
  'too-many-open': entry(
    'RequestError',
    true,
    429,
    2,
    'Close some of what the message names, or wait as long as Retry-After says; the gateway’s settings have the limits.',
  ),
  'request-too-slow': entry(
    'RequestError',
    true,
    408,
    2,
    'Send the body without pauses, or in smaller requests.',
  ),
  'gateway-busy': entry(
    'RequestError',
    true,
    503,
    2,
    'Wait as long as Retry-After says, then send it again.',
  ),
  'tenant-not-allowed': entry(
    'PayloadError',
    false,
    422,
    2,
    'Name the tenant that the token is bound to, or none.',
  ),
  'model-not-allowed': entry(
    'PayloadError',
    false,
    422,
    2,
    'Name a model that FLEET_MODELS of the gateway lists, or none.',
  ),
  'workspace-not-allowed': entry(
    'PayloadError',
    false,
    422,
    2,
    'Name a directory below one that FLEET_WORKSPACE_ROOTS of the gateway lists; its workers need the same setting.',
  ),
  'lease-lost': entry(
    'JobError',
    false,
    409,
    2,
    'Drop the work: the lease ran out and the evaluation belongs to another worker. Send heartbeats more often.',
  ),

  // Parts that the fleet depends on
  'gateway-unreachable': entry(
    'GatewayError',
    true,
    503,
    2,
    'Start the gateway (fleet serve), or correct its address.',
  ),
  'redis-unreachable': entry('RedisError', true, 503, 2, 'Start Redis or correct FLEET_REDIS_URL.'),
  'redis-unsuitable': entry('RedisError', false, 503, 2, 'Change the Redis server as the message says.'),
  'redis-full': entry(
    'RedisError',
    true,
    503,
    2,
    'Nothing was stored: wait until jobs have ended, remove jobs, or give Redis more memory.',
  ),
  'redis-missing': entry('RedisError', false, 503, 2, 'Install redis-server, or set FLEET_REDIS_URL.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;
