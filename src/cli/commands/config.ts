import type { Command } from 'commander';
import { chooseRunner, configuredModel } from '../../agents/select-runner.js';
import { describeConfig, loadConfig } from '../../config/load-config.js';
import { redactData, redactSecrets } from '../../config/redact.js';
import { type Config, SETTINGS } from '../../config/settings.js';
import { FleetError, messageOf } from '../../errors.js';
import { projectStatePath } from '../../fleet/project-state.js';
import { errorJson, printError } from '../print-error.js';
import { assertStartable } from '../start/assert-startable.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson } from '../terminal/print.js';
import { shownAddress, withoutPasswords } from '../without-passwords.js';

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('Show the configuration in use, and where each value comes from.')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 every value can be used, 2 one cannot.')
    .action(async (options: { readonly json?: true }) => {
      const entries = describeConfig().map(({ variable, value, source }) => ({
        variable,
        value: shownValue(variable, value),
        source,
      }));
      const config = loadConfig();
      const agent = chooseRunner(config.agent);
      const model = redactSecrets(configuredModel(config) ?? '');
      const embeddedRedis =
        config.redisUrl === undefined ? redactSecrets(dataLocation(config.dataDirectory)) : null;
      const problem = await startProblem(config);
      if (problem !== undefined) process.exitCode = printError(problem).entry.exitCode;
      if (options.json) {
        const error = problem === undefined ? null : errorJson(problem);
        printJson(
          { settings: entries, agent: agent.name, model: model === '' ? null : model, embeddedRedis, error },
          2,
        );
        return;
      }
      const colors = colorsFor(process.stdout);
      const width = Math.max(...entries.map(({ variable }) => variable.length));
      for (const { variable, value, source } of entries) {
        const shown = value === null ? colors.dim('unset') : escapeControlCharsInLine(String(value));
        const from = source === 'environment' ? ` ${colors.cyan('(environment)')}` : '';
        print(`${variable.padEnd(width)}  ${shown}${from}`);
      }
      if (embeddedRedis !== null) {
        print(`data of the embedded Redis: ${escapeControlCharsInLine(embeddedRedis)}`);
      }
      const inUse =
        agent.name === 'offline' || model === '' ? '' : `, model ${escapeControlCharsInLine(model)}`;
      print(`${agent.reason}${inUse}`);
    });
}

/** Why a worker or a gateway with this configuration would not start. */
async function startProblem(config: Config): Promise<FleetError | undefined> {
  try {
    await assertStartable(config, ['gateway', 'worker']);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof FleetError)) throw thrown;
    return thrown;
  }
}

const JSON_SETTINGS: ReadonlySet<string> = new Set([
  SETTINGS.modelLimits.variable,
  SETTINGS.modelPrices.variable,
]);

function shownValue(variable: string, value: unknown): unknown {
  if (JSON_SETTINGS.has(variable) && value !== undefined) return JSON.stringify(value);
  if (typeof value !== 'string') return redactData(value ?? null);
  return redactSecrets(
    variable === SETTINGS.redisUrl.variable ? shownAddress(value) : withoutPasswords(value),
  );
}

/** Where the embedded Redis of a project stores its data, or why there is no such folder. */
function dataLocation(project: string): string {
  try {
    return projectStatePath(project);
  } catch (thrown) {
    return messageOf(thrown);
  }
}
