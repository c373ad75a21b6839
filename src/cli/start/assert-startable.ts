import { resolve } from 'node:path';
import { chooseRunner } from '../../agents/select-runner.js';
import { isProgram } from '../../config/find-program.js';
import { isSet } from '../../config/load-config.js';
import { type Config, SETTINGS, type SettingName } from '../../config/settings.js';
import { ConfigurationError } from '../../errors.js';

/** What a command runs in this process, or in one of its own. */
export type Part = 'worker' | 'gateway' | 'analysis';

/**
 * Asserts that the parts which a command runs can use the configuration, before anything is opened: what is wrong would
 * otherwise fail job after job.
 * @throws ConfigurationError, PromptError or KindError: one sentence that names the setting, the prompt or the module.
 */
export async function assertStartable(config: Config, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return;
  if (parts.includes('analysis')) return assertPrograms(config);
  await assertWorkable(config, parts);
}

/** For parts that do jobs. Most commands load none of what is asked here. */
async function assertWorkable(config: Config, parts: readonly Part[]): Promise<void> {
  const [{ knownKinds }, { assertWorkspaceRoots }] = await Promise.all([
    import('../known-kinds.js'),
    import('../../agents/workspace/assert-roots.js'),
  ]);
  await knownKinds(config);
  const roots = config.workspaceRoots?.map((root) => resolve(root)) ?? [];
  const isWorker = parts.includes('worker');
  // A gateway compares names: the directories may be those of the workers' machines.
  assertWorkspaceRoots(roots, SETTINGS.workspaceRoots.variable, { mayBeMissing: !isWorker });
  if (!isWorker) return;
  const [{ PromptRegistry }, { assertCredentials }, { assertModels }] = await Promise.all([
    import('../../agents/prompt-registry.js'),
    import('../../agents/assert-credentials.js'),
    import('../../calls/assert-models.js'),
  ]);
  PromptRegistry.shared();
  assertCredentials(chooseRunner(config.agent));
  assertBatches(config);
  assertModels(config);
  assertPrograms(config);
}

/** Agents without batches would send every call at the full price, and nobody would notice. */
function assertBatches({ agent, batchAfterMs }: Config): void {
  if (agent !== 'openai' || batchAfterMs === undefined) return;
  const { variable } = SETTINGS.batchAfterMs;
  throw new ConfigurationError(
    `${variable}: is set, but FLEET_AGENT=openai has no batches; unset one of them`,
    { field: variable },
  );
}

/** Programs that work is done with. Those that no setting names may be missing. */
function assertPrograms(config: Config): void {
  if (process.platform === 'win32') return;
  assertProgram('python', config.python);
  assertProgram('trialPython', config.trialPython);
  const [sandbox = ''] = config.trialSandbox.trim().split(/\s+/);
  if (sandbox !== 'auto' && sandbox !== 'off') assertProgram('trialSandbox', sandbox);
}

function assertProgram(name: SettingName, command: string | undefined): void {
  if (command === undefined || command === '' || !isSet(name) || isProgram(command)) return;
  const { variable } = SETTINGS[name];
  const problem = 'is not a program: neither a name on the PATH nor the path of an executable file';
  throw new ConfigurationError(`${variable}: ${JSON.stringify(command)} ${problem}`, { field: variable });
}
