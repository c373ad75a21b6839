import type { FleetConnection } from '../producers/fleet-connection.js';

/** What agent calls cost, as the fleet's books have it. Sums of money are US dollars. */
export interface Spending {
  /** Calls that ended. */
  readonly spentUsd: number;
  /** Calls of which nobody knows whether they were billed, at what they probably cost. */
  readonly unknownUsd: number;
  /** The most that calls under way can cost. */
  readonly reservedUsd: number;
  /** What it may cost; null: no limit. */
  readonly budgetUsd: number | null;
  readonly calls: number;
  readonly unknownCalls: number;
  readonly callsUnderWay: number;
  /** How the sendings of the day ended, by outcome class. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** A model whose calls are held back for the whole fleet. */
export interface ClosedModel {
  readonly model: string;
  /** Why: `rate-limited`, `overloaded`, … */
  readonly why: string;
  readonly seconds: number;
}

/** Reads the fleet's books; given from outside, since the gateway itself makes no agent calls. */
export interface CostReader {
  /** Spending of the present UTC day. */
  today(fleet: FleetConnection): Promise<Spending>;
  ofRun(fleet: FleetConnection, run: string): Promise<Spending>;
  /** Models that were called today and are closed now. */
  closedModels(fleet: FleetConnection): Promise<readonly ClosedModel[]>;
}
