import { build } from 'esbuild';
import { Redis } from 'ioredis';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { scaleOf } from '../../src/gateway/pages/chart.js';
import { causesOf, unitsOf } from '../../src/gateway/pages/run/run-units.js';
import { packagePath } from '../../src/package-root.js';
import type { ScannedJob } from '../../src/producers/scan-run.js';
import { batchBase, runKey, spendBase } from '../../src/queues/redis-keys.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { HOSTILE, hasChromium, openBrowser, watchPage } from './browser.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';

const SUBMIT = '/v1/jobs/solution-check';
const NARROW = { width: 400, height: 800 };
/** Name of a run: markup, and a word that is wider than a window. */
const RUN = `${HOSTILE} ${'r'.repeat(200)}`;
const hostilePayload = {
  solution: { content: HOSTILE },
  tags: { run: HOSTILE, [HOSTILE.slice(0, 40)]: HOSTILE },
};

/** Completed jobs as they are in Redis. KEYS[1] their list; ARGV: 1 prefix of job keys, 2 time in ms. */
const COMPLETED_JOBS = `
for i = 0, 1999 do
  local at = ARGV[2] - i
  redis.call('HSET', ARGV[1] .. 'extract-' .. i, 'name', 'extract', 'data', '{}', 'opts', '{}',
    'timestamp', at, 'finishedOn', at, 'returnvalue', '{"n":1}')
  redis.call('ZADD', KEYS[1], at, 'extract-' .. i)
end`;

/**
 * Guarded evaluations of a run as they are in Redis, each with its check; the oldest fails. KEYS: 1 the run. ARGV: 1 prefix,
 * 2 number, 3 time in ms.
 */
const EVALUATIONS = `
for i = 1, tonumber(ARGV[2]) do
  local evaluation = ARGV[1] .. ':evaluate:evaluate-' .. i
  local check = ARGV[1] .. ':solution-check:solution-check-' .. i
  local at = ARGV[3] + i
  redis.call('HSET', evaluation, 'name', 'score', 'data', '{}', 'opts', '{"fleet":{"key":"candidate ' .. i .. '"}}',
    'timestamp', at, 'finishedOn', at, 'returnvalue', '{"score":0.' .. i .. '}')
  redis.call('HSET', check, 'name', 'check', 'data', '{}', 'opts', '{}', 'timestamp', at, 'finishedOn', at,
    'returnvalue', '{}', 'parentKey', evaluation, 'fleet:status', 'clean')
  if i == 1 then redis.call('HSET', evaluation, 'failedReason', '[job-failed] out of memory') end
  redis.call('ZADD', ARGV[1] .. ':evaluate:' .. (i == 1 and 'failed' or 'completed'), at, 'evaluate-' .. i)
  redis.call('ZADD', ARGV[1] .. ':solution-check:completed', at, 'solution-check-' .. i)
  redis.call('ZADD', KEYS[1], at, evaluation, at, check)
end`;

const job = (queue: string, id: string, fields: Partial<ScannedJob> = {}): ScannedJob => ({
  key: `fleet:${queue}:${id}`,
  queue,
  id,
  state: 'completed',
  parentKey: undefined,
  status: undefined,
  reason: undefined,
  ...fields,
});
const childOf = ({ key }: ScannedJob) => ({ parentKey: key });
const units = (jobs: readonly ScannedJob[]) =>
  unitsOf(jobs, (queue) => ['solution-check', 'contamination', 'refinement-loop', 'extract'].includes(queue));
const shown = (jobs: readonly ScannedJob[]) =>
  units(jobs).map(({ root, members, isCandidate, status }) => [
    root.id,
    members.map(({ id }) => id).join(' '),
    isCandidate ? 'candidate' : 'other',
    status,
  ]);

