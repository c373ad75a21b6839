import { z } from 'zod';
import {
  addKnownSolutions,
  knownSolutionsOf,
  removeKnownSolutions,
} from '../../producers/known-solutions.js';
import { type Operation, operation } from '../http/operation.js';

/** Longest known solution that HTTP accepts, in characters; import a larger one with the command line. */
const MAX_SOLUTION_LENGTH = 2 ** 20;
const CaseParams = z.strictObject({ testCaseId: z.string().min(1).max(1_000) });
const time = z.iso.datetime({ offset: true });

const KnownSchema = z
  .strictObject({
    testCaseId: z.string(),
    solution: z.string(),
    hash: z.string(),
    language: z.string().optional(),
    addedToTraining: time,
  })
  .meta({ id: 'KnownSolution' });

const put = operation({
  id: 'add-known-solution',
  tag: 'Known solutions',
  method: 'put',
  path: '/v1/known/{testCaseId}',
  role: 'admin',
  summary: 'Make a solution of a test case known to the contamination checks',
  description: 'A test case may have several; one that is there stays as it is.',
  params: CaseParams,
  body: z.strictObject({
    solution: z.string().min(1).max(MAX_SOLUTION_LENGTH),
    language: z.string().min(1).max(50).optional(),
    addedToTraining: time.optional(),
  }),
  responses: {
    200: {
      description: 'It is known now.',
      schema: z.strictObject({ added: z.boolean().describe('false: it was known already.') }),
    },
  },
  refusals: [422],
  handle: async ({ params, body, gateway }) => {
    const { solution, language, addedToTraining } = body;
    const added = await addKnownSolutions(gateway.fleet, [
      {
        testCaseId: params.testCaseId,
        solution,
        ...(language === undefined ? {} : { language }),
        ...(addedToTraining === undefined ? {} : { addedToTraining }),
      },
    ]);
    return { status: 200, body: { added: added === 1 } };
  },
});

const get = operation({
  id: 'get-known-solutions',
  resource: 'read',
  tag: 'Known solutions',
  method: 'get',
  path: '/v1/known/{testCaseId}',
  role: 'read',
  summary: 'The known solutions of a test case; none is an empty list',
  params: CaseParams,
  responses: {
    200: { description: 'The solutions.', schema: z.strictObject({ solutions: z.array(KnownSchema) }) },
  },
  handle: async ({ params, gateway }) => ({
    status: 200,
    body: { solutions: await knownSolutionsOf(gateway.fleet, params.testCaseId) },
  }),
});

const remove = operation({
  id: 'remove-known-solutions',
  tag: 'Known solutions',
  method: 'delete',
  path: '/v1/known/{testCaseId}',
  role: 'admin',
  summary: 'Forget one known solution of a test case by its hash, or all of them',
  params: CaseParams,
  query: z.strictObject({ hash: z.string().min(1).max(200).optional() }),
  responses: {
    200: { description: 'They are forgotten.', schema: z.strictObject({ removed: z.int().nonnegative() }) },
  },
  handle: async ({ params, query, gateway }) => ({
    status: 200,
    body: { removed: await removeKnownSolutions(gateway.fleet, params.testCaseId, query.hash) },
  }),
});

export const knownOperations: readonly Operation[] = [put, get, remove];
