import type { Express, Request, Response } from 'express';
import { RequestError } from '../../errors.js';
import type { Gateway } from '../gateway.js';
import type { Mounting } from '../http/mount.js';
import { readBody } from '../http/read-json.js';
import type { TransferRate } from '../http/transfer-watch.js';
import { html } from '../pages/html.js';
import { page } from '../pages/layout.js';
import { addressOf } from './address.js';
import { cookieOf, sessionCookie } from './caller.js';
import { RequestRate } from './request-rate.js';
import { assertSameOrigin } from './same-origin.js';
import { SESSION_SECONDS } from './session-store.js';

/** A token and where to go next fit into this. */
const FORM_BYTES = 8_192;

/** A path on this gateway to go to after logging in; anything else leads to the overview. */
export function safeNext(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])[\w\-./~%?=&+*]*$/.test(next) ? next : '/';
}

function loginPage(next: string, problem?: string): string {
  return page({
    title: 'Log in – solution-fleet',
    content: html`<div class="narrow"><h1>Log in</h1>
${problem !== undefined && html`<p class="bad" role="alert">${problem}</p>`}
<form method="post" action="/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="${next}">
<button>Log in</button>
</form>
<p class="faint">A token is made with <code>fleet token add</code>.</p></div>`,
  }).text;
}

/** Reads the fields of a small form. */
async function readForm(request: Request, rate: TransferRate, signal: AbortSignal): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.get('content-type') ?? '')) {
    throw new RequestError('unsupported-media-type', 'a form is expected', { field: 'content-type' });
  }
  const bytes = await readBody(request, { limit: FORM_BYTES, rate, signal });
  return new URLSearchParams(bytes.toString('latin1'));
}

function setSessionCookie(response: Response, gateway: Gateway, value: string, seconds: number): void {
  response.cookie(sessionCookie(gateway.settings), value, {
    httpOnly: true,
    sameSite: 'strict',
    secure: gateway.settings.secureCookies,
    maxAge: seconds * 1_000,
    path: '/',
  });
}

/** Adds the pages by which a browser logs in with a token and out again. */
export function mountLogin(
  app: Express,
  { link, bodyRate }: Pick<Mounting, 'link' | 'bodyRate'>,
  loginsPerMinute: number,
): void {
  const rate = new RequestRate(loginsPerMinute, 'logins');
  app.get('/login', (request, response) => {
    link.require();
    response.set('cache-control', 'no-store').send(loginPage(safeNext(request.query.next)));
  });
  app.post('/login', async (request, response) => {
    response.locals.route = '/login';
    const gateway = link.require();
    // There is no cookie yet, but another site must not log a browser in as somebody else.
    assertSameOrigin(request, 'cookie');
    rate.take(addressOf(request));
    const form = await readForm(request, bodyRate, gateway.closing);
    const next = safeNext(form.get('next') ?? undefined);
    const record = await gateway.tokens.find((form.get('token') ?? '').trim());
    response.set('cache-control', 'no-store');
    if (record === undefined) {
      response.status(401).send(loginPage(next, 'This token is not in force.'));
      return;
    }
    // A browser has one session: the previous one would otherwise stay valid unnoticed.
    const before = cookieOf(request, sessionCookie(gateway.settings));
    if (before !== undefined) await gateway.tokens.closeSession(before);
    setSessionCookie(response, gateway, await gateway.tokens.openSession(record.id), SESSION_SECONDS);
    // The overview is about all tenants.
    response.redirect(303, next === '/' && record.tenant !== undefined ? '/runs' : next);
  });
  app.post('/logout', async (request, response) => {
    response.locals.route = '/logout';
    const gateway = link.require();
    assertSameOrigin(request, 'cookie');
    const session = cookieOf(request, sessionCookie(gateway.settings));
    if (session !== undefined) await gateway.tokens.closeSession(session);
    setSessionCookie(response, gateway, '', 0);
    response.set('cache-control', 'no-store').redirect(303, '/login');
  });
}
