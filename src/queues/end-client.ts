/** What ending a client takes; BullMQ's own clients have it as well as ioredis's. */
export interface EndableClient {
  readonly status: string;
  connect(): Promise<unknown>;
  disconnect(): void;
}

/**
 * Ends a client for good, and refuses what it has queued. `disconnect` alone does neither for one that waits to connect
 * again: its timer is stopped, and that is all, so that whoever waits for a command or for its end waits for ever. Only an
 * attempt to connect brings such a client to its end, and that attempt is broken off before it begins.
 */
export function endClient(client: EndableClient): void {
  client.disconnect();
  if (client.status !== 'reconnecting') return;
  client.connect().catch(() => undefined);
  client.disconnect();
}
