import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { JobFiles, MAX_JOB_READS, MAX_REQUEST_BYTES } from '../../src/agents/workspace/job-files.js';
import { MAX_SCAN_BYTES, readLines } from '../../src/agents/workspace/read-lines.js';
import { Workspace } from '../../src/agents/workspace/workspace.js';
import { ANY_WORKSPACE, type WorkspacePolicy } from '../../src/agents/workspace/workspace-policy.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { fleetOfTest } from '../support/fleet.js';
import { messageReply, type RecordedRequest } from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';
import { redisOfFile } from '../support/redis.js';

const redis = redisOfFile();
const SANDBOX = pathToFileURL(testProgram('test/fleet/isolated-program'));
const CHECK = { solution: { content: 'x = 1\n' } };

let outer: string;
let root: string;
beforeEach(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'fleet-roots-')));
  root = join(outer, 'root');
  mkdirSync(join(root, 'ws', 'data'), { recursive: true });
  mkdirSync(join(outer, 'elsewhere'));
  writeFileSync(join(outer, 'elsewhere', 'passwd'), 'OUTSIDE');
  writeFileSync(join(root, 'ws', 'inside.txt'), 'inside\n');
});
afterEach(() => rmSync(outer, { recursive: true }));

/** Results of tools in the last message of a request. */
function toolResults(request: RecordedRequest | undefined): { content: string; is_error?: boolean }[] {
  const content = request?.body.messages.at(-1)?.content;
  return Array.isArray(content) ? content.filter((block) => block.type === 'tool_result') : [];
}

function reads(paths: readonly string[]) {
  return messageReply(
    paths.map((file_path, index) => ({
      type: 'tool_use',
      id: `t${index}`,
      name: 'Read',
      input: { file_path },
    })),
    { stopReason: 'tool_use' },
  );
}

/** A worker whose agent reads the paths in its first answers, one turn per list, and then finds no leak. */
async function checkWith(
  workspaces: WorkspacePolicy | undefined,
  workspace: string,
  turns: readonly (readonly string[])[],
  beforeTurn: (turn: number) => void = () => undefined,
) {
  const { test, api } = await fleetOfTest(redis, 'workspaces', (request, index) => {
    beforeTurn(index);
    const turn = request.body.tools === undefined ? undefined : turns[index];
    return turn === undefined ? leaks() : reads(turn);
  });
  const job = await addSolutionCheck(test.fleet, { ...CHECK, workspace });
  beforeTurn(-1);
  await test.worker(runnerFor(api), workspaces === undefined ? {} : { workspaces });
  const view = await job.wait();
  return { view, api, sent: JSON.stringify(api.requests.map(({ body }) => body)) };
}

describe('a worker reads only below its roots, even if the workspace leads elsewhere by then', () => {
  it('a name that becomes a link to the outside after it was submitted', async () => {
    const later = join(root, 'later');
    const { view, sent } = await checkWith({ roots: [root] }, later, [['passwd']], (turn) => {
      if (turn === -1) symlinkSync(join(outer, 'elsewhere'), later);
    });
    expect(sent).not.toContain('OUTSIDE');
    expect(view.result).toMatchObject({ status: 'clean', notes: [expect.stringContaining('read no files')] });
  });

  it('a workspace is read if roots allow it, also through a root that is itself a link', async () => {
    symlinkSync(root, join(outer, 'link'));
    const { api } = await checkWith({ roots: [join(outer, 'link')] }, join(root, 'ws'), [['inside.txt']]);
    expect(toolResults(api.requests[1])[0]?.content).toContain('inside\n');
  });

  it('without roots, no workspace at all', async () => {
    const { view, sent } = await checkWith(undefined, join(root, 'ws'), [['inside.txt']]);
    expect(sent).not.toContain('"tools"');
    expect(view.result).toMatchObject({ notes: [expect.stringContaining('read no files')] });
  });

  it('a workspace that is exchanged, then moved away, in the middle of the job', async () => {
    const ws = join(root, 'ws');
    const turns = [['inside.txt'], ['passwd', 'inside.txt'], ['inside.txt']];
    const { api, sent } = await checkWith({ roots: [root] }, ws, turns, (turn) => {
      if (turn === 1) {
        renameSync(ws, join(root, 'renamed'));
        symlinkSync(join(outer, 'elsewhere'), ws);
      }
      if (turn === 2) renameSync(join(root, 'renamed'), join(outer, 'moved-out'));
    });
    expect(sent).not.toContain('OUTSIDE');
    expect(toolResults(api.requests[1])[0]?.content).toContain('inside');
    expect(toolResults(api.requests[2]).map(({ is_error }) => is_error === true)).toEqual([true, false]);
    expect(toolResults(api.requests[3])).toMatchObject([{ is_error: true }]);
  });

  it.each([
    ['a sibling whose name begins like the root', () => `${root}-2`],
    ['a directory above', () => dirname(root)],
    ['the root of the file system', () => '/'],
    ['details of this process', () => '/proc/self'],
    ['a magic link', () => '/proc/self/root'],
    ['a climb', () => join(root, '..')],
    ['a name with a zero byte', () => `${root}/ws\0`],
    ['a file', () => join(root, 'ws', 'inside.txt')],
    ['a folder of secrets', () => join(root, 'project', '.git')],
  ])('%s is not opened', async (_name, path) => {
    mkdirSync(`${root}-2`, { recursive: true });
    mkdirSync(join(root, 'project', '.git'), { recursive: true });
    expect(await Workspace.open(path(), { roots: [root, join(root, 'missing')] })).toBeNull();
  });
});

