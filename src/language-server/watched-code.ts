import type { Diagnostic, PublishDiagnosticsParams } from 'vscode-languageserver/node';
import { messageOf, toFleetError } from '../errors.js';
import type { LocalProcessing } from '../local/local-processing.js';
import type { ProvenRewrite } from '../processors/leakage-check/prove-rewrite.js';
import { type CheckedCode, checkedCode, type ShownLeak, uncheckedCode } from './checked-code.js';
import type { ClientAbilities } from './client-abilities.js';
import { NewestVersion } from './newest-version.js';
import { isSameCode, type OpenCode } from './open-code.js';

/** What the code of a document needs from the server. */
export interface CodeServices {
  readonly processing: Pick<LocalProcessing, 'analyze' | 'proveRewrite'>;
  readonly client: ClientAbilities;
  publish(params: PublishDiagnosticsParams): void;
  /** Writes a line for the log. */
  log(message: string): void;
}

/** An open script or notebook: its diagnostics follow what is typed. */
export class WatchedCode {
  readonly #current: () => OpenCode;
  readonly #services: CodeServices;
  readonly #newest: NewestVersion;
  #checked: CheckedCode | undefined;
  #rewrites = new Map<ShownLeak, Promise<ProvenRewrite | undefined>>();
  #lastRewrite: Promise<unknown> = Promise.resolve();
  /** Documents that have diagnostics in the editor. */
  readonly #published = new Set<string>();
  #isClosed = false;

  /** @param current the code as it is now */
  constructor(current: () => OpenCode, services: CodeServices) {
    this.#current = current;
    this.#services = services;
    this.#newest = new NewestVersion((signal) => this.#check(signal), services.log);
  }

  changed(): void {
    this.#newest.changed();
  }

  close(): void {
    this.#isClosed = true;
    this.#newest.close();
    for (const uri of this.#published) this.#services.publish({ uri, diagnostics: [] });
  }

  /** What was found, if nothing was typed since. */
  get checked(): CheckedCode | undefined {
    const checked = this.#checked;
    return checked !== undefined && this.#isCurrent(checked.code) ? checked : undefined;
  }

  /**
   * The proven rewrite of a leak that `checked` has; undefined if there is none, or if the code is changed before it is found.
   */
  async rewriteOf(shown: ShownLeak, { code }: CheckedCode): Promise<ProvenRewrite | undefined> {
    const known = this.#rewrites.get(shown);
    // One at a time: the other thread is for what is typed.
    const rewrite = known ?? this.#lastRewrite.then(() => this.#proveRewrite(shown, code));
    this.#rewrites.set(shown, rewrite);
    this.#lastRewrite = rewrite;
    const found = await rewrite;
    return this.#isCurrent(code) ? found : undefined;
  }

  async #proveRewrite({ leak }: ShownLeak, code: OpenCode): Promise<ProvenRewrite | undefined> {
    if (!this.#isCurrent(code)) return undefined;
    const { processing, log } = this.#services;
    try {
      return await processing.proveRewrite(code.source, leak, new AbortController().signal);
    } catch (thrown) {
      log(`no correction: ${messageOf(thrown)}`);
      return undefined;
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const code = this.#current();
    const found = await this.#analyze(code, signal);
    // A newer version is waiting for its turn.
    if (!this.#isCurrent(code)) return;
    const checked = found(code);
    this.#checked = checked;
    this.#rewrites = new Map();
    this.#publish(checked);
  }

  /** What is shown of the code; to be made where it is known that the documents are still as they were. */
  async #analyze(code: OpenCode, signal: AbortSignal): Promise<(code: OpenCode) => CheckedCode> {
    const { processing, client, log } = this.#services;
    if (code.source.trim() === '') return (same) => ({ code: same, leaks: [], remarks: [] });
    try {
      const analysis = await processing.analyze(code.source, signal);
      return (same) => checkedCode(same, analysis, client);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const { code: problem, message } = toFleetError(thrown);
      if (problem === 'internal') log(message);
      return (same) => uncheckedCode(same, message);
    }
  }

  #publish({ code, leaks, remarks }: CheckedCode): void {
    const byUri = new Map<string, Diagnostic[]>();
    for (const { document } of code.parts) byUri.set(document.uri, []);
    for (const { at, diagnostic } of [...leaks, ...remarks]) byUri.get(at.document.uri)?.push(diagnostic);
    for (const uri of this.#published) {
      if (byUri.has(uri)) continue;
      this.#published.delete(uri);
      this.#services.publish({ uri, diagnostics: [] });
    }
    for (const { document, version } of code.parts) {
      const { uri } = document;
      this.#published.add(uri);
      this.#services.publish({ uri, version, diagnostics: byUri.get(uri) ?? [] });
    }
  }

  #isCurrent(code: OpenCode): boolean {
    return !this.#isClosed && isSameCode(code, this.#current());
  }
}
