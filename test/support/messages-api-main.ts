/**
 * The stand-in as a separate process: `tsx test/support/messages-api-main.ts REPLIES.json`, a list of replies.
 * Its URL is its first line of standard output; each request follows as a line of JSON. It ends with SIGTERM.
 */
import { readFileSync } from 'node:fs';
import { type Reply, startMessagesApi } from './messages-api.js';

const path = process.argv[2];
if (path === undefined) throw new Error('usage: messages-api-main.ts REPLIES.json');
const replies = JSON.parse(readFileSync(path, 'utf8')) as Reply[];

const api = await startMessagesApi({
  reply(request, index) {
    process.stdout.write(`${JSON.stringify(request.body)}\n`);
    const reply = replies[index];
    if (reply === undefined) throw new Error(`no reply number ${index + 1} in ${path}`);
    return reply;
  },
});
process.stdout.write(`${api.url}\n`);
process.once('SIGTERM', () => void api.close());
