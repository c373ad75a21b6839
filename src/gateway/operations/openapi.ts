import { z } from 'zod';
import type { OpenOperation, Operation } from '../http/operation.js';
import { openApiDocument } from '../openapi/document.js';

/** The route that returns the OpenAPI document of all operations, including this one. */
export function openApiOperation(operations: readonly (Operation | OpenOperation)[]): OpenOperation {
  /** Made once: all answers share it. */
  let document: Buffer | undefined;
  const operation: OpenOperation = {
    id: 'openapi',
    tag: 'Operation',
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'This document',
    responses: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.literal('3.1.0') }) },
    },
    answer: async () => {
      document ??= Buffer.from(JSON.stringify(openApiDocument([...operations, operation])));
      return {
        status: 200,
        body: document,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      };
    },
  };
  return operation;
}