describe('the isolated process for jobs in whose attempts a worker crashed', () => {
  it('reads only below the roots of its worker', async () => {
    const { test, api } = await fleetOfTest(redis, 'workspaces', (request) =>
      request.body.tools !== undefined && request.body.messages.length === 1
        ? reads(['inside.txt', 'passwd'])
        : leaks(),
    );
    process.env.TEST_API_URL = api.url;
    onTestFinished(() => void delete process.env.TEST_API_URL);
    for (const workspace of [join(root, 'ws'), join(outer, 'elsewhere')]) {
      const job = await addSolutionCheck(test.fleet, { ...CHECK, workspace });
      await test.fleet.client.hset(test.fleet.jobKey('solution-check', job.id), 'fleet:crashes', 'run-1@0');
    }
    await test.worker(runnerFor(api), { isolatedProcess: SANDBOX, workspaces: { roots: [root] } });
    const { fleet } = test;
    await expect.poll(() => fleet.queue('solution-check').getCompletedCount()).toBe(2);
    await test.logged('runs in the isolated process');
    const results = api.requests.flatMap(toolResults);
    expect(
      results.map(({ content }) => content).filter((content) => content.includes('inside\n')),
    ).toHaveLength(1);
    expect(JSON.stringify(api.requests.map(({ body }) => body))).not.toContain('OUTSIDE');
    expect(api.requests.filter(({ body }) => body.tools === undefined)).toHaveLength(1);
  });
});

