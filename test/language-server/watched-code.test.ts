import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PublishDiagnosticsParams } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { analyzeAndName } from '../../src/agents/analyze-and-name.js';
import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { codeOfScript } from '../../src/language-server/open-code.js';
import { type CodeServices, WatchedCode } from '../../src/language-server/watched-code.js';
import { proveRewrite } from '../../src/processors/leakage-check/prove-rewrite.js';

const LEAKY = `import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
data = pd.read_csv("train.csv")
X, y = data.drop(columns=["target"]), data["target"]
X = StandardScaler().fit_transform(X)
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
model = Ridge().fit(X_train, y_train)
print(model.score(X_val, y_val))
`;
const CLEAN = LEAKY.replace('StandardScaler().fit_transform(X)', 'X * 2');

/** The real work on a text, which begins once the test says so. */
class Gate {
  readonly #opens: (() => void)[] = [];
  #waiting: (() => void) | undefined;

  async pass(): Promise<void> {
    await new Promise<void>((open) => {
      this.#opens.push(open);
      this.#waiting?.();
    });
  }

  /** Resolves with what lets the next work begin, once it waits. */
  async next(): Promise<() => void> {
    if (this.#opens.length === 0) await new Promise<void>((resolve) => (this.#waiting = resolve));
    return this.#opens.shift() as () => void;
  }
}

let analyses: Gate;
let rewrites: Gate;
let published: PublishDiagnosticsParams[];
let next: () => void;
let document: TextDocument;
let watched: WatchedCode;

beforeEach(() => {
  analyses = new Gate();
  rewrites = new Gate();
  published = [];
  document = TextDocument.create('file:///a.py', 'python', 1, LEAKY);
  const services: CodeServices = {
    processing: {
      analyze: async (content) => {
        await analyses.pass();
        return analyzeAndName(content);
      },
      proveRewrite: async (content, leak) => {
        await rewrites.pass();
        return proveRewrite(content, leak, IN_PLACE_ANALYST);
      },
    },
    client: { relatedInformation: true, versionedEdits: true, markdown: true, showNotFollowed: false },
    publish: (params) => {
      published.push(params);
      next();
    },
    log: (message) => expect(message).toBe(''),
  };
  watched = new WatchedCode(() => codeOfScript(document), services);
});
afterEach(() => watched.close());

function type(text: string): void {
  TextDocument.update(document, [{ text }], document.version + 1);
  watched.changed();
}
const nextPublished = () => new Promise<void>((resolve) => (next = resolve));

it('publishes nothing of a version that was changed while it was analyzed', async () => {
  watched.changed();
  const open = await analyses.next();
  type(CLEAN);
  open();
  const analyzed = nextPublished();
  (await analyses.next())();
  await analyzed;
  expect(published).toEqual([{ uri: document.uri, version: 2, diagnostics: [] }]);
});

/** The analysis of the present text, and the first leak in it. */
async function firstLeak() {
  watched.changed();
  const analyzed = nextPublished();
  (await analyses.next())();
  await analyzed;
  const { checked } = watched;
  const [shown] = checked?.leaks ?? [];
  if (checked === undefined || shown === undefined) throw new Error('nothing was found');
  return { checked, shown };
}

it('gives nothing of what it found to one who asks after a change, and no rewrite for it', async () => {
  const { checked, shown } = await firstLeak();

  const rewrite = watched.rewriteOf(shown, checked);
  (await rewrites.next())();
  expect(await rewrite).toMatchObject({ replacement: expect.stringContaining('fit_transform(X_train)') });
  // What was found once is not looked for again.
  expect(await watched.rewriteOf(shown, checked)).toEqual(await rewrite);

  type(CLEAN);
  expect(watched.checked).toBeUndefined();
  expect(await watched.rewriteOf(shown, checked)).toBeUndefined();
});

it('gives no rewrite of a version that was changed while it was looked for', async () => {
  const { checked, shown } = await firstLeak();
  const rewrite = watched.rewriteOf(shown, checked);
  const open = await rewrites.next();
  type(CLEAN);
  open();
  expect(await rewrite).toBeUndefined();
});

it('takes back what it published when the document is closed, and publishes no more', async () => {
  watched.changed();
  const analyzed = nextPublished();
  (await analyses.next())();
  await analyzed;
  type(`# typed\n${LEAKY}`);
  const open = await analyses.next();
  const closed = nextPublished();
  watched.close();
  await closed;
  open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(published.map(({ version, diagnostics }) => [version, diagnostics.length])).toEqual([
    [1, 1],
    [undefined, 0],
  ]);
});