describe('rows of the page of a run', () => {
  const batch = job('choose', 'after');
  const evaluation = job('evaluate', 'e1', childOf(batch));
  const check = job('solution-check', 'c1', { ...childOf(evaluation), status: 'corrected' });

  it('an evaluation has its check and the checks of that; the job after a batch is a row of its own', () => {
    const contamination = job('contamination', 'k1', { ...childOf(check), status: 'not contaminated' });
    const verification = job('solution-check', 'v1', { ...childOf(check), status: 'clean' });
    expect(shown([batch, evaluation, verification, contamination, check])).toEqual([
      ['after', '', 'other', undefined],
      ['e1', 'v1 k1 c1', 'candidate', 'corrected'],
    ]);
  });

  it('evaluations of a refinement loop are candidates, its other jobs belong to it', () => {
    const loop = job('refinement-loop', 'loop', { status: 'improved' });
    const summary = job('extract', 'x1', childOf(loop));
    const coder = job('code', 'b1', childOf(loop));
    const inner = job('evaluate', 'e2', childOf(loop));
    const innerCheck = job('solution-check', 'c2', { ...childOf(inner), status: 'clean' });
    expect(shown([loop, summary, coder, inner, innerCheck])).toEqual([
      ['loop', 'x1 b1', 'other', 'improved'],
      ['e2', 'c2', 'candidate', 'clean'],
    ]);
  });

  it('a check of its own is a candidate; a job whose parent is gone, and records that go in circles, are shown', () => {
    const alone = job('solution-check', 'c3', { status: 'clean' });
    const orphan = job('extract', 'x2', { parentKey: 'fleet:extract:gone' });
    const left = job('extract', 'left', { parentKey: 'fleet:extract:right' });
    const right = job('extract', 'right', { parentKey: 'fleet:extract:left' });
    const rows = shown([alone, orphan, left, right]);
    expect(rows.slice(0, 2)).toEqual([
      ['c3', '', 'candidate', 'clean'],
      ['x2', '', 'other', undefined],
    ]);
    expect(rows.flatMap(([root, members]) => [root, ...String(members).split(' ')])).toEqual(
      expect.arrayContaining(['left', 'right']),
    );
  });

  it('failed ones come first, then those that have not ended; a failure names its first cause', () => {
    const broken = job('solution-check', 'c4', { state: 'failed', reason: '[analysis-limit] too long' });
    const evaluations = [
      job('evaluate', 'done'),
      job('evaluate', 'stopped', { state: 'cancelled' }),
      job('evaluate', 'runs', { state: 'active' }),
      job('evaluate', 'failed', { state: 'failed', reason: `child ${broken.key} failed` }),
    ];
    const failed = evaluations[3] as ScannedJob;
    const rows = units([...evaluations, { ...broken, ...childOf(failed) }]);
    expect(rows.map(({ root }) => root.id)).toEqual(['failed', 'runs', 'done', 'stopped']);
    expect(causesOf(rows)).toMatchObject([
      { code: 'analysis-limit', count: 1, example: { job: { id: 'c4' }, message: 'too long' } },
    ]);
    // A pipeline's program that writes such a text about another job does not make it a cause.
    expect(causesOf(units([failed, broken]))[0]).toMatchObject({ example: { job: { id: 'failed' } } });
  });
});

describe('the scale of a chart', () => {
  it.each([
    [0, 1, 1, [0, 1]],
    [0, 3, 1, [0, 1, 2, 3]],
    [0, 47, 1, [0, 20, 40, 60]],
    [0, 12_345, 1, [0, 5_000, 10_000, 15_000]],
    [0.731, 0.942, 0, [0.7, 0.8, 0.9, 1]],
    [-3, 2, 0, [-4, -2, 0, 2]],
    [0.85, 0.85, 0, [0.5, 1]],
    [0, 0, 0, [0, 0.5]],
  ])('from %d to %d has round numbers', (least, greatest, step, numbers) => {
    expect(scaleOf(least, greatest, step)).toEqual(numbers);
  });
});

