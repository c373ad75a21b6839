import type { Express } from 'express';
import { z } from 'zod';
import { latestRunTimes } from '../../../producers/run-view.js';
import type { Gateway } from '../../gateway.js';
import { type Mounting, takeResource } from '../../http/mount.js';
import { parseParameters } from '../../http/operation.js';
import { decoded } from '../address.js';
import { page } from '../layout.js';
import { pageHandler } from '../page-request.js';
import { readRun } from './run-data.js';
import { STATE_GROUPS } from './run-units.js';
import { runContent } from './run-view.js';
import { type ListedRun, runsContent } from './runs-view.js';

const RUNS_A_PAGE = 50;
const number = z.coerce.number().int().min(1).max(100_000).default(1);

const QuerySchema = z.strictObject({
  name: z.string().min(1).max(512).optional(),
  /** The name percent-encoded, from a form: fields of forms keep neither control characters nor single line breaks. */
  of: z.string().min(1).max(8_192).transform(decoded).optional(),
  state: z.enum(STATE_GROUPS).optional(),
  code: z.string().min(1).max(100).optional(),
  job: z.string().min(1).max(500).optional(),
  key: z.string().min(1).max(1_024).optional(),
  page: number,
  others: number,
});

async function listedRuns({ fleet, costs }: Gateway, at: number): Promise<ListedRun[]> {
  const runs = await latestRunTimes(fleet, (at - 1) * RUNS_A_PAGE, RUNS_A_PAGE + 1);
  return Promise.all(
    runs.map(async ({ run, newestAt }) => ({ run, newestAt, ...(await costs.ofRun(fleet, run)) })),
  );
}

/** Adds the list of runs, and the page of a run. A token bound to a tenant sees that tenant's jobs only. */
export function mountRuns(app: Express, mounting: Mounting): void {
  app.get(
    '/runs',
    pageHandler(
      mounting,
      '/runs',
      async ({ gateway, caller: { tenant, by }, request, response }) => {
        const {
          of,
          name = of,
          ...query
        } = parseParameters(QuerySchema, { ...request.query }) as z.output<typeof QuerySchema>;
        await takeResource('read', response, mounting);
        response.set('cache-control', 'no-store');
        const isBound = tenant !== undefined;
        const common = { loggedIn: by === 'cookie', at: '/runs', isBound };
        if (name === undefined) {
          const runs = isBound ? undefined : await listedRuns(gateway, query.page);
          const isLast = (runs?.length ?? 0) <= RUNS_A_PAGE;
          const content = runsContent(runs?.slice(0, RUNS_A_PAGE), query.page, isLast);
          response.send(page({ ...common, title: 'Runs – solution-fleet', content }).text);
          return;
        }
        const run = await readRun(gateway, { ...query, name }, tenant);
        if (run.total === 0) response.status(404);
        const content = runContent(run, isBound);
        response.send(page({ ...common, title: `Run ${name} – solution-fleet`, content }).text);
      },
      'run-page',
    ),
  );
}
