/**
 * A Messages API, as a process of its own, whose every answer says "no leakage" after `CALL_MS`. Its URL is its first
 * line. It looks at no request, so that it takes little of the processors that it shares with those who are measured.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { leaks } from '../../test/support/agent-answers.js';
import { streamEvents } from '../../test/support/messages-api-stream.js';

const callMs = Number(process.env.CALL_MS);
const events = streamEvents(leaks(), 'claude-sonnet-5-5').map(
  ({ event, data }) => `event: ${event}\ndata: ${data}\n\n`,
);

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (const event of events) response.write(event);
      response.end();
    }, callMs);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
