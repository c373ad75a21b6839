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

/** Exit code of a command that ends with an error of the table. */
const EXIT_CODE = 2;

function entriesOf(className: string) {
  const entry = (retryable: boolean, httpStatus: number, whatToDo: string): ErrorEntry => ({
    class: className,
    retryable,
    httpStatus,
    exitCode: EXIT_CODE,
    whatToDo,
  });
  return {
    retryable: (httpStatus: number, whatToDo: string) => entry(true, httpStatus, whatToDo),
    /** The same request fails again. */
    permanent: (httpStatus: number, whatToDo: string) => entry(false, httpStatus, whatToDo),
  };
}

const payload = entriesOf('PayloadError');
const usage = entriesOf('UsageError');
const configuration = entriesOf('ConfigurationError');
const kind = entriesOf('KindError');
const blockNotFound = entriesOf('BlockNotFoundError');
const unclosedFence = entriesOf('UnclosedFenceError');
const prompt = entriesOf('PromptError');
const agent = entriesOf('AgentError');
const analysisLimit = entriesOf('AnalysisLimitError');
const trial = entriesOf('TrialError');
const callRefused = entriesOf('CallRefusedError');
const job = entriesOf('JobError');
const uncheckedSolution = entriesOf('UncheckedSolutionError');
const refusedSolution = entriesOf('RefusedSolutionError');
const internal = entriesOf('InternalError');
const request = entriesOf('RequestError');
const gateway = entriesOf('GatewayError');
const redis = entriesOf('RedisError');

