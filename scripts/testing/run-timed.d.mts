import type { SpawnSyncOptions } from 'node:child_process';

export function runTimed(
  program: string,
  args: readonly string[],
  options: SpawnSyncOptions,
): { readonly status: number | null; readonly wallSeconds: number; readonly cpuSeconds: number };
