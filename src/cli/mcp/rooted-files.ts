import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { namesSecret } from '../../agents/workspace/secret-names.js';
import { isWithin } from '../../config/paths.js';
import type { Config } from '../../config/settings.js';
import { UsageError } from '../../errors.js';
import { readNotebook } from '../../leakage/notebook.js';
import type { ToolFiles } from '../../mcp/tool-host.js';
import type { ReadLimit } from '../read-file.js';
import { formatLimit, outputLimit, readOutput, readScript, readText, textLimit } from '../read-input.js';

/** A folder as its user named it, and without links. */
interface Root {
  readonly named: string;
  readonly real: string;
}

/** A file below one of the folders: its path without links, and that of its folder. */
interface FoundFile {
  readonly path: string;
  readonly root: string;
}

/**
 * Files that an agent names, below folders that its user gave. Links are followed first: what they lead to must be below one of the
 * folders too, and so must the file that is open in the end. No sentence says what there is outside of them.
 * @param roots folders, at least one
 */
export async function rootedFiles(roots: readonly string[], config: Config): Promise<ToolFiles> {
  const isRefused = (path: string) => config.workspaceSecrets !== 'allow' && namesSecret(path);
  const folders = await Promise.all(
    roots.map(async (root): Promise<Root> => ({ named: resolve(root), real: await realpath(root) })),
  );
  const limits = { text: textLimit(config), output: outputLimit(config), format: formatLimit(config) };
  const read = async <T>(
    named: string,
    limit: ReadLimit,
    reading: (path: string, limit: ReadLimit) => Promise<T>,
  ) => {
    const { path, root } = await find(named, folders, isRefused);
    return reading(path, { ...limit, within: root });
  };
  return {
    script: async (named) => {
      if (!named.endsWith('.ipynb')) return { content: (await read(named, limits.text, readScript)).text };
      const notebook = readNotebook(await read(named, limits.format, readText));
      if (notebook.language !== undefined)
        // Not what the file says it is: that would be a text of anybody's in a sentence of this program.
        throw new UsageError('unreadable-input', `${named}: the notebook is not of the language Python`);
      return { content: notebook.source, notebook };
    },
    text: (named) => read(named, limits.text, readText),
    output: (named) => read(named, limits.output, readOutput),
    compare: async (named, answer) => {
      const { path } = await find(named, folders, isRefused);
      const [{ readKnownFile }, { contaminationLane }] = await Promise.all([
        import('../../known/read-known-file.js'),
        import('../contamination-lane.js'),
      ]);
      const { solutions } = await readKnownFile(path);
      if (solutions.length === 0)
        throw new UsageError('unreadable-input', `${named} has no known solution that can be read`);
      const lane = contaminationLane(solutions, config);
      try {
        return await lane.check(answer);
      } finally {
        await lane.close();
      }
    },
  };
}

async function find(
  named: string,
  roots: readonly Root[],
  isRefused: (path: string) => boolean,
): Promise<FoundFile> {
  for (const root of roots) {
    const path = isAbsolute(named) ? named : join(root.real, named);
    // Nothing is looked at that is elsewhere by its name alone.
    if (!roots.some((one) => isWithin(path, one.named) || isWithin(path, one.real))) continue;
    const real = await realpath(path).catch(() => undefined);
    const parent = real === undefined ? undefined : roots.find((one) => isWithin(real, one.real));
    if (real === undefined || parent === undefined) continue;
    if (isRefused(relative(parent.real, real))) {
      const problem = 'is not read: its name says that it holds secrets (FLEET_WORKSPACE_SECRETS)';
      throw new UsageError('unreadable-input', `${named} ${problem}`);
    }
    return { path: real, root: parent.real };
  }
  const folders = roots.map((root) => root.named).join(', ');
  throw new UsageError(
    'unreadable-input',
    `${named} is not read: there is no such file below ${folders}, as --root says`,
  );
}