describe('one file', () => {
  async function rejection(path: string, policy = ANY_WORKSPACE): Promise<string | undefined> {
    const workspace = await Workspace.open(join(root, 'ws'), policy);
    try {
      const file = await workspace?.openFile(path);
      await file?.close();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await workspace?.close();
    }
  }

  it('is rejected with the same message, whether a path outside exists or not', async () => {
    symlinkSync(join(outer, 'elsewhere', 'passwd'), join(root, 'ws', 'to-file'));
    symlinkSync(join(outer, 'elsewhere', 'none'), join(root, 'ws', 'to-nothing'));
    const paths = ['../../elsewhere/passwd', '../../elsewhere/none', 'to-file', 'to-nothing', 'none'];
    const said = await Promise.all(
      [...paths, '/etc/passwd', '/etc/none', 'data', '.', 'inside.txt/'].map((path) => rejection(path)),
    );
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toContain('no such file in the workspace');
  });

  it('that usually contains secrets is rejected, by its real name, unless that is allowed', async () => {
    const secret = [
      ...['.env', '.ENV', '.env.local', 'prod.env', '.netrc', '.npmrc', '.pypirc', 'kaggle.json', 'key.pem'],
      ...[
        'id_rsa',
        'id_ed25519.old',
        'credentials',
        'credentials.json',
        '.git/config',
        '.ssh/known',
        '.aws/x',
        '.env-prod',
        '.env_local',
        '.env ',
        '.env~',
        'key.pem.bak',
        '.npmrc.old',
      ],
    ];
    const harmless = ['environment.yml', 'id_mapping.csv', 'keys.csv', 'gitignore', 'secret_santa.py'];
    for (const name of [...secret, ...harmless]) {
      mkdirSync(dirname(join(root, 'ws', name)), { recursive: true });
      writeFileSync(join(root, 'ws', name), 'SECRET');
    }
    symlinkSync('.env', join(root, 'ws', 'settings.txt'));
    for (const name of [...secret, 'settings.txt', 'data/../.env']) {
      expect([name, await rejection(name)]).toEqual([name, expect.stringContaining('secrets')]);
      expect(await rejection(name, { roots: 'any', allowSecrets: true })).toBeUndefined();
    }
    for (const name of harmless) expect([name, await rejection(name)]).toEqual([name, undefined]);
  });

  // Only root can give a file to another user.
  it.runIf(process.getuid?.() === 0)(
    'that is another name of the file of another owner is rejected',
    async () => {
      linkSync(join(outer, 'elsewhere', 'passwd'), join(root, 'ws', 'hard'));
      expect(await rejection('hard')).toBeUndefined();
      chownSync(join(outer, 'elsewhere', 'passwd'), 12_345, 12_345);
      expect(await rejection('hard')).toContain('no such file');
    },
  );

  it('of the system is rejected although the workspace is the whole file system', async () => {
    const workspace = await Workspace.open('/', ANY_WORKSPACE);
    await expect(workspace?.openFile('proc/self/environ')).rejects.toThrow('no such file');
    await expect(workspace?.openFile('sys/kernel/mm/transparent_hugepage/enabled')).rejects.toThrow(
      'no such file',
    );
    await workspace?.close();
  });
});

describe('how much an agent reads is bounded', () => {
  it('a hundred reads of a large file in each turn, and every turn with them', async () => {
    writeFileSync(join(root, 'ws', 'huge.csv'), 'row,of,a,table\n'.repeat(350_000));
    const turn = Array.from({ length: 100 }, () => 'huge.csv');
    const { view, api } = await checkWith({ roots: [root] }, join(root, 'ws'), Array(10).fill(turn));
    expect(view.state).toBe('completed');
    expect(api.requests).toHaveLength(11);
    const bodies = api.requests.map(({ body }) => JSON.stringify(body).length);
    // Ten turns name 1,000 reads; the agent chose the names of the calls.
    const overhead = 10 * 100 * 400;
    expect(Math.max(...bodies)).toBeLessThan(MAX_REQUEST_BYTES + overhead);
    expect(toolResults(api.requests[1])).toHaveLength(100);
    expect(
      toolResults(api.requests[1]).filter(({ is_error }) => is_error !== true).length,
    ).toBeLessThanOrEqual(16);
    expect(toolResults(api.requests[10]).every(({ is_error }) => is_error === true)).toBe(true);
  });

  it('a job has a maximum number of reads, however many requests it makes', async () => {
    const files = new JobFiles(ANY_WORKSPACE);
    const first = await files.forRequest(join(root, 'ws'));
    for (let read = 0; read < MAX_JOB_READS; read += 1) first?.beginRead();
    const next = await files.forRequest(join(root, 'ws'));
    expect(next?.workspace).toBe(first?.workspace);
    expect(() => next?.beginRead()).toThrow('all that it may');
    await files.close();
  });

  it('a file is read as far as needed, and no further than four megabytes', async () => {
    const path = join(root, 'ws', 'huge.csv');
    writeFileSync(path, 'row,of,a,table\n'.repeat(350_000));
    const file = await open(path);
    let bytes = 0;
    const counted = new Proxy(file, {
      get: (target, name) =>
        name === 'read'
          ? async (...args: Parameters<typeof file.read>) => {
              const done = await target.read(...args);
              bytes += done.bytesRead;
              return done;
            }
          : Reflect.get(target, name).bind(target),
    });
    expect(await readLines(counted, { limit: 2 })).toContain('row,of,a,table\nrow,of,a,table\n(cut');
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    expect(await readLines(counted, { offset: 200_000, limit: 1 })).toContain('row,of,a,table\n(cut');
    bytes = 0;
    await expect(readLines(counted, { offset: 340_000 })).rejects.toThrow('has no line 340000');
    expect(bytes).toBe(MAX_SCAN_BYTES);
    await file.close();
  });
});
