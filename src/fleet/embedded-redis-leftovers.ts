import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONTROL_SOCKET, REDIS_SOCKET, THROWAWAY_PREFIX } from './embedded-redis-protocol.js';
import { connectTo, stopLeftoverServer } from './embedded-redis-server.js';
import { currentUser, lstatIfThere } from './safe-folders.js';

/** A folder younger than this may not have a supervisor yet, in milliseconds. */
const MIN_AGE_MS = 60_000;

/** Removes the folder of a temporary server that has ended. */
export function removeThrowawayFolder(folder: string): void {
  // A server that is ending may still write a file between listing and removing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * Removes the folders of this user's temporary servers whose supervisor was killed, and ends the server if it still runs.
 * A supervisor that answers is left alone: its process may be in another container, where it is not visible.
 */
export async function sweepThrowawayFolders(parent: string, minAgeMs = MIN_AGE_MS): Promise<void> {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(THROWAWAY_PREFIX)) continue;
    const path = join(parent, name);
    const found = lstatIfThere(path);
    if (found?.isDirectory() !== true || found.uid !== currentUser()) continue;
    if (Date.now() - found.mtimeMs < minAgeMs) continue;
    const supervisor = await connectTo(join(path, CONTROL_SOCKET));
    supervisor?.destroy();
    if (supervisor === undefined && (await stopLeftoverServer(join(path, REDIS_SOCKET)))) {
      removeThrowawayFolder(path);
    }
  }
}
