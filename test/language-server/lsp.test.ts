import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeAction, Diagnostic, Hover, Range, TextDocumentEdit } from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { LanguageClient } from '../support/language-client.js';

const IMPORTS = [
  'import pandas as pd',
  'from sklearn.linear_model import Ridge',
  'from sklearn.model_selection import train_test_split',
  'from sklearn.preprocessing import StandardScaler',
];
const LEAK = 'X = StandardScaler().fit_transform(X)';
const LEAKY = [
  ...IMPORTS,
  'data = pd.read_csv("train.csv")',
  'y = data["target"]',
  'X = data.drop(columns=["target"])',
  LEAK,
  'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)',
  'model = Ridge().fit(X_train, y_train)',
  'print(model.score(X_val, y_val))',
  '',
];
/** Its rewrite changes whose labels are scored, which nobody can prove to be right. */
const NOT_PROVEN = `import pandas as pd
from sklearn.utils import resample
from sklearn.tree import DecisionTreeClassifier
from sklearn.model_selection import train_test_split
df = pd.read_csv("churn.csv")
major = df[df.churn == 0]
minor = df[df.churn == 1]
minor_up = resample(minor, replace=True, n_samples=len(major), random_state=1)
df = pd.concat([major, minor_up])
X, y = df.drop("churn", axis=1), df["churn"]
a, b, c, d = train_test_split(X, y, test_size=0.2, random_state=1)
tree = DecisionTreeClassifier().fit(a, c)
print("Final Validation Performance:", tree.score(b, d))
`;

const ALL_ABILITIES = {
  textDocument: {
    publishDiagnostics: { relatedInformation: true },
    hover: { contentFormat: ['markdown' as const] },
  },
  workspace: { workspaceEdit: { documentChanges: true } },
};

/** A document as the editor has it. */
class Opened {
  document: TextDocument;

  constructor(
    readonly client: LanguageClient,
    name: string,
    text: string,
    languageId = 'python',
  ) {
    this.document = TextDocument.create(`file:///project/${name}`, languageId, 1, text);
  }

  get item() {
    const { uri, languageId, version } = this.document;
    return { uri, languageId, version, text: this.document.getText() };
  }

  async open(): Promise<this> {
    await this.client.notify('textDocument/didOpen', { textDocument: this.item });
    return this;
  }

  /** Changes the first occurrence of a text, and tells the server so. */
  async replace(old: string, text: string): Promise<void> {
    const changes = [{ range: this.rangeOf(old), text }];
    const { uri } = this.document;
    const version = this.document.version + 1;
    this.document = TextDocument.update(this.document, changes, version);
    await this.client.notify('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: changes,
    });
  }

  rangeOf(text: string): Range {
    const at = this.document.getText().indexOf(text);
    expect(at, `${text} is in ${this.document.uri}`).toBeGreaterThanOrEqual(0);
    return { start: this.document.positionAt(at), end: this.document.positionAt(at + text.length) };
  }

  at(range: Range | undefined): string | undefined {
    return range && this.document.getText(range);
  }

  async diagnostics(): Promise<readonly Diagnostic[]> {
    const { uri, version } = this.document;
    return (await this.client.diagnostics(uri, version)).diagnostics;
  }

  hover(text: string): Promise<Hover | null> {
    return this.client.connection.sendRequest('textDocument/hover', {
      textDocument: { uri: this.document.uri },
      position: this.rangeOf(text).start,
    });
  }

  actions(text: string, only?: readonly string[]): Promise<readonly CodeAction[]> {
    return this.client.connection.sendRequest('textDocument/codeAction', {
      textDocument: { uri: this.document.uri },
      range: this.rangeOf(text),
      context: { diagnostics: [], ...(only === undefined ? {} : { only }) },
    });
  }
}