describe.skipIf(!hasChromium())('pages in a real browser', () => {
  let redis: TestRedis;
  let browser: Browser;
  /** Of all tests: to open one takes longer than most of them need it. */
  let page: Page;
  let test: TestFleet;
  let gateway: TestGateway;
  let count = 0;
  let damaged = false;
  /** Fails if something has run in the page. */
  let check: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    redis = await startTestRedis();
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await redis.stop();
  });
  afterEach(async () => {
    try {
      await check?.();
    } finally {
      check = undefined;
      page.removeAllListeners();
      await page.goto('about:blank');
      await page.context().clearCookies();
      await gateway.close();
      await test.close({ damaged });
    }
  });

  async function startFleet(): Promise<void> {
    count += 1;
    damaged = false;
    test = await startTestFleet(redis, `pages-${count}`);
  }

  async function start(): Promise<void> {
    await startFleet();
    gateway = await startTestGateway(redis, test.fleet.prefix);
  }

  /** Opens a page; the browser is looked after until the test ends. */
  async function open(path: string, viewport = { width: 1280, height: 720 }): Promise<Page> {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light' });
    check = watchPage(page, gateway.url, { tries: path === '/docs' });
    await page.goto(gateway.url + path);
    return page;
  }

  /** Goes to another page of the board, as its links do: to load its program again takes longer than all that the page shows. */
  async function showOnBoard(page: Page, path: string): Promise<void> {
    await page.evaluate(
      `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'));`,
    );
  }

  /** What the HTML of a page says without a script. */
  function withoutMarkup(html: string): string {
    return html.replaceAll(/<script[\s\S]*?<\/script>|<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  }

  /** Where a link leads whose text contains this one. */
  async function linkOn(path: string, text: string): Promise<string> {
    const { text: page } = await gateway.send('GET', path);
    const escaped = text.replaceAll('<', '&lt;');
    const links = [...page.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)];
    const found = links.find(([, , content]) => withoutMarkup(content ?? '').includes(escaped));
    if (found?.[1] === undefined) throw new Error(`no link ${text} on ${path}`);
    return found[1].replaceAll('&amp;', '&');
  }

  /** Whether the page is wider than its window. */
  async function overflows(page: Page): Promise<boolean> {
    return page.evaluate<boolean>(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    );
  }

  it('the overview goes on by itself, fits 400 pixels, can be used by keyboard, and says when the gateway is gone', async () => {
    await start();
    await gateway.send('POST', SUBMIT, { payload: hostilePayload });
    const page = await open('/');
    const card = page.getByRole('region', { name: 'solution-check' });
    await card.getByText('waiting').waitFor();
    expect(await card.textContent()).toMatch(/waiting\s*1/);
    const problems = page.getByRole('list').filter({ hasText: 'no worker is connected' });
    await problems.waitFor();
    expect(await problems.textContent()).toContain('fleet worker');
    await gateway.send('POST', SUBMIT, { payload: { ...hostilePayload, tags: { run: 'r'.repeat(300) } } });
    await test.worker(createOfflineRunner());
    await page.getByText('Nothing is wrong').waitFor();
    await page.getByText('Live.').waitFor();
    await expect.poll(() => card.textContent()).toMatch(/waiting\s*0/);
    // The runs are named as they are written, and nothing in them runs (checked at the end).
    await expect.poll(() => page.getByRole('cell', { name: '<img src=x' }).count()).toBe(1);
    await expect.poll(() => page.getByRole('cell', { name: 'rrr' }).count()).toBe(1);

    await page.setViewportSize(NARROW);
    const colors: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await overflows(page)).toBe(false);
      colors.push(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
    }
    expect(new Set(colors).size).toBe(2);
    await page.keyboard.press('Tab');
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Tab');
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Overview');
    const outline = await page.getByRole('heading').allInnerTexts();
    expect(outline.slice(0, 3)).toEqual(['Overview', 'What is wrong now', 'Jobs']);
    expect(await page.getByRole('img').first().getAttribute('aria-label')).toContain(
      'jobs ended in the last',
    );

    await gateway.close();
    await page.getByText('The connection to the gateway is lost').waitFor();
  });

  it('the overview is a whole page without JavaScript', async () => {
    await start();
    await gateway.send('POST', SUBMIT, { payload: hostilePayload });
    const { client, prefix } = test.fleet;
    const day = Math.floor(Date.now() / 86_400_000);
    await client.hset(`${spendBase(prefix)}:day:${day}`, { reusedCalls: 2, reusedSpent: 5e8 });
    await client.zadd(`${batchBase(prefix)}:pending`, 1, 'line-1', 2, 'line-2');
    await client.zadd(`${batchBase(prefix)}:open`, 1, 'batch-1');
    await client.sadd(`${batchBase(prefix)}:of:batch-1:lines`, 'line-3');
    const { text } = await gateway.send('GET', '/');
    const main = withoutMarkup(text);
    expect(main).toContain('In batches, at half the price: 1 call in 1 batch, 2 waiting for the next one.');
    expect(main).toContain('Other jobs answered 2 calls, where the answers had cost $0.50.');
    const card = text.split('<section').find((section) => section.includes('>solution-check<'));
    expect(withoutMarkup(card ?? '')).toMatch(/waiting\s*1/);
    expect(main).toContain('Reload for newer numbers');
  });

  /** A run of candidates, all checked by a worker; an evaluator scores the first and fails the others. */
  async function startRun(run: string, keys: readonly string[]): Promise<void> {
    await start();
    await test.worker(createOfflineRunner());
    const batch = await gateway.send('POST', '/v1/flows/candidate-batch', {
      candidates: keys.map((key, at) => ({ key, solution: { content: `x = ${at}\n` } })),
      evaluation: { queue: 'evaluate', name: 'score', opts: { attempts: 1 } },
      afterAll: { queue: 'choose', name: 'best' },
      allowUnjudged: true,
      tags: { run },
    });
    expect(batch.status).toBe(202);
    for (const at of keys.keys()) {
      const body = { queue: 'evaluate', leaseMs: 60_000 };
      const { json } = await gateway.send('POST', '/v1/evaluations/claim?wait=60', body);
      const claim = { queue: 'evaluate', id: json.id, lease: json.lease };
      const ended =
        at === 0
          ? await gateway.send('POST', '/v1/evaluations/complete', { ...claim, result: { score: 0.8125 } })
          : await gateway.send('POST', '/v1/evaluations/fail', {
              ...{ ...claim, retryable: false },
              message: HOSTILE,
            });
      expect(ended.status).toBe(204);
    }
  }

  it('a run shows candidates, failures first, with status, score, cost and state, and fits 400 pixels; lists and links lead to it and its jobs', async () => {
    await startRun(RUN, [HOSTILE, 'k'.repeat(300), 'third']);
    const account = `${spendBase(test.fleet.prefix)}:run:${RUN}`;
    await test.fleet.client.hset(account, {
      ...{ spent: 2e9, budget: 5e9, calls: 7 },
      ...{ input: 100, cacheRead: 300, cacheWrite: 100 },
      ...{ reusedCalls: 1, reusedSpent: 2e8 },
    });
    const run = await linkOn('/runs', '<img src=x');
    const page = await open(run, NARROW);
    await page.getByRole('heading', { level: 1, name: 'Run <img' }).waitFor();
    const main = await page.locator('main').textContent();
    expect(main).toContain('$2.00 of a budget of $5.00, 7 calls');
    expect(main).toContain('60 % of the input was read from the prompt cache.');
    expect(main).toContain('Other jobs answered 1 call, where the answers had cost $0.20.');
    expect(main).toContain('1 job waits: no worker is connected to the pipeline queue choose');
    const tables = page.getByRole('table');
    expect(await tables.nth(0).textContent()).toMatch(/job-failed.*2.*Read the reason on the job/s);
    const rows = tables.nth(1).getByRole('row');
    const texts = await rows.allTextContents();
    expect(texts.map((text) => /failed|completed/.exec(text)?.[0])).toEqual([
      undefined,
      'failed',
      'failed',
      'completed',
    ]);
    expect(texts[3]).toMatch(/clean.*0\.8125.*\$0\.00/s);
    expect(await tables.nth(2).textContent()).toContain('choose');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await overflows(page)).toBe(false);
    }
    // Each cell names its column, and the table is still one.
    const cell = tables.nth(1).getByRole('cell').nth(1);
    expect(await cell.getAttribute('data-label')).toBe('state');
    expect(await cell.textContent()).toContain('failed');
    await page.getByLabel('Candidate by key').fill('third');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('Shown: the key third').waitFor();
    expect(await tables.nth(1).getByRole('row').count()).toBe(2);

    expect(await linkOn('/', '<img src=x')).toBe(run);
    // Without JavaScript: only the failed ones, by what the failure is; the job that waits for the candidates, with them.
    const shown = async (path: string) => {
      const { text } = await gateway.send('GET', path);
      const candidates = /id="candidates">.*?id="others"/s.exec(text)?.[0] ?? '';
      return [withoutMarkup(text), candidates.split('<tr').length - 1] as const;
    };
    expect(await shown(await linkOn(run, 'job-failed'))).toEqual([
      expect.stringContaining('Shown: failed with job-failed'),
      3,
    ]);
    expect(await shown(await linkOn(run, 'choose'))).toEqual([
      expect.stringContaining('Shown: the job choose-'),
      4,
    ]);
    const unknown = await gateway.send('GET', '/runs?name=other');
    expect([unknown.status, unknown.text]).toEqual([
      404,
      expect.stringContaining('No stored job names this run'),
    ]);
    const misspelled = await gateway.send('GET', '/runs?name=other&stat=failed');
    expect([misspelled.status, misspelled.json.detail]).toEqual([
      400,
      'stat: unknown field; did you mean "state"?',
    ]);
  });

  it('a run of 2,500 candidates takes one more command for each 500 jobs, and the oldest failure is on its first page', async () => {
    await start();
    damaged = true;
    const { client, prefix } = test.fleet;
    const commands: Record<number, number> = {};
    const pages: Record<number, string> = {};
    for (const size of [200, 2_500]) {
      await client.eval(EVALUATIONS, 1, runKey(prefix, `run-${size}`), prefix, size, Date.now());
      const sent = vi.spyOn(Redis.prototype, 'sendCommand');
      pages[size] = (await gateway.send('GET', `/runs?name=run-${size}`)).text;
      commands[size] = sent.mock.calls.length;
      sent.mockRestore();
    }
    expect(commands[200]).toBeGreaterThan(100);
    // 10 more reads of 500 jobs; and what the gateway does meanwhile by itself.
    expect((commands[2_500] ?? 0) - (commands[200] ?? 0)).toBeLessThan(30);
    expect(pages[2_500]).toContain('page 1 of 100: 25 of 2500');
    const rows = [...(pages[2_500] ?? '').matchAll(/>(candidate \d+)</g)].map(([, key]) => key);
    expect(rows.slice(0, 3)).toEqual(['candidate 1', 'candidate 2500', 'candidate 2499']);
    expect(pages[2_500]?.length).toBeLessThan(100_000);
    const last = await gateway.send('GET', '/runs?name=run-2500&page=100');
    expect(last.text).toContain('page 100 of 100: 25 of 2500');
    // Damaged records leave the rest of the run readable.
    const evaluation = `${prefix}:evaluate:evaluate-`;
    await client.set(`${prefix}:evaluate:text`, 'no job');
    await client.zadd(
      runKey(prefix, 'run-200'),
      1,
      `${prefix}:evaluate:text`,
      2,
      'no key',
      3,
      `${prefix}:gone:1`,
    );
    await client.hset(`${evaluation}200`, {
      opts: '{',
      returnvalue: '[',
      parentKey: 'no key',
      timestamp: 'x',
    });
    await client.hset(`${evaluation}199`, {
      finishedOn: '9e99',
      'fleet:usage': '!',
      returnvalue: '{"score":1e400}',
    });
    const rest = await gateway.send('GET', '/runs?name=run-200');
    expect([rest.status, rest.text]).toEqual([200, expect.stringContaining('page 1 of 8: 25 of 200')]);
  });

  it('the API page shows every route with its example and every code, in light and dark, at 400 pixels, and lists them without JavaScript', async () => {
    await start();
    const { json: document } = await gateway.send('GET', '/v1/openapi.json');
    const listed = withoutMarkup((await gateway.send('GET', '/docs')).text);
    for (const path of Object.keys(document.paths)) expect(listed).toContain(path);
    expect(listed).toContain('too-many-waiting');
    const page = await open('/docs', NARROW);
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
    // It shows requests and sends none.
    expect(await page.getByRole('button', { name: /try it out|execute|authorize/i }).count()).toBe(0);
    const color = () =>
      page.evaluate<string>('getComputedStyle(document.querySelector("#viewer .opblock-tag")).color');
    const light = await color();
    await page.emulateMedia({ colorScheme: 'dark' });
    // The viewer changes its colors gradually.
    await expect.poll(color).not.toBe(light);
    expect(await overflows(page)).toBe(false);
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
    // The address is the smallest of the gateway.
    const page = await open('/healthz');
    // As a script of the same server, it keeps to the policy of the page.
    const body = `${outputFiles[0]?.text}
      window.checked = (async () => {
        const fleet = new client.FleetHttpClient({ url: location.origin });
        const { id } = await fleet.add('solution-check', { solution: { content: 'x = 1\\n' } });
        const { status } = await fleet.result('solution-check', id);
        let last;
        for await (const { name } of fleet.events(id)) last = name;
        return { status, last };
      })();`;
    await page.route('**/client.js', (route) => route.fulfill({ contentType: 'text/javascript', body }));
    await page.addScriptTag({ url: '/client.js' });
    await page.unrouteAll();
    const checked = await page.evaluate<{ status: string; last: string }>('window.checked');
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
    const odd = await test.fleet.queue('summarize').add(HOSTILE, { html: HOSTILE }, { jobId: 'x:y:z' });
    expect(odd.id).toBe('x:y:z');
    await showOnBoard(page, '/board/queue/summarize');
    await page.getByText('x:y:z').first().waitFor();
    await page.getByText('window.pwned=1').first().waitFor();
    // Its data name a run, and the link leads to the job among those of the run.
    await showOnBoard(page, `/board/queue/solution-check/${json.id}`);
    const run = await page.getByRole('link', { name: 'Run', exact: true }).getAttribute('href');
    expect(withoutMarkup((await gateway.send('GET', run ?? '')).text)).toContain(`Shown: the job ${json.id}`);

    // A job of a megabyte, and thousands of completed jobs. They are made by hand, which no worker would do: the invariants
    // are not asked for.
    damaged = true;
    const queue = test.fleet.queue('extract');
    await test.fleet.client.eval(COMPLETED_JOBS, 1, queue.toKey('completed'), queue.toKey(''), Date.now());
    const text = 'x = 1 # a megabyte of script\n'.repeat(36_000);
    await queue.add('extract', { solution: { content: text } }, { jobId: 'extract-large' });
    const answer = await gateway.send(
      'GET',
      '/board/api/queues?activeQueue=extract&status=latest&page=1&jobsPerPage=10',
    );
    expect(answer.text.length).toBeLessThan(200_000);
    expect(answer.text).toContain(`(${text.length} characters in all)`);
    await showOnBoard(page, '/board/queue/extract/extract-large');
    await page.getByText('a megabyte of script').first().waitFor();
    await showOnBoard(page, '/board/queue/extract?status=completed');
    await page.getByText('extract-0', { exact: true }).or(page.getByText('#extract-0')).first().waitFor();
  });

  it('a login with a token for reading shows the board, and can change nothing on it', async () => {
    await startFleet();
    const tokens = new TokenStore(test.fleet.client, test.fleet.prefix);
    const { token } = await tokens.add('somebody', 'read');
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
