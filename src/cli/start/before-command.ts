import type { Command } from 'commander';
import { unknownSettings } from '../../config/setting-names.js';
import type { Config } from '../../config/settings.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { printNote } from '../terminal/print.js';
import { assertStartable } from './assert-startable.js';
import { COMMAND_PARTS } from './command-parts.js';
import { type ConfigOptions, configWith } from './config-with.js';

/**
 * Done before each command: refuses a configuration that the command cannot use, and names variables without effect.
 * @throws ConfigurationError, PromptError or KindError.
 */
export async function beforeCommand(command: Command): Promise<Config> {
  const options: ConfigOptions & { readonly workers?: number; readonly wait?: true } = command.opts();
  const config = configWith(options);
  for (const name of unknownSettings(process.env)) {
    printNote(
      escapeControlCharsInLine(
        `${name} has no effect: it is not one of the settings that docs/configuration.md lists`,
      ),
    );
  }
  await assertStartable(config, COMMAND_PARTS[topLevelName(command)]?.(config, options) ?? []);
  return config;
}

/** `known` of `fleet known import`. */
function topLevelName(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : topLevelName(parent);
}
