import { z } from 'zod';
import type { OpenOperation, Operation } from '../http/operation.js';
import { type OpenApiDocument, openApiDocument } from '../openapi/document.js';

/** The route that gives the OpenAPI document of all operations, this one included. */
export function openApiOperation(operations: readonly (Operation | OpenOperation)[]): OpenOperation {
  let document: OpenApiDocument | undefined;
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
      document ??= openApiDocument([...operations, operation]);
      return { status: 200, body: document };
    },
  };
  return operation;
}
