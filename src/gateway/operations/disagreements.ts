import { z } from 'zod';
import { listDisagreements } from '../../producers/disagreements.js';
import { operation } from '../http/operation.js';
import { submitOptions } from './submit-job.js';

const SaidSchema = z.enum(['leaky', 'clean']);

/** As `Disagreement` of the TypeScript API. */
const DisagreementSchema = z
  .strictObject({
    id: z.string().describe('Id of the job.'),
    run: z.string().optional(),
    tenant: z.string().optional(),
    endedAt: z.string().optional(),
    solutionDigest: z.string(),
    analysis: SaidSchema.describe('What static analysis says of the script.'),
    agent: SaidSchema.describe('What the agent says of it.'),
    leaks: z.array(
      z.strictObject({
        source: z.enum(['agent', 'analysis']).optional(),
        kind: z.string().optional(),
        line: z.string().describe('First line of its block.'),
        reason: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Disagreement' });

export const listDisagreementsOperation = operation({
  id: 'list-disagreements',
  resource: 'read',
  tag: 'Runs',
  method: 'get',
  path: '/v1/disagreements',
  role: 'read',
  summary: 'Scripts of which static analysis was certain and the agent said something else, newest first',
  description:
    'Of checks with `FLEET_OPINION=static-first`, the agent is asked about a share of those that static analysis is certain of (`FLEET_AUDIT_SHARE`).',
  query: z.strictObject({
    run: z.string().min(1).max(512).optional(),
    limit: z.coerce.number().int().min(1).max(1_000).default(100),
  }),
  responses: {
    200: {
      description: 'The scripts, as long as their jobs are stored.',
      schema: z.strictObject({ disagreements: z.array(DisagreementSchema) }),
    },
  },
  handle: async ({ query, gateway }) => ({
    status: 200,
    body: { disagreements: await listDisagreements(gateway.fleet, submitOptions(query)) },
  }),
});
