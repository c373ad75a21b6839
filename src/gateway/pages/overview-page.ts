import type { Express } from 'express';
import { messageOf } from '../../errors.js';
import { authorize, endsOfAccess } from '../auth/caller.js';
import { EventStream } from '../events/event-stream.js';
import type { Gateway } from '../gateway.js';
import { firstAbort } from '../http/first-abort.js';
import { holdResource, type Mounting } from '../http/mount.js';
import { whenOver } from '../http/request-log.js';
import { page } from './layout.js';
import { type Overview, readOverview } from './overview-data.js';
import { overviewContent } from './overview-view.js';
import { pageHandler } from './page-request.js';

/** How often an open overview gets newer figures, in milliseconds. */
const LIVE_MS = 2_000;
/** All who look at the same time share one reading, in milliseconds. */
const SHARED_MS = 1_000;

/** Adds the overview page and its live figures. */
export function mountOverview(app: Express, mounting: Mounting): void {
  let shared: { readonly at: number; readonly overview: Promise<Overview> } | undefined;
  const read = (gateway: Gateway): Promise<Overview> => {
    if (shared === undefined || Date.now() - shared.at > SHARED_MS) {
      shared = { at: Date.now(), overview: readOverview(gateway) };
    }
    return shared.overview;
  };

  app.get(
    '/',
    pageHandler(mounting, '/', async ({ gateway, caller, response }) => {
      const content = overviewContent(await read(gateway));
      const title = 'Overview – solution-fleet';
      response.set('cache-control', 'no-store');
      response.send(
        page({ title, content, script: 'overview.js', loggedIn: caller.by === 'cookie', at: '/' }).text,
      );
    }),
  );

  app.get(
    '/live',
    pageHandler(mounting, '/live', async ({ gateway, caller, request, response }) => {
      await holdResource('stream', response, mounting);
      const stream = new EventStream(response, gateway, () => authorize(request, gateway, 'read'));
      const stop = () => stream.end();
      const over = firstAbort(whenOver(response), endsOfAccess(gateway, caller));
      over.addEventListener('abort', stop, { once: true });
      if (over.aborted) stop();
      const show = async () => {
        try {
          stream.send('overview', overviewContent(await read(gateway)).text);
        } catch (thrown) {
          // Redis is away: the page says so, and the next figures come when it is back.
          gateway.logger.debug({ reason: messageOf(thrown) }, 'the overview has no figures');
          stream.send('away', null);
        }
      };
      const timer = setInterval(show, LIVE_MS);
      await show();
      await stream.ended;
      clearInterval(timer);
    }),
  );
}
