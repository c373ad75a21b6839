import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/calls/clock.js';
import { sdkTransport } from '../../src/calls/sdk-transport.js';
import { DEFAULT_CALL_LIMITS, sendCall } from '../../src/calls/send-call.js';
import { errorReply, textReply } from '../support/messages-api.js';
import { testProgram } from '../support/programs.js';

it('the replacement for the Messages API also runs in its own process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-messages-api-'));
  const script = join(folder, 'replies.json');
  writeFileSync(script, JSON.stringify([errorReply(529), textReply('from another process')]));
  const server = execa('node', [testProgram('test/support/messages-api-main'), script], {
    reject: false,
  });
  try {
    const lines = server.iterable();
    const { value: baseURL } = await lines.next();
    const transport = sdkTransport({ apiKey: 'k', baseURL: String(baseURL) });
    const request = { model: 'm', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hello' }] };
    const first = await sendCall(request, transport, DEFAULT_CALL_LIMITS, systemClock);
    const second = await sendCall(request, transport, DEFAULT_CALL_LIMITS, systemClock);
    expect([first.class, second.class]).toEqual(['overloaded', 'answered']);
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject({ model: 'm', stream: true });
  } finally {
    server.kill('SIGTERM');
    await server;
    rmSync(folder, { recursive: true });
  }
});
