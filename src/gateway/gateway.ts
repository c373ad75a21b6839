import type { Logger } from 'pino';
import type { EventFeed } from '../producers/event-feed.js';
import type { FleetClient } from '../producers/fleet-client.js';
import type { Admission } from './admission/admission.js';
import type { Access, AuthMode } from './auth/access.js';
import type { TokenStore } from './auth/token-store.js';
import type { CostReader } from './costs.js';
import type { Evaluations } from './evaluations/evaluations.js';
import type { PipelineQueues } from './evaluations/pipeline-queues.js';
import type { WaitingClaims } from './evaluations/waiting-claims.js';
import type { Statistics } from './metrics/statistics.js';

/** The settings of a gateway; they do not change after its start. */
export interface GatewaySettings {
  /** Largest request body, in bytes. */
  readonly bodyBytes: number;
  /** How many jobs of a kind may wait. */
  readonly maxWaiting: number;
  readonly requestsPerMinute: number;
  /** Connections of clients; one token may have half of them. */
  readonly maxConnections: number;
  /** Requests of one token that wait for a job, and claims of one that wait for an evaluation, at the same time. */
  readonly maxWaits: number;
  /** Event streams of one token. */
  readonly maxStreams: number;
  /** Large reads of one token that are done at the same time. */
  readonly maxReads: number;
  /** Models that payloads may name. */
  readonly models: readonly string[];
  /** Real or plain paths below which workspaces must lie; undefined: none may be named. */
  readonly workspaceRoots: readonly string[] | undefined;
  readonly auth: AuthMode;
  /** Logins from one address in a minute, successful or not. */
  readonly loginsPerMinute: number;
  readonly secureCookies: boolean;
  /** How often a silent event stream sends a comment and checks that its token is still valid, in milliseconds. */
  readonly streamPingMs: number;
  /** Further host names of a gateway without tokens. */
  readonly trustedHosts: readonly string[];
}

/** What handlers use once Redis is connected. */
export interface Gateway {
  readonly settings: GatewaySettings;
  readonly logger: Logger;
  readonly fleet: FleetClient;
  readonly tokens: TokenStore;
  /** Whether requests must bring a token. */
  readonly access: Access;
  readonly admission: Admission;
  readonly feed: EventFeed;
  readonly statistics: Statistics;
  readonly costs: CostReader;
  readonly evaluations: Evaluations;
  readonly waitingClaims: WaitingClaims;
  readonly pipelineQueues: PipelineQueues;
  /** Aborted when the gateway begins to close. */
  readonly closing: AbortSignal;
}
