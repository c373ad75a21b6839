import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packagePath } from '../../package-root.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { addSolutionCheck } from '../../producers/solution-check.js';
import type { Colors } from '../terminal/colors.js';
import { print } from '../terminal/print.js';
import { renderCheck } from '../terminal/render-check.js';
import { widthOf } from '../terminal/wrapped.js';

/** Checks the shipped example scripts, all at once, and shows them in order. */
export async function showLeakageChecks(
  fleet: FleetClient,
  colors: Colors,
  signal: AbortSignal,
): Promise<void> {
  const folder = packagePath('examples', 'scripts');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  print(`${colors.bold('solution-check')}: ${names.length} example scripts`);
  const checks = await Promise.all(
    names.map(async (name) => {
      const content = await readFile(join(folder, name), 'utf8');
      return { name, content, handle: await addSolutionCheck(fleet, { solution: { content } }) };
    }),
  );
  for (const { name, content, handle } of checks) {
    const result = await handle.result({ signal });
    const shown = { file: name, script: content, result };
    print(`\n${renderCheck(shown, colors, { width: widthOf(process.stdout) })}`);
  }
}
