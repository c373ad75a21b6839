import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { must } from '../testing/checks.js';
import type { Docker } from './docker.js';
import { RootFileSystem } from './root-file-system.js';

/** How long a registry may take to say that it has an image, in milliseconds. */
const PULL_MS = 30_000;

/** An image that others are built on, or that Compose starts. */
interface BaseImage {
  readonly tag: string;
  /** Fills a root file system with the programs of this machine; returns what `docker import --change` takes. */
  fill(root: RootFileSystem): Promise<readonly string[]>;
}

/** Which base images are there, and where each is from. */
export type Origins = ReadonlyMap<string, string>;

const NODE: BaseImage = {
  tag: 'node:20-bookworm-slim',
  fill: async (root) => {
    await root.addDebian();
    root.addUser('node', 1_000);
    await root.addNode();
    root.addConfiguration();
    return [...root.environment().map((line) => `ENV ${line}`), 'CMD ["node"]'];
  },
};

/** As the official image does: the server accepts connections of other machines, and runs as a user of its own. */
const REDIS: BaseImage = {
  tag: 'redis:7.4-alpine',
  fill: async (root) => {
    await root.addDebian();
    root.addUser('redis', 999);
    await root.addProgram('redis-server');
    await root.addProgram('redis-cli');
    root.writeProgram(
      '/usr/local/bin/entrypoint',
      '#!/bin/sh\n[ "$1" != redis-server ] || exec "$@" --protected-mode no\nexec "$@"\n',
    );
    root.folder('/data', { owner: 999 });
    return [
      'USER 999:999',
      'VOLUME /data',
      'WORKDIR /data',
      'ENTRYPOINT ["/usr/local/bin/entrypoint"]',
      'CMD ["redis-server"]',
    ];
  },
};

const PROMETHEUS: BaseImage = {
  tag: 'prom/prometheus:v2.55.1',
  fill: async (root) => {
    await root.addDebian();
    await root.addProgram('prometheus');
    root.folder('/prometheus', { owner: 65_534 });
    root.folder('/etc/prometheus');
    return [
      'USER 65534:65534',
      'WORKDIR /prometheus',
      'ENTRYPOINT ["/usr/local/bin/prometheus"]',
      'CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]',
    ];
  },
};

const NEEDED = [NODE, REDIS];
/** Compose is tried with them only where they can be had. */
const OPTIONAL = [PROMETHEUS];

/**
 * Makes sure that the base images are there. They are pulled; where that fails and the engine is our own, they are made of the
 * packages of this machine, which must be a Debian: the same files in another order.
 */
export async function provideBaseImages(docker: Docker, isOwn: boolean): Promise<Origins> {
  const origins = new Map<string, string>();
  for (const image of NEEDED) origins.set(image.tag, await provide(docker, image, isOwn));
  for (const image of OPTIONAL) {
    try {
      origins.set(image.tag, await provide(docker, image, isOwn));
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      process.stdout.write(`       without ${image.tag}: ${reason.split('\n')[0]}\n`);
    }
  }
  return origins;
}

async function provide(docker: Docker, image: BaseImage, isOwn: boolean): Promise<string> {
  if (await docker.hasImage(image.tag)) return 'there before';
  const pulled = await docker.try(['pull', '--quiet', image.tag], { timeoutMs: PULL_MS });
  if (pulled.exitCode === 0) return 'pulled';
  // An engine of somebody else must not get an image that looks like the official one.
  must(isOwn, `${image.tag} cannot be pulled: ${pulled.stderr.trim()}`);
  const began = performance.now();
  await importImage(docker, image);
  return `made in ${Math.round((performance.now() - began) / 1_000)} s of the packages of this machine`;
}

async function importImage(docker: Docker, { tag, fill }: BaseImage): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'base-image-'));
  try {
    const root = new RootFileSystem(join(folder, 'root'));
    const changes = await fill(root);
    const archive = join(folder, 'root.tar');
    await execa('tar', ['--directory', root.folderPath, '--create', '--file', archive, '.']);
    await docker.run(['import', ...changes.flatMap((change) => ['--change', change]), archive, tag]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
