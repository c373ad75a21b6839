import type { FleetClient } from '../../producers/fleet-client.js';
import { readWorkerReports, type WorkerReport } from '../../queues/worker-report.js';

/** A worker that is connected to Redis. */
export interface WorkerView {
  /** The name that the worker gave itself, or the number of its connection. */
  readonly name: string;
  /** Version of the package it runs, if its name has it. */
  readonly version: string | undefined;
  readonly kinds: readonly string[];
  /** Seconds since it last sent a command to Redis. */
  readonly idleSeconds: number;
  readonly connectedSeconds: number;
  /** Its last report about its process; undefined if it has sent none for some time. */
  readonly report: WorkerReport | undefined;
}

/** `<name>@<version>`; a version starts with a number. */
const NAMED = /^(.+)@(\d[\w.+-]*)$/;

/**
 * The workers of the fleet, from the connections of Redis: BullMQ names them by queue, and a live worker asks for jobs every
 * few seconds. A worker without a name appears once per kind.
 */
export async function listWorkers(fleet: FleetClient): Promise<WorkerView[]> {
  const [clients, reports] = await Promise.all([
    fleet.client.client('LIST'),
    readWorkerReports(fleet.client, fleet.prefix),
  ]);
  const list = String(clients);
  const workers = new Map<string, WorkerView>();
  for (const line of list.split('\n')) {
    const connection = fieldsOf(line);
    const kind = kindOf(fleet, connection.name ?? '');
    if (kind === undefined) continue;
    const own = /:w:(.+)$/s.exec(connection.name ?? '')?.[1];
    const label = own === undefined ? undefined : decodeName(own);
    const name = label ?? `${kind} (connection ${connection.id})`;
    const before = workers.get(name);
    workers.set(name, {
      name: NAMED.exec(name)?.[1] ?? name,
      version: NAMED.exec(name)?.[2],
      kinds: [...new Set([...(before?.kinds ?? []), kind])],
      idleSeconds: Math.min(Number(connection.idle ?? 0), before?.idleSeconds ?? Number.POSITIVE_INFINITY),
      report: reports.get(name),
      connectedSeconds: Math.max(Number(connection.age ?? 0), before?.connectedSeconds ?? 0),
    });
  }
  return [...workers.values()].sort((a, b) => a.name.localeCompare(b.name));
}

function fieldsOf(line: string): Record<string, string> {
  return Object.fromEntries(
    line.split(' ').map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at), field.slice(at + 1)];
    }),
  );
}

/** BullMQ names a worker's connection `prefix:base64(queue)`, followed by `:w:name` if the worker has a name. */
function kindOf(fleet: FleetClient, clientName: string): string | undefined {
  return fleet.kinds.names.find((kind) => {
    const name = `${fleet.prefix}:${Buffer.from(kind).toString('base64')}`;
    return clientName === name || clientName.startsWith(`${name}:w:`);
  });
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A name that is not encoded is shown as it is.
    return text;
  }
}
