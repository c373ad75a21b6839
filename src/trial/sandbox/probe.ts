import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { runInside } from './run-inside.js';
import type { RunLimits, Sandbox } from './sandbox.js';

const AnswerSchema = z.object({
  problems: z.array(z.string()),
  python: z.string(),
  libraries: z.array(z.string()),
});
/** What a sandbox turned out to be. */
export type Probed = Pick<z.infer<typeof AnswerSchema>, 'python' | 'libraries'>;

/** Longest probe, in seconds. */
const PROBE_SECONDS = 120;

/**
 * Runs a program in a sandbox that tries to get out of it: to a file, a server, a process and the environment of this
 * program, and beyond the limits.
 *
 * @throws Error that says what does not hold.
 */
export async function probeSandbox(
  sandbox: Sandbox,
  libraries: readonly string[],
  { memoryMb }: RunLimits,
): Promise<Probed> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-trial-'));
  const marker = join(folder, 'marker');
  const server = createServer((socket) => socket.destroy());
  const variable = `FLEET_PROBE_${randomBytes(8).toString('hex').toUpperCase()}`;
  try {
    await writeFile(marker, 'a file of the host');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    process.env[variable] = 'set';
    const task = {
      do: 'probe',
      marker,
      port: (server.address() as AddressInfo).port,
      pid: process.pid,
      began: (await readFile('/proc/self/stat', 'utf8')).split(') ').at(-1)?.split(' ')[19],
      variable,
      folders: ['/', '/usr', '/etc', '/dev', '/var/tmp', homedir(), folder],
      memoryMb,
    };
    const answer = await runInside(sandbox, task, { seconds: PROBE_SECONDS, libraries });
    const { problems, python, libraries: found } = AnswerSchema.parse(answer);
    if (problems.length > 0) throw new Error(`it does not isolate: ${problems.join('; ')}`);
    return { python, libraries: found };
  } finally {
    delete process.env[variable];
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
