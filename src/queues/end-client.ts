/** The part of a client that `endClient` uses; clients of BullMQ and of ioredis have it. */
export interface EndableClient {
  readonly status: string;
  connect(): Promise<unknown>;
  disconnect(): void;
}

/**
 * Ends a client permanently and rejects its queued commands. `disconnect` alone does neither if the client waits to
 * reconnect: it only stops the timer, and callers that wait for a command or for the client's end wait forever. Only an
 * attempt to connect ends such a client; that attempt is canceled before it begins.
 */
export function endClient(client: EndableClient): void {
  client.disconnect();
  if (client.status !== 'reconnecting') return;
  client.connect().catch(() => undefined);
  client.disconnect();
}
