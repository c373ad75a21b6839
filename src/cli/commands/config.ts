import type { Command } from 'commander';
import { DEFAULT_MODEL } from '../../agents/default-model.js';
import { chooseRunner } from '../../agents/select-runner.js';
import { describeConfig, loadConfig } from '../../config/load-config.js';
import { coloursFor } from '../terminal/colours.js';
import { visible } from '../terminal/visible.js';
import { withoutPasswords } from '../without-passwords.js';

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('Show the configuration that is in force, and where each value comes from.')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => {
      const entries = describeConfig().map(({ variable, value, source }) => ({
        variable,
        value: typeof value === 'string' ? withoutPasswords(value) : (value ?? null),
        source,
      }));
      const config = loadConfig();
      const agent = chooseRunner(config.agent);
      const model = config.model ?? DEFAULT_MODEL;
      if (options.json) {
        process.stdout.write(`${JSON.stringify({ settings: entries, agent: agent.name, model }, null, 2)}\n`);
        return;
      }
      const colours = coloursFor(process.stdout);
      const width = Math.max(...entries.map(({ variable }) => variable.length));
      for (const { variable, value, source } of entries) {
        const shown = value === null ? colours.dim('unset') : visible(String(value));
        const from = source === 'environment' ? ` ${colours.cyan('(environment)')}` : '';
        process.stdout.write(`${variable.padEnd(width)}  ${shown}${from}\n`);
      }
      process.stdout.write(
        `${agent.reason}${agent.name === 'anthropic' ? `, model ${visible(model)}` : ''}\n`,
      );
    });
}
