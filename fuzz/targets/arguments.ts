import { CommanderError } from 'commander';
import { commandsByName, createProgram } from '../../src/cli/program.js';
import { mustHold, type Target } from '../target.js';

const COMMANDS = commandsByName(await createProgram());
const NAMES = [...COMMANDS.keys()];
const FLAGS = [...COMMANDS.values()].flatMap((command) =>
  command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long])),
);
const VALUES = [
  '1',
  '0',
  '-1',
  '7d',
  '30m',
  '12h',
  '1.5',
  '1e3',
  'json',
  'high',
  '-',
  '--',
  'x.py',
  '=',
  'a=b',
];

export const cliArguments: Target = {
  name: 'cli-arguments',
  about: 'arguments of every command, without what the command does',
  generate: (source) => {
    const command = source.pick(NAMES).split(' ');
    const rest = [...Array(source.below(6))].map(() =>
      source.chance(0.5) ? source.pick(FLAGS) : source.word(VALUES),
    );
    return [...command, ...rest];
  },
  refuses: (thrown) => thrown instanceof CommanderError,
  open: () => ({
    run: async (input) => {
      let parsed: unknown;
      const program = await createProgram();
      for (const command of [program, ...commandsByName(program).values()]) {
        command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
      }
      for (const command of commandsByName(program).values()) {
        if (command.commands.length > 0) continue;
        command.action((...values: unknown[]) => {
          parsed = [command.name(), values.slice(0, -1)];
          for (const value of Object.values(command.opts())) {
            mustHold(typeof value !== 'number' || Number.isFinite(value), 'a number is one');
          }
        });
      }
      await program.parseAsync([...input], { from: 'user' });
      return parsed;
    },
  }),
};
