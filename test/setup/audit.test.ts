import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';

const ADVISORIES = '/-/npm/v1/security/advisories/bulk';
let registry: Server | undefined;
/** npm keeps what it heard of a package. */
let cache: string;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'fleet-audit-'));
});

afterEach(() => {
  registry?.closeAllConnections();
  registry?.close();
  registry = undefined;
  rmSync(cache, { recursive: true, force: true });
});

/** Starts a server that plays the registry, and gives its address. */
async function startRegistry(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  registry = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A registry that knows vulnerabilities of packages by their names. */
function knowing(severities: Readonly<Record<string, string>>): RequestListener {
  return (request, response) => {
    const name = decodeURIComponent(request.url ?? '').slice(1);
    response.setHeader('content-type', 'application/json');
    if (request.url === ADVISORIES) {
      const found = Object.entries(severities).map(([each, severity], id) => {
        const advisory = { id: id + 1, url: `https://advisories.invalid/${id}`, title: 'made up', severity };
        return [each, [{ ...advisory, vulnerable_versions: '>=0.0.0' }]];
      });
      response.end(JSON.stringify(Object.fromEntries(found)));
    } else if (name in severities) {
      const versions = { '1.0.0': { name, version: '1.0.0' } };
      response.end(JSON.stringify({ name, versions, 'dist-tags': { latest: '1.0.0' } }));
    } else {
      response.statusCode = 404;
      response.end('{}');
    }
  };
}

async function audit(address: string) {
  const { exitCode, stdout } = await execa(
    process.execPath,
    [packagePath('scripts', 'audit.mjs'), '--registry', address, '--cache', cache],
    { reject: false },
  );
  return { exitCode, lines: stdout.split('\n') };
}

describe('the audit of the packages that are needed to run', () => {
  it('passes what is moderate, and what is needed for development alone', async () => {
    const address = await startRegistry(knowing({ zod: 'moderate', vitest: 'critical' }));
    const { exitCode, lines } = await audit(address);
    expect(lines.at(-1)).toMatch(/^audit: 0 high or critical of [1-9]\d* known/);
    expect(exitCode).toBe(0);
  });

  it('fails on what is high, and names it', async () => {
    const { exitCode, lines } = await audit(await startRegistry(knowing({ zod: 'high' })));
    expect(lines.join('\n')).toMatch(/^audit: high: zod .*made up https:\/\/advisories\.invalid\/0$/m);
    expect(exitCode).toBe(1);
  });

  it('says in one line that a registry answers 405, and fails nothing', async () => {
    const address = await startRegistry((_request, response) => {
      response.statusCode = 405;
      response.end('no');
    });
    const { exitCode, lines } = await audit(address);
    expect(lines).toEqual([expect.stringMatching(/^audit: not checked, the registry gave no answer .*405/)]);
    expect(exitCode).toBe(0);
  });

  it('says in one line that no registry is there, and fails nothing', async () => {
    const address = await startRegistry(() => undefined);
    registry?.close();
    const { exitCode, lines } = await audit(address);
    expect(lines).toEqual([expect.stringMatching(/^audit: not checked, the registry gave no answer /)]);
    expect(exitCode).toBe(0);
  });
});
