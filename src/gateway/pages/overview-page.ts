import type { Express } from 'express';
import { messageOf } from '../../errors.js';
import { authorize, endsOfAccess } from '../auth/caller.js';
import { EventStream } from '../events/event-stream.js';
import type { Gateway } from '../gateway.js';
import { firstAbort } from '../http/first-abort.js';
import { type Mounting, takeResource } from '../http/mount.js';
import { whenOver } from '../http/request-log.js';
import { sharedReading } from '../http/shared-reading.js';
import { page } from './layout.js';
import { readOverview } from './overview-data.js';
import { overviewContent } from './overview-view.js';
import { pageHandler } from './page-request.js';

/** How often an open overview is updated, in milliseconds. */
const LIVE_MS = 2_000;
/** How long a reading is reused for all viewers, in milliseconds. */
const SHARED_MS = 1_000;

/** Adds the overview page and its updates. */
export function mountOverview(app: Express, mounting: Mounting): void {
  const readContent = sharedReading(SHARED_MS, async (gateway: Gateway) =>
    overviewContent(await readOverview(gateway)),
  );

  app.get(
    '/',
    pageHandler(mounting, '/', async ({ gateway, caller, response }) => {
      await takeResource('read', response, mounting);
      const content = await readContent(gateway);
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
      await takeResource('stream', response, mounting);
      const stream = new EventStream(response, gateway, () => authorize(request, gateway, 'read'));
      const stop = () => stream.end();
      const over = firstAbort(whenOver(response), endsOfAccess(gateway, caller));
      over.addEventListener('abort', stop, { once: true });
      if (over.aborted) stop();
      const show = async () => {
        try {
          stream.send('overview', (await readContent(gateway)).text);
        } catch (thrown) {
          // Redis is away: the page says so, and the next update comes when it is back.
          gateway.logger.debug({ reason: messageOf(thrown) }, 'the overview has no numbers');
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
