import { runsHere } from './where-jobs-run.js';

/** Commands that analyze files in this process if no model does. */
const ANALYZING: readonly (string | undefined)[] = ['check', 'refine', 'watch', 'lsp'];

/** Those of them that never ask a model. */
const OFFLINE_ONLY: readonly (string | undefined)[] = ['watch', 'lsp'];

/** The default of FLEET_ANALYSIS_HEAP_MB. */
const DEFAULT_HEAP_MB = 512;

/**
 * Starts the thread that will analyze while the command is still being loaded, which takes as long as the thread does. It looks at the
 * environment only: the configuration is checked later, and a thread that is not used ends with the process.
 */
export function startAnalysisEarly(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): void {
  if (!ANALYZING.includes(args[0]) || args.includes('--help') || args.includes('-h')) return;
  const isOffline =
    OFFLINE_ONLY.includes(args[0]) || args.includes('--offline') || environment.FLEET_AGENT === 'offline';
  const agent = isOffline ? 'offline' : 'auto';
  const isOther = !isOffline && !['', 'auto', undefined].includes(environment.FLEET_AGENT);
  if (isOther || !runsHere({ agent, redisUrl: environment.FLEET_REDIS_URL || undefined })) return;
  const heapMb = Number(environment.FLEET_ANALYSIS_HEAP_MB);
  // What fails here fails again, with its reason, when the command does it.
  start(args[0], heapMb > 0 ? heapMb : DEFAULT_HEAP_MB).catch(() => undefined);
}

async function start(command: string | undefined, heapMb: number): Promise<void> {
  const [{ startAnalysisThread }, { startPython }] = await Promise.all([
    import('../../fleet/start-analysis-thread.js'),
    import('../../solution/parses-as-python.js'),
  ]);
  startAnalysisThread(heapMb);
  startPython();
  if (command !== 'check') return;
  // These load each other one after the other, and each waits for its file.
  await Promise.all([
    import('../commands/check.js'),
    import('../check/check-here.js'),
    import('../../processors/solution-check.js'),
  ]);
}
