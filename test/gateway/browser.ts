import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The system's own Chromium; undefined where there is none. */
function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) =>
    existsSync(file),
  );
}

/** Whether page tests can run; says loudly why not. */
export function hasChromium(): boolean {
  if (findChromium() !== undefined) return true;
  process.stderr.write(
    '\nSKIPPED: tests of pages need Chromium; get it with: node scripts/setup.mjs --with chromium\n\n',
  );
  return false;
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('there is no Chromium');
  // The sandbox needs rights that containers and root do not have; only our own pages are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** What a page may differ in. */
export type PageOptions = Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'javaScriptEnabled' | 'bypassCSP'
>;

/** Pages that tests use one after the other: to open one takes longer than most tests need it. */
export class SharedPages {
  readonly #browser: Browser;
  readonly #pages = new Map<string, Page>();
  readonly #used = new Set<Page>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  async page(options: PageOptions = {}): Promise<Page> {
    const { viewport, colorScheme = 'light', ...lasting } = options;
    const key = JSON.stringify(lasting);
    const page = this.#pages.get(key) ?? (await (await this.#browser.newContext(lasting)).newPage());
    this.#pages.set(key, page);
    this.#used.add(page);
    await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
    await page.emulateMedia({ colorScheme });
    return page;
  }

  /** Leaves what the pages show, and makes them as new for the next test. */
  async reset(): Promise<void> {
    for (const page of this.#used) {
      page.removeAllListeners();
      await page.goto('about:blank');
      await page.context().clearCookies();
    }
    this.#used.clear();
  }
}

/** Text that runs a script wherever it is taken for HTML, an address or a script. */
export const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '<script>window.pwned=1</script>',
  '"><svg onload=window.pwned=1>',
  "javascript:window.pwned=1//'",
  '</script><script>window.pwned=1</script>',
  '\u001b[31mred\u001b]8;;javascript:window.pwned=1\u0007',
  '{{constructor.constructor("window.pwned=1")()}}',
  '\u202egnp.exe',
].join(' ');

/**
 * Watches a page; call the result at the end: it fails if anything from outside has run or been loaded.
 * @param tries Whether it also fails for what the browser refused: a request to another server, an inline script or style.
 */
export function watchPage(page: Page, origin: string, { tries = false } = {}): () => Promise<void> {
  const incidents: string[] = [];
  page.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on('pageerror', (error) => incidents.push(`page error: ${error.message}`));
  const noteOther = (request: Request) => {
    const { protocol } = new URL(request.url());
    if (protocol !== 'data:' && !request.url().startsWith(origin)) incidents.push(`loaded ${request.url()}`);
  };
  if (tries) page.on('request', noteOther);
  else page.on('requestfinished', noteOther);
  page.on('console', (message) => {
    if (tries && message.type() === 'error') incidents.push(`the browser says: ${message.text()}`);
  });
  return async () => {
    // A string, since it is the page's window that is looked at.
    if ((await page.evaluate('window.pwned')) !== undefined) incidents.push('a script from data has run');
    if (incidents.length > 0) throw new Error(incidents.join('\n'));
  };
}
