import { spawn } from 'node:child_process';
import {
  createProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { packagePath } from '../../src/package-root.js';
import type { BenchRow } from '../harness/row.js';
import { median, timed } from '../harness/statistics.js';
import { SCRIPT } from './static-check.js';

const URI = 'file:///script.py';
const WARM = 10;
const KEYS = 30;

/** An editor types in a script of 300 lines, one key after the other once the diagnostics of the last one are there. */
export const typing: BenchRow = {
  name: 'typing',
  work: '`fleet lsp`: from a key in a script of 300 lines to its diagnostics',
  against: 'nothing: the row is the time itself, 30 ms of which it waits for another key',
  target: { atMost: 100 },
  unit: 'ms',
  runs: 5,
  shortSeconds: 5,
  run: async () => {
    const server = spawn(process.execPath, [packagePath('dist', 'cli', 'main.js'), 'lsp', '--stdio'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const connection = createProtocolConnection(
      new StreamMessageReader(server.stdout),
      new StreamMessageWriter(server.stdin),
    );
    let onPublished: (params: PublishDiagnosticsParams) => void = () => undefined;
    connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) =>
      onPublished(params),
    );
    connection.listen();
    const published = (version: number) =>
      new Promise<void>((resolve) => {
        onPublished = (params) => params.version === version && resolve();
      });
    await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: {} });
    const first = published(1);
    await connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri: URI, languageId: 'python', version: 1, text: SCRIPT },
    });
    await first;
    const times: number[] = [];
    const start = { line: 100, character: 0 };
    for (let version = 2; version < 2 + WARM + KEYS; version += 1) {
      const ms = await timed(async () => {
        const next = published(version);
        await connection.sendNotification('textDocument/didChange', {
          textDocument: { uri: URI, version },
          contentChanges: [{ range: { start, end: start }, text: '#' }],
        });
        await next;
      });
      if (version >= 2 + WARM) times.push(ms);
    }
    connection.dispose();
    server.kill();
    const slowest = Math.max(...times);
    return { ratio: median(times), details: { slowest: `${slowest.toFixed(0)} ms` } };
  },
};