export const ERROR_TABLE = {
  // What was handed in
  'invalid-payload': payload.permanent(422, 'Correct the named field and submit again.'),
  'payload-too-large': payload.permanent(
    413,
    'Shorten the named text, or raise the limit in the configuration.',
  ),
  'newer-contract': payload.retryable(
    409,
    'Upgrade the workers: the job waits for one that knows this contract version.',
  ),
  'unknown-kind': usage.permanent(
    404,
    'Use one of the kinds that the message lists. For a kind of your own, set FLEET_KINDS_FROM to its module; a program passes the kind in `kinds`.',
  ),
  usage: usage.permanent(400, 'Correct the command or the argument as the message says.'),
  'unreadable-input': usage.permanent(400, 'Name a readable, non-empty text file.'),
  'unwritable-output': usage.permanent(
    400,
    'Make the file and its folder writable, or print the correction and apply it yourself.',
  ),
  'invalid-configuration': configuration.permanent(
    500,
    'Correct the named variable; `fleet config` shows the values in use and where they come from.',
  ),
  'invalid-kind': kind.permanent(
    500,
    'Correct the module that the message names, or take it out of --kinds-from and FLEET_KINDS_FROM.',
  ),

  // Pure functions
  'block-not-found': blockNotFound.permanent(422, 'Pass a block that is in the solution.'),
  'unclosed-fence': unclosedFence.permanent(502, 'Ask again with a larger token limit.'),
  'prompt-variable': prompt.permanent(500, 'Pass every variable of the prompt exactly once, and no other.'),
  'prompt-not-found': prompt.permanent(500, 'Correct the prompt name or the FLEET_PROMPTS folder.'),

  // Agent calls
  'answer-truncated': agent.permanent(502, 'Raise FLEET_MAX_TOKENS, or submit a shorter script.'),
  'answer-refused': agent.permanent(502, 'Read the refusal; use another model or another script.'),
  'answer-invalid': agent.permanent(
    502,
    'Read the raw answer stored with the error; a stronger model may follow the schema.',
  ),
  'offline-answer-invalid': agent.permanent(
    500,
    'Correct `offline` of the agent, so that its answer matches `outputSchema`; without a schema it is a text that is not empty.',
  ),
  'answer-incomplete': agent.retryable(502, 'Nothing: the call is tried again.'),
  'answer-unknown-stop': agent.permanent(
    502,
    'Upgrade solution-fleet: the provider ended the answer in a way this version does not know.',
  ),
  'cannot-analyze': agent.permanent(
    422,
    'Mend the lines that the message names if they are not valid Python; else let a model check the script (FLEET_AGENT=anthropic), or check it by hand.',
  ),
  'analysis-exhausted': agent.permanent(
    422,
    'Simplify the script, or let a model check it (FLEET_AGENT=anthropic).',
  ),
  'analysis-limit': analysisLimit.permanent(
    422,
    'Shorten or simplify the text that was analyzed; or raise FLEET_ANALYSIS_TIMEOUT_MS or FLEET_ANALYSIS_HEAP_MB of the workers.',
  ),
  'trial-unavailable': trial.permanent(
    422,
    'Install bubblewrap, and Python with numpy and pandas (FLEET_TRIAL_PYTHON), on the worker; or set FLEET_TRIAL_SANDBOX to the command of another sandbox; or submit the job without `trial`.',
  ),
  'tool-loop': agent.permanent(502, 'The agent kept calling tools without an answer; shorten its task.'),
  'context-exceeded': agent.permanent(422, 'Submit a shorter text, or use a model with a larger window.'),
  'call-idle': agent.retryable(504, 'Nothing: the call is tried again.'),
  'call-timeout': agent.retryable(504, 'Raise FLEET_CALL_TIMEOUT_MS if answers really take this long.'),
  'call-cancelled': agent.retryable(409, 'Nothing: the job was cancelled, or its worker is stopping.'),
  'rate-limited': agent.retryable(429, 'Wait, or raise the limit at the provider.'),
  overloaded: agent.retryable(503, 'Wait: the provider is overloaded.'),
  unreachable: agent.retryable(503, 'Check the network and ANTHROPIC_BASE_URL (OPENAI_BASE_URL).'),
  unauthorized: agent.permanent(401, 'Set a valid ANTHROPIC_API_KEY (OPENAI_API_KEY) on the worker.'),
  'bad-request': agent.permanent(400, 'Read the message of the provider and change the request.'),
  'unknown-model': agent.permanent(404, 'Use a model id that the provider knows (FLEET_MODEL).'),

  // Calls that the fleet does not send
  'budget-exhausted': callRefused.permanent(
    402,
    'Raise FLEET_BUDGET_USD, or wait for the next day (UTC), then `fleet retry ID`. If the budget of the run or the job is used up, submit the job again with its key and a larger `budgetUsd`.',
  ),
  'quota-exhausted': callRefused.permanent(
    429,
    'Raise the limit at the provider, or buy credit; `fleet retry ID` then continues where the job stopped.',
  ),
  'answers-broken-off': callRefused.retryable(
    503,
    'Nothing: the job is tried again. If it failed, look at the state of the provider, then `fleet retry ID`.',
  ),
  'call-in-doubt': callRefused.permanent(
    409,
    'Look whether the provider billed the call; `fleet retry ID` sends it again.',
  ),

  // Jobs
  'lock-lost': job.retryable(409, 'Nothing: another worker has taken the job over.'),
  'killed-its-worker': job.permanent(
    500,
    'Read the workers’ last log lines and give them more memory, or hand in another script.',
  ),
  'job-not-found': job.permanent(404, 'Check the id; finished jobs are removed after the retention time.'),
  'job-cancelled': job.permanent(409, 'Submit the job again if you still need it.'),
  'job-already-ended': job.permanent(409, 'Nothing: the job has its outcome; `fleet get ID` shows it.'),
  'job-failed': job.permanent(
    500,
    'Read the reason on the job. If its script is wrong, submit a corrected one; once another cause is mended, `fleet retry ID` runs it again.',
  ),
  'job-not-retryable': job.permanent(409, 'Only a failed job can be run again; submit a new one.'),
  'child-failed': job.retryable(502, 'Run the failed child job again; this job then continues.'),
  'child-changed': job.permanent(
    500,
    'Correct the processor: each attempt must start the same children with the same payloads. `fleet retry ID` then starts the changed ones.',
  ),
  'child-limit': job.permanent(422, 'Start fewer children, or fewer jobs that wait for each other.'),
  'key-conflict': job.permanent(409, 'Use another key: this one names a job with another payload.'),
  'job-timeout': job.permanent(
    504,
    'Raise FLEET_JOB_TIMEOUT_MS if jobs really take this long; `fleet retry ID` continues with the recorded answers.',
  ),
  'handler-ignored-abort': job.permanent(
    500,
    'The code that ran the job did not stop when it was aborted, and its slot was freed; restart the worker.',
  ),
  'payload-missing': job.retryable(
    500,
    'Check Redis: a text of the job is missing or was changed; submit the job again with `force`.',
  ),
  'broken-record': job.retryable(
    500,
    'Check Redis: the record that the message names is damaged; submit the job again with `force`.',
  ),
  'unchecked-solution': uncheckedSolution.permanent(
    409,
    'Create evaluation jobs with addGuardedEvaluation, and take the script from checkedSolution alone.',
  ),
  'solution-refused': refusedSolution.permanent(
    409,
    'Read in the message which check says what: hand in another script, or require less of it (`require`, `onUncorrected`, `allowUnjudged`).',
  ),
  'wait-timeout': job.retryable(504, 'The job continues: wait longer, or ask later with its id.'),
  'processor-failed': job.retryable(
    500,
    'Correct the processor of the kind: the message is what it threw, or what is wrong with its result.',
  ),
  internal: internal.retryable(500, 'This is a defect of solution-fleet; report it with the message.'),

  // What the HTTP API refuses
  'malformed-request': request.permanent(
    400,
    'Send the request as /docs describes it: JSON in UTF-8, known parameters, nesting within the limit.',
  ),
  unauthenticated: request.permanent(
    401,
    'Send a valid token (Authorization: Bearer …); `fleet token add` creates one.',
  ),
  forbidden: request.permanent(
    403,
    'Use a token with a role that allows this, from a page of this gateway or from a program.',
  ),
  'route-not-found': request.permanent(404, 'Use one of the routes that /docs lists.'),
  'method-not-allowed': request.permanent(405, 'Use one of the methods that the Allow header lists.'),
  'unsupported-media-type': request.permanent(
    415,
    'Send the body as application/json, without a content encoding.',
  ),
  'too-many-requests': request.retryable(
    429,
    'Wait as long as Retry-After says, or raise FLEET_REQUESTS_PER_MINUTE.',
  ),
  'too-many-waiting': request.retryable(
    429,
    'Wait as long as Retry-After says, start more workers, or raise FLEET_MAX_WAITING.',
  ),
  'too-many-open': request.retryable(
    429,
    'Close some of what the message names, or wait as long as Retry-After says; the gateway’s settings have the limits.',
  ),
  'request-too-slow': request.retryable(408, 'Send the body without pauses, or in smaller requests.'),
  'gateway-busy': request.retryable(503, 'Wait as long as Retry-After says, then send it again.'),
  'tenant-not-allowed': payload.permanent(422, 'Name the tenant that the token is bound to, or none.'),
  'model-not-allowed': payload.permanent(
    422,
    'Name a model that FLEET_MODELS of the gateway lists, or none.',
  ),
  'workspace-not-allowed': payload.permanent(
    422,
    'Name a directory below one that FLEET_WORKSPACE_ROOTS of the gateway lists; its workers need the same setting.',
  ),
  'lease-lost': job.permanent(
    409,
    'Drop the work: the lease ran out and the evaluation belongs to another worker. Send heartbeats more often.',
  ),

  // Parts that the fleet depends on
  'gateway-unreachable': gateway.retryable(503, 'Start the gateway (fleet serve), or correct its address.'),
  'newer-gateway': request.permanent(
    501,
    'Do what the message says. Its code in brackets is one of a newer gateway: upgrade the client to match it.',
  ),
  'redis-unreachable': redis.retryable(
    503,
    'Start Redis or correct FLEET_REDIS_URL; if the message has a sentence of Redis, mend what it says.',
  ),
  'redis-unsuitable': redis.permanent(503, 'Change the Redis server as the message says.'),
  'redis-full': redis.retryable(
    503,
    'Nothing was stored: wait until jobs have ended, remove jobs, or give Redis more memory.',
  ),
  'redis-missing': redis.permanent(503, 'Install redis-server, or set FLEET_REDIS_URL.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_TABLE;
