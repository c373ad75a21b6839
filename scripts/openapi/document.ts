import { Metrics } from '../../src/gateway/metrics/metrics.js';
import { type OpenApiDocument, openApiDocument } from '../../src/gateway/openapi/document.js';
import { allOperations } from '../../src/gateway/operations/index.js';
import { BUILT_IN_CONTRACTS } from '../../src/queues/registry.js';

/**
 * The OpenAPI document of a gateway with the built-in kinds, without its examples, and made without a gateway: no operation is
 * called.
 */
export function builtInDocument(): OpenApiDocument {
  const link = {
    kinds: BUILT_IN_CONTRACTS,
    closing: new AbortController(),
    health: () => Promise.reject(new TypeError('there is no Redis')),
  };
  return openApiDocument(allOperations(link, new Metrics()));
}
