import type { FleetClient } from '../producers/fleet-client.js';

/** What agent calls cost, as the fleet's books have it. Sums of money are US dollars. */
export interface Spending {
  /** Calls that ended. */
  readonly spentUsd: number;
  /** Calls in doubt (nobody knows whether they were billed), at their likely price. */
  readonly inDoubtUsd: number;
  /** The most that calls under way can cost. */
  readonly reservedUsd: number;
  /** What it may cost; null: no limit. */
  readonly budgetUsd: number | null;
  readonly calls: number;
  readonly callsInDoubt: number;
  readonly callsUnderWay: number;
  /** How the sends of the day ended, by outcome class. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** A model whose calls are held back for the whole fleet. */
export interface BlockedModel {
  readonly model: string;
  /** Why: `rate-limited`, `overloaded`, … */
  readonly why: string;
  readonly seconds: number;
}

/** Reads the fleet's books; given from outside, since the gateway itself makes no agent calls. */
export interface CostReader {
  /** Spending of the present UTC day. */
  today(fleet: FleetClient): Promise<Spending>;
  ofRun(fleet: FleetClient, run: string): Promise<Spending>;
  /** Models that were called today and whose circuit is open now. */
  blockedModels(fleet: FleetClient): Promise<readonly BlockedModel[]>;
}
