import { build } from 'esbuild';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { packagePath } from '../../src/package-root.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { HOSTILE, hasChromium, openBrowser, watchPage } from './browser.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const hostilePayload = {
  solution: { content: HOSTILE },
  tags: { run: HOSTILE, [HOSTILE.slice(0, 40)]: HOSTILE },
};

/** 10,000 completed jobs as they are in Redis. KEYS[1] their list; ARGV: 1 prefix of job keys, 2 time in ms. */
const COMPLETED_JOBS = `
for i = 0, 9999 do
  local at = ARGV[2] - i
  redis.call('HSET', ARGV[1] .. 'extract-' .. i, 'name', 'extract', 'data', '{}', 'opts', '{}',
    'timestamp', at, 'finishedOn', at, 'returnvalue', '{"n":1}')
  redis.call('ZADD', KEYS[1], at, 'extract-' .. i)
end`;

describe.skipIf(!hasChromium())('pages in a real browser', () => {
  let redis: TestRedis;
  let browser: Browser;
  let test: TestFleet;
  let gateway: TestGateway;
  let count = 0;
  let damaged = false;
  const checks: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    redis = await startTestRedis();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await redis.stop();
  });
  afterEach(async () => {
    try {
      for (const check of checks.splice(0)) await check();
    } finally {
      await Promise.all(browser.contexts().map((context) => context.close()));
      await gateway.close();
      await test.close({ damaged });
    }
  });

  async function start(): Promise<void> {
    count += 1;
    damaged = false;
    test = await startTestFleet(redis, `pages-${count}`);
    gateway = await startTestGateway(redis, `pages-${count}`);
  }

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    if (options.javaScriptEnabled !== false)
      checks.push(watchPage(page, gateway.url, { tries: path === '/docs' }));
    await page.goto(gateway.url + path);
    return page;
  }

  /** Whether the page is wider than its window. */
  async function overflows(page: Page): Promise<boolean> {
    return page.evaluate<boolean>(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    );
  }

  it('the overview shows what is there, and goes on by itself', async () => {
    await start();
    await gateway.send('POST', SUBMIT, { payload: hostilePayload });
    const page = await open('/');
    const card = page.getByRole('region', { name: 'solution-check' });
    await card.getByText('waiting').waitFor();
    expect(await card.textContent()).toMatch(/waiting\s*1/);
    const problems = page.getByRole('list').filter({ hasText: 'no worker is connected' });
    await problems.waitFor();
    expect(await problems.textContent()).toContain('fleet worker');
    await test.worker(createOfflineRunner());
    await page.getByText('Nothing is wrong').waitFor();
    await page.getByText('Live.').waitFor();
    await expect.poll(() => card.textContent()).toMatch(/waiting\s*0/);
    // The run is named as it is written, and nothing in it runs (checked at the end).
    await expect.poll(() => page.getByRole('cell', { name: '<img src=x' }).count()).toBe(1);
  });

  it('the overview is a whole page without JavaScript', async () => {
    await start();
    await gateway.send('POST', SUBMIT, { payload: hostilePayload });
    const page = await open('/', { javaScriptEnabled: false });
    expect(await page.getByRole('region', { name: 'solution-check' }).textContent()).toMatch(/waiting\s*1/);
    expect(await page.getByText('Reload for newer numbers').count()).toBe(1);
  });

  it('the overview fits 400 pixels, in light and dark, and can be used by keyboard', async () => {
    await start();
    await test.worker(createOfflineRunner());
    await gateway.send('POST', `${SUBMIT}?wait`, {
      payload: { ...hostilePayload, tags: { run: 'r'.repeat(300) } },
    });
    const colors: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('/', { viewport: { width: 400, height: 800 }, colorScheme });
      expect(await overflows(page)).toBe(false);
      colors.push(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content');
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Overview');
    }
    expect(new Set(colors).size).toBe(2);
    const page = await open('/');
    const outline = await page.getByRole('heading').allInnerTexts();
    expect(outline.slice(0, 3)).toEqual(['Overview', 'What is wrong now', 'Jobs']);
    expect(await page.getByRole('img').first().getAttribute('aria-label')).toContain(
      'jobs ended in the last',
    );
  });

  it('the overview says when the gateway is gone', async () => {
    await start();
    const page = await open('/');
    await page.getByText('Live.').waitFor();
    await gateway.close();
    await page.getByText('The connection to the gateway is lost').waitFor();
  });

  it('the API page shows every route with its example and every code, in light and dark, at 400 pixels', async () => {
    await start();
    const { json: document } = await gateway.send('GET', '/v1/openapi.json');
    const colors: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('/docs', { viewport: { width: 400, height: 800 }, colorScheme });
      const shown = page.locator('#viewer .opblock');
      await shown.first().waitFor();
      // The viewer puts a place to break a line before each slash.
      const text = ((await page.locator('#viewer').textContent()) ?? '').replaceAll('\u200b', '');
      for (const path of Object.keys(document.paths)) expect(text).toContain(path);
      expect(await page.getByRole('row', { name: 'too-many-waiting' }).count()).toBe(1);
      expect(await overflows(page)).toBe(false);
      const claim = page.locator('#operations-Evaluations-claim-evaluation');
      await claim.locator('.opblock-summary-control').click();
      // The example of the request, and that of the answer.
      await claim.getByText('"leaseMs"').first().waitFor();
      expect((await claim.locator('.highlight-code').allInnerTexts()).slice(0, 2)).toEqual([
        expect.stringContaining('"queue": "score"'),
        expect.stringContaining('"attempt": 1'),
      ]);
      expect(await overflows(page)).toBe(false);
      // It shows requests and sends none.
      expect(await page.getByRole('button', { name: /try it out|execute|authorize/i }).count()).toBe(0);
      colors.push(
        await page.evaluate<string>('getComputedStyle(document.querySelector("#viewer .opblock-tag")).color'),
      );
    }
    expect(new Set(colors).size).toBe(2);
  });

  it('the API page lists every route and code without JavaScript', async () => {
    await start();
    const { json: document } = await gateway.send('GET', '/v1/openapi.json');
    const page = await open('/docs', { javaScriptEnabled: false });
    const [text] = await page.locator('main').allInnerTexts();
    for (const path of Object.keys(document.paths)) expect(text).toContain(path);
    expect(text).toContain('too-many-waiting');
  });

  it('the HTTP client runs in a page', async () => {
    await start();
    await test.worker(createOfflineRunner());
    const { outputFiles } = await build({
      entryPoints: [packagePath('src', 'http-client', 'index.ts')],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      globalName: 'client',
    });
    // A script of the test is not one of the gateway.
    const page = await open('/docs', { bypassCSP: true });
    const checked = await page.evaluate<{ status: string; last: string }>(`(async () => {
      ${outputFiles[0]?.text}
      const fleet = new client.FleetHttpClient({ url: location.origin });
      const { id } = await fleet.add('solution-check', { solution: { content: 'x = 1\\n' } });
      const { status } = await fleet.result('solution-check', id);
      let last;
      for await (const { name } of fleet.events(id)) last = name;
      return { status, last };
    })()`);
    expect(checked).toEqual({ status: 'clean', last: 'end' });
  });

  it('the board shows a hostile job, its data and logs, and nothing of it runs', async () => {
    await start();
    const { json } = await gateway.send('POST', SUBMIT, { payload: hostilePayload });
    const job = await test.fleet.queue('solution-check').getJob(json.id);
    await job?.log(HOSTILE);
    await job?.updateProgress(HOSTILE);
    const page = await open(`/board/queue/solution-check/${json.id}`);
    await page.getByText('window.pwned=1').first().waitFor();
    expect(await page.getByText('<img src=x onerror').count()).toBeGreaterThan(0);
    await page
      .getByRole('button', { name: /logs/i })
      .or(page.getByText('Logs', { exact: true }))
      .first()
      .click();
    await page.getByText('gnp.exe').first().waitFor();
    const failed = await test.fleet.queue('summarize').add(HOSTILE, { html: HOSTILE }, { jobId: 'x:y:z' });
    expect(failed.id).toBe('x:y:z');
    await page.goto(`${gateway.url}/board/queue/summarize`);
    await page.getByText('window.pwned=1').first().waitFor();
  });

  it('a job of a megabyte and 10,000 completed jobs leave the board usable', async () => {
    await start();
    const queue = test.fleet.queue('extract');
    // They are made by hand, which no worker would do: the invariants are not asked for.
    damaged = true;
    await test.fleet.client.eval(COMPLETED_JOBS, 1, queue.toKey('completed'), queue.toKey(''), Date.now());
    const text = 'x = 1 # a megabyte of script\n'.repeat(36_000);
    await queue.add('extract', { solution: { content: text } }, { jobId: 'extract-large' });
    const answer = await gateway.send(
      'GET',
      '/board/api/queues?activeQueue=extract&status=latest&page=1&jobsPerPage=10',
    );
    expect(answer.text.length).toBeLessThan(200_000);
    expect(answer.text).toContain(`(${text.length} characters in all)`);
    const page = await open('/board/queue/extract/extract-large');
    await page.getByText('a megabyte of script').first().waitFor();
    await page.goto(`${gateway.url}/board/queue/extract?status=completed`);
    await page.getByText('extract-0', { exact: true }).or(page.getByText('#extract-0')).first().waitFor();
  });

  it('a login with a token for reading shows the board, and can change nothing on it', async () => {
    await start();
    const tokens = new TokenStore(test.fleet.client, test.fleet.prefix);
    const { token } = await tokens.add('somebody', 'read');
    await gateway.close();
    gateway = await startTestGateway(redis, test.fleet.prefix);
    const page = await open('/board');
    await page.getByLabel('Token').fill(`${token}x`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This token is not in force').waitFor();
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('solution-check').first().waitFor();
    const status = await page.evaluate<number>(
      `fetch('/board/api/queues/summarize/pause', { method: 'PUT' }).then((response) => response.status)`,
    );
    expect(status).toBe(403);
    const listed = await page.evaluate<{ queues: { readOnlyMode: boolean }[] }>(
      `fetch('/board/api/queues').then((response) => response.json())`,
    );
    expect(listed.queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    await page.goto(gateway.url);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token').waitFor();
  });
});
