/** The fleet over HTTP: no Redis, no queue library and no agent code is loaded. */
export {
  FleetHttpClient,
  type HttpAddOptions,
  type HttpBatchItem,
  type Submitted,
} from './fleet-http-client.js';
export type { ClientOptions } from './request.js';
