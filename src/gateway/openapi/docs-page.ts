import type { Express } from 'express';
import { ERROR_TABLE, type ErrorCode } from '../../errors.js';
import { titleOf } from '../http/problem.js';
import { html } from '../pages/html.js';
import { page } from '../pages/layout.js';
import { table } from '../pages/table.js';
import type { OpenApiDocument } from './document.js';

/** What there is without JavaScript. */
function routeTable({ paths }: OpenApiDocument) {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return table(
    [
      {
        name: 'route',
        cell: ({ path, method }) => html`<span class="method">${method}</span> <code>${path}</code>`,
      },
      { name: 'role', cell: ({ operation }) => operation['x-role'] ?? 'no token' },
      { name: 'what', cell: ({ operation }) => operation.summary },
    ],
    routes,
  );
}

/** Every error code, with the anchor that the `type` of a problem document leads to. */
function codeTable() {
  return table(
    [
      {
        name: 'code',
        cell: ([code]) =>
          html`<code id="${code}">${code}</code><br><span class="faint">${titleOf(code as ErrorCode)}</span>`,
      },
      { name: 'status', cell: ([, { httpStatus }]) => httpStatus },
      { name: 'try again', cell: ([, { retryable }]) => (retryable ? 'yes' : 'no') },
      { name: 'what to do', cell: ([, { whatToDo }]) => whatToDo },
    ],
    Object.entries(ERROR_TABLE),
  );
}

/** The page of the API: Swagger UI with the document, and the error codes. It loads nothing from elsewhere. */
function docsPage(document: OpenApiDocument): string {
  const content = html`<link rel="stylesheet" href="/assets/swagger-ui.css">
<link rel="stylesheet" href="/assets/docs.css">
<h1>HTTP API</h1>
<p>${document.info.description} The same for programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
<p>Send a token as <code>Authorization: Bearer …</code>; <code>x-role</code> is the least role that it must have. A refusal is a problem document (RFC 9457) with one of the <a href="#codes">error codes</a>.</p>
<div id="viewer"></div>
<noscript>${routeTable(document)}</noscript>
<h2 id="codes">Error codes</h2>
${codeTable()}
<script src="/assets/swagger-ui.js" defer></script>
<script src="/assets/docs.js" defer></script>`;
  return page({ title: 'API – solution-fleet', content, at: '/docs' }).text;
}

/** Adds the page; as the document that it shows, it has no data of the fleet and needs no token. */
export function mountDocs(app: Express, document: () => OpenApiDocument): void {
  let text: Buffer | undefined;
  app.get('/docs', (_request, response) => {
    response.locals.route = '/docs';
    text ??= Buffer.from(docsPage(document()));
    response.type('html').send(text);
  });
}
