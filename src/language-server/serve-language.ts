import type { Readable, Writable } from 'node:stream';
import {
  CodeActionKind,
  createConnection,
  type InitializeResult,
  NotebookDocuments,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { LocalProcessing } from '../local/local-processing.js';
import { abilitiesOf, type ClientAbilities } from './client-abilities.js';
import { correctionOf, leaksIn } from './corrections.js';
import { hoverAt } from './hover-text.js';
import { listenToNotebooks } from './listen-to-notebooks.js';
import { codeOfNotebook, codeOfScript, type OpenCode } from './open-code.js';
import { WatchedCode } from './watched-code.js';

export interface LanguageServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  readonly processing: LocalProcessing;
  /** Writes a line for people, not to `output`. */
  log(message: string): void;
}

/**
 * Speaks the Language Server Protocol (3.17) until the editor says `exit` or its end of `input` is closed. That ends the process: with
 * 0 after a `shutdown`, as the protocol demands, otherwise with 1.
 */
export function serveLanguage({ input, output, version, processing, log }: LanguageServerOptions): void {
  const connection = createConnection(input, output);
  const scripts = new TextDocuments(TextDocument);
  const notebooks = new NotebookDocuments(TextDocument);
  const watched = new Map<string, WatchedCode>();
  let client: ClientAbilities | undefined;

  const watch = (uri: string, current: () => OpenCode) => {
    if (client === undefined) return;
    const publish = (params: Parameters<typeof connection.sendDiagnostics>[0]) =>
      void connection.sendDiagnostics(params);
    const code = new WatchedCode(current, { processing, client, publish, log });
    watched.get(uri)?.close();
    watched.set(uri, code);
    code.changed();
  };
  const unwatch = (uri: string) => {
    watched.get(uri)?.close();
    watched.delete(uri);
  };
  /** The code that holds a document, the position of which the editor asks about. */
  const holding = (uri: string) => {
    const code = watched.get(notebooks.findNotebookDocumentForCell(uri)?.uri ?? uri);
    const checked = code?.checked;
    const document = scripts.get(uri) ?? notebooks.cellTextDocuments.get(uri);
    return code === undefined || checked === undefined || document === undefined
      ? undefined
      : { code, checked, document };
  };

  connection.onInitialize((params): InitializeResult => {
    client = abilitiesOf(params);
    return {
      serverInfo: { name: 'solution-fleet', version },
      capabilities: {
        positionEncoding: 'utf-16',
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        // All cells, since their positions are named as in the file.
        notebookDocumentSync: { notebookSelector: [{ notebook: 'jupyter-notebook' }] },
        hoverProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      },
    };
  });

  scripts.onDidOpen(({ document }) => {
    if (document.languageId === 'python') watch(document.uri, () => codeOfScript(document));
  });
  scripts.onDidChangeContent(({ document }) => watched.get(document.uri)?.changed());
  scripts.onDidClose(({ document }) => unwatch(document.uri));
  notebooks.onDidOpen((notebook) => {
    watch(notebook.uri, () => codeOfNotebook(notebook, (cell) => notebooks.getCellTextDocument(cell)));
  });
  notebooks.onDidClose(({ uri }) => unwatch(uri));

  connection.onHover(({ textDocument: { uri }, position }) => {
    const open = holding(uri);
    if (open === undefined || client === undefined) return null;
    return hoverAt(open.checked, uri, open.document.offsetAt(position), client);
  });
  connection.onCodeAction(async ({ textDocument: { uri }, range, context: { only } }) => {
    const open = holding(uri);
    const isWanted = only?.some((kind) => `${CodeActionKind.QuickFix}.`.startsWith(`${kind}.`)) ?? true;
    if (open === undefined || client === undefined || !isWanted) return [];
    const actions = [];
    for (const shown of leaksIn(open.checked, uri, range)) {
      const rewrite = await open.code.rewriteOf(shown, open.checked);
      if (rewrite !== undefined) actions.push(correctionOf(shown, rewrite, open.checked.code, client));
    }
    // What was found for one leak is for another version once something was typed.
    return open.code.checked === open.checked ? actions : [];
  });

  scripts.listen(connection);
  listenToNotebooks(connection, notebooks, {
    changed: (uri) => watched.get(uri)?.changed(),
    failed: (message) => log(`a message about a notebook cannot be followed: ${message}`),
  });
  connection.listen();
}
