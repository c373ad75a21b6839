/**
 * A Messages API in its own process that always answers "no leakage" after `CALL_MS`. Its URL is its first line. It does not
 * read requests, so it uses little of the processors that it shares with the measured programs.
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
