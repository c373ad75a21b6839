import type { Express } from 'express';
import { ERROR_TABLE, type ErrorCode } from '../../errors.js';
import { titleOf } from '../http/problem.js';
import { type Html, html } from '../pages/html.js';
import { page } from '../pages/layout.js';
import type { OpenApiDocument, OperationObject } from './document.js';

const json = (value: unknown) => html`<pre>${JSON.stringify(value, null, 2)}</pre>`;

function operationSection(path: string, method: string, operation: OperationObject): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return html`<details id="${operationId}"><summary><span class="method">${method}</span> <code>${path}</code> – ${summary}</summary>
${description !== undefined && html`<p>${description}</p>`}
<p class="faint">Needs: ${operation['x-role'] === undefined ? 'no token' : `a token with the role ${operation['x-role']}`}</p>
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3><ul>${parameters.map(
    ({ name, in: location, required, description: text }) =>
      html`<li><code>${name}</code> (${location}${required && ', required'})${text !== undefined && `: ${text}`}</li>`,
  )}</ul>`
}
${requestBody !== undefined && html`<h3>Body</h3>${json((requestBody as { content?: unknown }).content)}`}
<h3>Responses</h3>
${Object.entries(responses)
  .filter(([, response]) => !('$ref' in response))
  .map(([status, response]) => {
    const { description: text, content } = response as { description?: string; content?: unknown };
    return html`<p><strong>${status}</strong> ${text}</p>${content !== undefined && json(content)}`;
  })}
<p class="faint">Refusals: ${Object.entries(responses)
    .filter(([, response]) => '$ref' in response)
    .map(([status]) => status)
    .join(', ')}; all are problem documents.</p>
</details>`;
}

/** A readable page of the API's document. It loads nothing from elsewhere. */
function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const content = html`<h1>HTTP API</h1>
<p>${document.info.description} The same for programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
<p>Send a token as <code>Authorization: Bearer …</code>. A refusal is a problem document (RFC 9457) whose <code>code</code> is listed below.</p>
${document.tags.map(
  ({ name }) =>
    html`<h2>${name}</h2>${operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ path, method, operation }) => operationSection(path, method, operation))}`,
)}
<h2>Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) =>
    html`<details id="schema-${name}"><summary><code>${name}</code></summary>${json(schema)}</details>`,
)}
<h2>Error codes</h2>
<div class="scroll"><table><thead><tr><th scope="col">code</th><th scope="col">status</th><th scope="col">try again</th><th scope="col">what to do</th></tr></thead>
<tbody>${Object.entries(ERROR_TABLE).map(
    ([code, { httpStatus, retryable, whatToDo }]) =>
      html`<tr id="${code}"><td><code>${code}</code><br><span class="faint">${titleOf(code as ErrorCode)}</span></td><td>${httpStatus}</td><td>${retryable ? 'yes' : 'no'}</td><td>${whatToDo}</td></tr>`,
  )}</tbody></table></div>`;
  return page({ title: 'API – solution-fleet', content, at: '/docs' }).text;
}

/** Adds the page; it has no data of the fleet, so it needs no token. */
export function mountDocs(app: Express, document: () => OpenApiDocument): void {
  let text: Buffer | undefined;
  app.get('/docs', (_request, response) => {
    response.locals.route = '/docs';
    text ??= Buffer.from(docsPage(document()));
    response.type('html').send(text);
  });
}
