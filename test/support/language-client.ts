import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  type ClientCapabilities,
  createProtocolConnection,
  type InitializeResult,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { emptyFolder } from './fleet-command.js';
import { testProgram } from './programs.js';

/** An editor: a client of the Language Server Protocol, and `fleet lsp --stdio` as its process. */
export class LanguageClient {
  readonly #child: ChildProcess;
  readonly connection;
  /** All that was published, in order. */
  readonly published: PublishDiagnosticsParams[] = [];
  #waiting: (() => void)[] = [];
  stderr = '';

  constructor(environment: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [testProgram('src/cli/main'), 'lsp', '--stdio'], {
      cwd: emptyFolder(),
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // Anything on standard output that is not of the protocol is an error of the reader.
    this.connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.published.push(params);
      for (const look of this.#waiting) look();
    });
    this.connection.listen();
  }

  async initialize(
    capabilities: ClientCapabilities,
    initializationOptions?: unknown,
  ): Promise<InitializeResult> {
    const processId = process.pid;
    const params = { processId, rootUri: null, capabilities, initializationOptions };
    const result = await this.connection.sendRequest<InitializeResult>('initialize', params);
    void this.notify('initialized', {});
    return result;
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.connection.sendNotification(method, params);
  }

  /** What is published for a document at a version. */
  diagnostics(uri: string, version: number): Promise<PublishDiagnosticsParams> {
    return this.until(() => this.published.find((one) => one.uri === uri && one.version === version));
  }

  /** Waits for something that can be found after something was published. */
  async until<T>(found: () => T | undefined): Promise<T> {
    const now = found();
    if (now !== undefined) return now;
    return new Promise((resolve) => {
      const look = () => {
        const value = found();
        if (value === undefined) return;
        this.#waiting = this.#waiting.filter((one) => one !== look);
        resolve(value);
      };
      this.#waiting.push(look);
    });
  }

  /** Closes the standard input of the server. */
  closeInput(): void {
    this.#child.stdin?.end();
  }

  /** The exit code of the server, once it has ended. */
  async exitCode(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  kill(): void {
    this.connection.dispose();
    this.#child.kill('SIGKILL');
  }
}
