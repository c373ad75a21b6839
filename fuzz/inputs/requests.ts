import type { FleetLink } from '../../src/gateway/link.js';
import type { Metrics } from '../../src/gateway/metrics/metrics.js';
import {
  type OpenApiDocument,
  type OperationObject,
  openApiDocument,
} from '../../src/gateway/openapi/document.js';
import { allOperations } from '../../src/gateway/operations/index.js';
import { jobIdForKey } from '../../src/producers/job-id.js';
import { BUILT_IN_CONTRACTS } from '../../src/queues/registry.js';
import { valuesOf } from '../../test/gateway/json-schema-values.js';
import type { Input } from '../target.js';
import { JSON_TEXT } from './kinds.js';
import { MUTATIONS } from './mutate.js';
import type { InputSource } from './source.js';

let cached: OpenApiDocument | undefined;

/** The document of the API. Its operations never run, so they need no fleet. */
function document(): OpenApiDocument {
  cached ??= openApiDocument(
    allOperations(Object.assign({} as FleetLink, { kinds: BUILT_IN_CONTRACTS }), {} as Metrics),
  );
  return cached;
}

/** An existing job. */
const JOB = jobIdForKey('solution-check', 'fuzz');
const WORDS = [
  ...[
    JOB,
    'solution-check',
    'summarize',
    'r',
    'task',
    '..',
    '%2e%2e',
    '%00',
    '%ff',
    '%ud800',
    'nowhere-1',
    '1ms',
    '0s',
    'waiting',
  ],
  ...[
    '*',
    "'",
    '"',
    '<',
    '[',
    ']',
    '[]=1',
    '[a]=1',
    '&',
    '=',
    '+',
    '#',
    '?',
    '0',
    '-1',
    '1e9',
    '9'.repeat(30),
  ],
];
const PAGES = [
  ...[
    '/',
    '/docs',
    '/board',
    '/board/',
    '/board/api/queues',
    '/board/api/queues/solution-check',
    '/login',
    '/assets/x',
  ],
  ...['/overview', '/metrics', '/healthz', '/readyz', '/favicon.ico', '//', '/v1', '/v1/', '*', 'http://x/'],
];
const HEADERS = [
  'idempotency-key',
  'last-event-id',
  'content-type',
  'accept',
  'authorization',
  'cookie',
  'origin',
  'content-encoding',
  'expect',
  'range',
  'if-none-match',
  'traceparent',
  'x-forwarded-for',
  'transfer-encoding',
];
const HEADER_VALUES = [
  'application/json',
  'text/plain',
  'Bearer x',
  'Bearer',
  '1-0',
  '999999999999999-999999999999999',
  '"a"',
  '"',
  'gzip',
  'chunked',
  '100-continue',
  'bytes=0-',
  '00-0-0-0',
];

const encode = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));

function queryOf(source: InputSource, operation: OperationObject | undefined): string {
  const names = (operation?.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name);
  const count = source.below(4);
  if (count === 0) return '';
  const pairs = [...Array(count)].map(() => {
    const name = names.length === 0 || source.chance(0.2) ? source.word(WORDS) : source.pick(names);
    const value = source.word(WORDS);
    return source.chance(0.8) ? `${encode(name)}=${encode(value)}` : `${name}=${value}`;
  });
  return `?${pairs.join('&')}`;
}

function bodyOf(source: InputSource, operation: OperationObject | undefined): string {
  const content = operation?.requestBody?.content as Record<string, { schema: object }> | undefined;
  const schema = content?.['application/json']?.schema;
  if (schema === undefined || source.chance(0.1)) return source.chance(0.7) ? '' : source.text(JSON_TEXT);
  let text = JSON.stringify(source.value(valuesOf(schema as Record<string, unknown>, document())));
  if (source.chance(0.3)) text = source.pick(MUTATIONS)(text, source, JSON_TEXT.words);
  if (source.chance(0.1)) {
    // Replaces any value with any other.
    text = text.replace(
      /:(?:"[^"]*"|\d+|true|false|null)/,
      () => `:${source.pick(['null', '[]', '{}', '"\\ud800"', '1e400', '-1', '[null]'])}`,
    );
  }
  return text;
}

function headersOf(source: InputSource, hasBody: boolean): string {
  const lines = hasBody && source.chance(0.95) ? ['content-type: application/json'] : [];
  for (let left = source.chance(0.5) ? 0 : source.below(4); left > 0; left -= 1) {
    // A line break would start another header; the server has its own limit of length.
    lines.push(`${source.pick(HEADERS)}: ${source.word(HEADER_VALUES).replace(/[\r\n]/g, ' ')}`);
  }
  return lines.map((line) => `${line}\r\n`).join('');
}

/** Method, path with its query, header lines and body of one request. */
export function requestOf(source: InputSource): Input {
  const { paths } = document();
  const [path, operations] = source.pick(Object.entries(paths));
  const [method, operation] = source.pick(Object.entries(operations));
  const onPage = source.chance(0.15);
  const filled = onPage
    ? `${source.pick(PAGES)}${source.chance(0.4) ? source.word(WORDS) : ''}`
    : path.replace(/\{\w+\}/g, () =>
        source.chance(0.4) ? JOB : source.chance(0.9) ? encode(source.word(WORDS)) : source.word(WORDS),
      );
  const chosen = onPage
    ? source.pick(['GET', 'POST', 'PUT'])
    : source.chance(0.95)
      ? method.toUpperCase()
      : source.pick(['GET', 'POST', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS', 'TRACE', 'X']);
  const body = chosen === 'GET' && source.chance(0.95) ? '' : bodyOf(source, operation);
  const target = `${filled}${queryOf(source, operation)}`.replace(/[\r\n ]/g, '');
  return [chosen, target, headersOf(source, body !== ''), body];
}
