/**
 * A Messages API that enforces limits, in its own process. Its URL is its first line; a `GET` of the second URL on that line
 * returns the calls so far.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMessagesApi } from '../../test/support/messages-api.js';
import { LimitedProvider, type ProviderLimits } from './limited-provider.js';

const provider = new LimitedProvider(JSON.parse(process.env.LIMITS ?? '{}') as ProviderLimits);
const api = await startMessagesApi({ reply: (request) => provider.reply(request) });
const calls = createServer((_request, response) => {
  response.end(JSON.stringify(provider.calls));
});
calls.listen(0, '127.0.0.1', () => {
  const { port } = calls.address() as AddressInfo;
  process.stdout.write(`${api.url} http://127.0.0.1:${port}\n`);
});
