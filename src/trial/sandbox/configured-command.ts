import { delimiter } from 'node:path';
import { programFolders } from '../../config/paths.js';
import type { Sandbox } from './sandbox.js';

/**
 * A sandbox that the operator brings: a command to which Python and its arguments are appended, such as `docker run --rm -i
 * --network none IMAGE`. It gets the folders of programs and the home folder, and no other variable.
 *
 * @param command words separated by spaces.
 */
export function commandSandbox(command: string, python: string): Sandbox {
  const [file = '', ...words] = command.split(/\s+/).filter((word) => word !== '');
  return {
    name: 'command',
    command: (pythonArguments) => ({
      file,
      args: [...words, python, ...pythonArguments],
      env: { PATH: programFolders().join(delimiter), HOME: process.env.HOME ?? '/' },
    }),
  };
}