describe('fleet lsp for an editor that understands all of it', () => {
  let client: LanguageClient;
  beforeAll(async () => {
    // Neither is asked.
    client = new LanguageClient({ FLEET_REDIS_URL: 'redis://127.0.0.1:1', ANTHROPIC_API_KEY: 'test-key' });
    const { serverInfo, capabilities } = await client.initialize(ALL_ABILITIES);
    expect([serverInfo?.name, capabilities.positionEncoding]).toEqual(['solution-fleet', 'utf-16']);
  });
  afterAll(() => client.kill());

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ])('a script with emoji and %s: where a leak is, its flow, and its correction', async (name, lineBreak) => {
    const text = LEAKY.join('\n').replace('"train.csv")', '"🚢🚢.csv"); X = 1');
    const script = await new Opened(
      client,
      `${name}.py`,
      text.replace(LEAK, `s = "🚢"; ${LEAK}`).replaceAll('\n', lineBreak),
    ).open();
    const [leak, ...others] = await script.diagnostics();
    expect(others).toEqual([]);
    expect(leak).toMatchObject({ source: 'solution-fleet', code: 'scaling', severity: 3 });
    expect(script.at(leak?.range)).toBe('StandardScaler().fit_transform(X)');
    expect(
      leak?.relatedInformation?.map(({ message, location: { uri, range } }) => [
        message.split(':')[0],
        uri,
        script.at(range),
      ]),
    ).toEqual([
      ['fit', script.document.uri, 'StandardScaler().fit_transform(X)'],
      ['split', script.document.uri, 'train_test_split(X, y, random_state=0)'],
      ['score', script.document.uri, 'model.score(X_val, y_val)'],
    ]);

    const hover = await script.hover('random_state');
    expect(script.at(hover?.range)).toBe('train_test_split(X, y, random_state=0)');
    expect(hover?.contents).toEqual({
      kind: 'markdown',
      value: expect.stringMatching(
        /^\*\*.*scaling[\s\S]*- fit, line 8: ` Standard[\s\S]*- split, line 9[\s\S]*- score, line 11/,
      ),
    });
    expect(await script.hover('import')).toBeNull();
    expect(await script.actions('import')).toEqual([]);
    expect(await script.actions('fit_transform', ['refactor'])).toEqual([]);
  });

  it('the correction is an edit of the version that it was made for, after which there is no leak', async () => {
    const script = await new Opened(client, 'corrected.py', LEAKY.join('\r\n')).open();
    await script.diagnostics();
    await script.replace('import pandas as pd', 'import pandas as pd  # 🐼');
    const [leak] = await script.diagnostics();
    const [action, ...others] = await script.actions('fit_transform', ['quickfix']);
    expect(others).toEqual([]);
    expect(action).toMatchObject({ kind: 'quickfix', isPreferred: true, diagnostics: [leak] });
    const [edit] = (action?.edit?.documentChanges ?? []) as TextDocumentEdit[];
    expect(edit?.textDocument).toEqual({ uri: script.document.uri, version: 2 });
    const corrected = TextDocument.applyEdits(script.document, (edit?.edits ?? []) as never);
    expect(corrected).toContain('fit_transform(X_train)');
    expect(corrected.replaceAll('\r\n', '')).not.toContain('\n');
    await script.replace(script.document.getText(), corrected);
    expect(await script.diagnostics()).toEqual([]);
    expect(await script.actions('fit_transform')).toEqual([]);
  });

  it('what is typed: a version is published at most once, never after a newer one, and each with its own lines', async () => {
    const script = await new Opened(client, 'typed.py', LEAKY.join('\n')).open();
    const texts = new Map([[1, script.document.getText()]]);
    for (let at = 0; at < 40; at += 1) {
      await script.replace(LEAK, `# typed\n${LEAK}`);
      texts.set(script.document.version, script.document.getText());
      if (at % 8 === 0) await script.diagnostics();
    }
    await script.diagnostics();
    const published = client.published.filter(({ uri }) => uri === script.document.uri);
    const versions = published.map(({ version }) => version ?? 0);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(versions.at(-1)).toBe(41);
    for (const { version = 0, diagnostics } of published) {
      const document = TextDocument.create('', 'python', version, texts.get(version) ?? '');
      expect(diagnostics.map(({ range }) => document.getText(range))).toEqual([
        'StandardScaler().fit_transform(X)',
      ]);
    }
    await script.replace(LEAK, '');
    expect(await script.diagnostics()).toEqual([]);
    // An error that makes the rest of the script unreadable is for another server to show.
    await script.replace('model = Ridge()', 'model = (');
    expect(await script.diagnostics()).toEqual([]);
    await client.notify('textDocument/didClose', { textDocument: { uri: script.document.uri } });
    expect(await script.hover('import')).toBeNull();
    const last = client.published.findLast(({ uri }) => uri === script.document.uri);
    expect(last).toEqual({ uri: script.document.uri, diagnostics: [] });
  });

  it('a script with cells and magics is read as a notebook is', async () => {
    const cells = [
      ['# %%', '%matplotlib inline'],
      ['# %% [markdown]', '# Text'],
    ];
    const text = [...cells.flat(), ...LEAKY.slice(0, 7), '# %%', ...LEAKY.slice(7)].join('\n');
    const script = await new Opened(client, 'cells.py', text).open();
    const [leak] = await script.diagnostics();
    expect(script.at(leak?.range)).toBe('StandardScaler().fit_transform(X)');
    expect(leak?.message).toContain('(line 13)');
    expect(await script.actions('fit_transform')).toHaveLength(1);
  });

  it('offers no correction that is not proven, though fleet check makes it', async () => {
    const script = await new Opened(client, 'not-proven.py', NOT_PROVEN).open();
    expect(await script.diagnostics()).toMatchObject([{ code: 'duplicated-rows', severity: 1 }]);
    expect(await script.actions('resample(minor')).toEqual([]);
  });

  it('says what was not checked at all, and nothing of other languages', async () => {
    const encoded = await new Opened(client, 'encoded.py', `# coding: utf-7\n${LEAKY.join('\n')}`).open();
    const unknown = 'import tool\nprint("Final Validation Performance:", tool.run())\n';
    const other = await new Opened(client, 'x.R', LEAKY.join('\n'), 'r').open();
    const unread = await new Opened(client, 'unread.py', unknown).open();
    expect(await encoded.diagnostics()).toMatchObject([
      { severity: 3, message: expect.stringMatching(/^Not checked for leakage: .*encoding utf-7/) },
    ]);
    const [remark, ...more] = await unread.diagnostics();
    expect(more).toEqual([]);
    expect([remark?.severity, unread.at(remark?.range)]).toEqual([3, 'import tool']);
    expect(remark?.message).toMatch(/^Not checked for leakage: .*could not follow the score/);
    expect(client.published.filter(({ uri }) => uri === other.document.uri)).toEqual([]);
  });

  it('a notebook: leaks in their cells, related to other cells, and corrected over cells', async () => {
    const notebook = 'file:///project/a.ipynb';
    const cell = (at: number, text: string, languageId = 'python') => {
      const opened = new Opened(client, 'a.ipynb', text, languageId);
      const uri = `vscode-notebook-cell:/project/a.ipynb#${at}`;
      opened.document = TextDocument.create(uri, languageId, 1, text);
      return opened;
    };
    const text = cell(0, '# Title', 'markdown');
    const load = cell(1, LEAKY.slice(0, 7).join('\n'));
    const shell = cell(2, '%%bash\nls');
    const fit = cell(3, `s = "🚢"\n${LEAK}`);
    const split = cell(4, `${LEAKY[8]}\nprint(len(X_train))`);
    const score = cell(5, LEAKY.slice(9, 11).join('\n'));
    const cells = [text, load, shell, fit, split, score];
    await client.notify('notebookDocument/didOpen', {
      notebookDocument: {
        uri: notebook,
        notebookType: 'jupyter-notebook',
        version: 1,
        cells: cells.map((one) => ({ kind: one === text ? 1 : 2, document: one.document.uri })),
      },
      cellTextDocuments: cells.map(({ item }) => item),
    });
    const [leak] = await fit.diagnostics();
    expect(fit.at(leak?.range)).toBe('StandardScaler().fit_transform(X)');
    expect(leak?.message).toContain('(cell 4 line 2)');
    expect(leak?.message).toContain('scored at cell 6 line 2');
    expect(leak?.relatedInformation?.map(({ location: { uri } }) => uri)).toEqual([
      fit.document.uri,
      split.document.uri,
      score.document.uri,
    ]);
    for (const other of [load, shell, split, score]) expect(await other.diagnostics()).toEqual([]);
    expect((await score.hover('model.score'))?.contents).toMatchObject({
      value: expect.stringContaining('- split, cell 5 line 1: '),
    });

    const change = (version: number, changed: unknown) =>
      client.notify('notebookDocument/didChange', {
        notebookDocument: { uri: notebook, version },
        change: { cells: changed },
      });
    // Another cell is typed in: all are published again, each at its own version.
    load.document = TextDocument.update(load.document, [{ text: `\n${load.document.getText()}` }], 2);
    await change(2, {
      textContent: [
        { document: { uri: load.document.uri, version: 2 }, changes: [{ text: load.document.getText() }] },
      ],
    });
    expect(await load.diagnostics()).toEqual([]);
    const ofFit = () => client.published.filter(({ uri }) => uri === fit.document.uri);
    const again = await client.until(() => ofFit()[1]);
    expect([again.version, again.diagnostics[0]?.message]).toEqual([1, leak?.message]);

    const [action] = await fit.actions('fit_transform');
    const edits = (action?.edit?.documentChanges ?? []) as TextDocumentEdit[];
    expect(edits.map(({ textDocument }) => textDocument)).toEqual(
      [fit, split].map(({ document: { uri } }) => ({ uri, version: 1 })),
    );
    const [first, second] = edits.map((edit, at) =>
      TextDocument.applyEdits((at === 0 ? fit : split).document, edit.edits as never),
    );
    expect(first).toBe('s = "🚢"');
    expect(second).toMatch(/^X_train, .*\n[\s\S]*fit_transform\(X_train\)[\s\S]*\nprint\(len\(X_train\)\)$/);

    // Cells are moved, which opens and closes none: the preparation comes after the split, and back.
    const moved = (version: number, cellsThere: readonly Opened[]) =>
      change(version, {
        structure: {
          array: {
            start: 3,
            deleteCount: 2,
            cells: cellsThere.map(({ document: { uri } }) => ({ kind: 2, document: uri })),
          },
        },
      });
    const leaksOfFit = (count: number) =>
      client.until(() => (ofFit().at(-1)?.diagnostics.length === count ? true : undefined));
    await moved(3, [split, fit]);
    await leaksOfFit(0);
    await moved(4, [fit, split]);
    await leaksOfFit(1);
    // A cell that was never opened ends no server.
    await change(5, { data: [{ kind: 2, document: 'vscode-notebook-cell:/project/a.ipynb#none' }] });

    // The cell of the leak is removed, and with it what was shown in it.
    await change(6, {
      structure: {
        array: { start: 3, deleteCount: 1 },
        didClose: [{ uri: fit.document.uri }],
      },
    });
    load.document = TextDocument.update(load.document, [{ text: load.document.getText().trim() }], 3);
    await change(7, {
      textContent: [
        { document: { uri: load.document.uri, version: 3 }, changes: [{ text: load.document.getText() }] },
      ],
    });
    await load.diagnostics();
    expect(client.published.findLast(({ uri }) => uri === fit.document.uri)?.diagnostics).toEqual([]);
  });

  it('ends with 0 after shutdown and exit, and has written to standard error alone what is for people', async () => {
    await client.connection.sendRequest('shutdown');
    await client.notify('exit');
    expect(await client.exitCode()).toBe(0);
    expect(client.stderr.split('\n')).toEqual([
      'agents: offline static analysis (fleet lsp sends nothing anywhere)',
      expect.stringMatching(/^a message about a notebook cannot be followed: /),
      '',
    ]);
  });
});

describe('fleet lsp for an editor that understands little', () => {
  it('says it in plain text, and shows what was not followed where that is wanted; ends with its input', async () => {
    const client = new LanguageClient();
    try {
      await client.initialize({}, { showNotFollowed: true });
      const text = `${LEAKY.join('\n')}exec("model.fit(X)")\n`;
      const script = await new Opened(client, 'a.py', text).open();
      const [leak, ...remarks] = await script.diagnostics();
      const remark = remarks.at(-1);
      expect(leak).not.toHaveProperty('relatedInformation');
      expect([remark?.severity, script.at(remark?.range)]).toEqual([3, 'exec("model.fit(X)")']);
      for (const { message } of remarks) expect(message).toMatch(/^Not followed: /);
      expect((await script.hover('fit_transform'))?.contents).toEqual({
        kind: 'plaintext',
        value: expect.stringMatching(/^Data leakage[^*]*\n- fit, line 8: StandardScaler/),
      });
      const [action] = await script.actions('fit_transform');
      expect(Object.keys(action?.edit?.changes ?? {})).toEqual([script.document.uri]);
      client.closeInput();
      expect(await client.exitCode()).toBe(1);
    } finally {
      client.kill();
    }
  });
});
