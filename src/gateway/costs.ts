import type { FleetClient } from '../producers/fleet-client.js';

/** What agent calls cost, from the fleet's accounts. Amounts are US dollars. */
export interface Spending {
  /** Calls that ended. */
  readonly spentUsd: number;
  /** Calls in doubt (they may have been billed), at their likely price. */
  readonly inDoubtUsd: number;
  /** The most that calls under way can cost. */
  readonly reservedUsd: number;
  /** What it may cost; null: no limit. */
  readonly budgetUsd: number | null;
  readonly calls: number;
  readonly callsInDoubt: number;
  readonly callsUnderWay: number;
  /** Calls in batches, or waiting for one. */
  readonly callsInBatches: number;
  /** Calls that were answered from the ledgers of other jobs, and what these answers had cost there. */
  readonly reusedCalls: number;
  readonly reusedUsd: number;
  /** Input that was neither read from the provider's prompt cache nor written to it, in tokens. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Part of all input that was read from the prompt cache, from 0 to 1; null without input. */
  readonly cacheReadFraction: number | null;
  /** How many sends of the day ended with each outcome class. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** The calls that wait in batches, or for one. */
export interface BatchedCalls {
  /** Calls that wait for the next batch. */
  readonly queued: number;
  /** Calls in batches that were sent. */
  readonly sent: number;
  /** Batches that were sent and have not ended. */
  readonly batches: number;
}

/** A model whose circuit is open for the whole fleet. */
export interface BlockedModel {
  readonly model: string;
  /** Why: `rate-limited`, `overloaded`, … */
  readonly why: string;
  readonly seconds: number;
}

/** Reads the fleet's accounts. The command line passes it in: the gateway itself makes no agent calls. */
export interface CostReader {
  /** Spending of the present UTC day. */
  today(fleet: FleetClient): Promise<Spending>;
  /** @param tenant Only the part of this bound tenant, with its budget. */
  ofRun(fleet: FleetClient, run: string, tenant?: string): Promise<Spending>;
  batchedCalls(fleet: FleetClient): Promise<BatchedCalls>;
  /** Models whose circuit is open now. */
  blockedModels(fleet: FleetClient): Promise<readonly BlockedModel[]>;
}
