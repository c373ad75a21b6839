/**
 * Takes the pictures of docs/images from a real run: a Redis server, `fleet serve` with a worker and static analysis, a batch of
 * candidates, an evaluator that runs each checked script with scikit-learn, and Chromium.
 *
 * npm run docs:pictures              the pictures of the documents
 * npm run docs:pictures -- FOLDER    every page in light and dark, 400 and 1280 pixels wide, to look at
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser } from 'playwright-core';
import { openScriptRuns } from '../../examples/pipeline-ts/script-runs.js';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';
import { packagePath } from '../../src/package-root.js';
import { openBrowser } from '../../test/gateway/browser.js';
import { candidates } from './candidates.js';
import { evaluateAll } from './evaluate-all.js';

const RUN = 'digits-2026';
const EVALUATION = { queue: 'evaluate', name: 'accuracy', opts: { attempts: 1 } };

/** A picture: `name` is the file, `path` the page. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly width: number;
  readonly dark: boolean;
  /** Height in pixels; absent: the whole page. */
  readonly height?: number;
}

const RUN_PATH = `/runs?name=${RUN}`;
const OF_DOCUMENTS: readonly Picture[] = [
  { name: 'overview', path: '/', width: 1280, dark: false },
  { name: 'run', path: RUN_PATH, width: 1280, dark: false, height: 1250 },
  { name: 'run-narrow-dark', path: RUN_PATH, width: 400, dark: true, height: 1500 },
  { name: 'board', path: '/board/queue/evaluate', width: 1280, dark: false, height: 800 },
];
const EVERY = ['/', '/runs', RUN_PATH, `${RUN_PATH}&state=failed`, '/board/queue/evaluate'].flatMap(
  (path, at) =>
    [400, 1280].flatMap((width) =>
      [false, true].map(
        (dark): Picture => ({
          name: `${at}-${width}-${dark ? 'dark' : 'light'}`,
          path,
          width,
          dark,
        }),
      ),
    ),
);

async function takePicture(browser: Browser, url: string, folder: string, picture: Picture): Promise<void> {
  const { name, path, width, dark, height } = picture;
  const context = await browser.newContext({
    viewport: { width, height: height ?? 900 },
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  await page.goto(url + path);
  if (path === '/') await page.getByText('Live.').waitFor();
  if (path.startsWith('/board')) await page.getByText('accuracy').first().waitFor();
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: height === undefined });
  await context.close();
}

/** The first line of a process' output that fits. */
async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (child.stdout === null) throw new TypeError('the output of the process is not read');
  for await (const line of createInterface({ input: child.stdout })) {
    const found = pattern.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`the process ended before it printed ${pattern}`);
}

async function post(url: string, body: unknown): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const folder = process.argv[2] ?? packagePath('docs', 'images');
mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), 'fleet-pictures-'));
const socket = join(data, 'redis.sock');
const runs = await openScriptRuns('real');
const redis = spawn(findRedisServer(), ['--port', '0', '--unixsocket', socket, '--dir', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
await lineOf(redis, /(ready to accept connections)/i);
const gateway = spawn(
  process.execPath,
  ['--import', 'tsx', packagePath('src', 'cli', 'main.ts'), 'serve', '--port', '0', '--workers', '1'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      FLEET_REDIS_URL: `unix://${socket}`,
      FLEET_AGENT: 'offline',
      FLEET_LOG_LEVEL: 'warn',
    },
  },
);
try {
  const url = await lineOf(gateway, /listening on (http\S+)/);
  await post(`${url}/v1/flows/candidate-batch`, {
    candidates: await candidates(),
    evaluation: EVALUATION,
    afterAll: { queue: 'ensemble', name: 'choose' },
    tags: { run: RUN },
    key: `${RUN}/first-batch`,
    onUncorrected: 'refuse',
    budgetUsd: 5,
  });
  await evaluateAll(url, EVALUATION.queue, runs);
  const browser = await openBrowser();
  for (const picture of process.argv[2] === undefined ? OF_DOCUMENTS : EVERY) {
    await takePicture(browser, url, folder, picture);
  }
  await browser.close();
} finally {
  await stop(gateway);
  await stop(redis);
  rmSync(data, { recursive: true, force: true });
}
