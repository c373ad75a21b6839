import { fingerprinted } from '../known/import-known.js';
import { type KnownEntry, type KnownInput, parseKnownInput } from '../known/known-entry.js';
import { KnownStore } from '../known/known-store.js';
import type { FleetClient } from './fleet-client.js';
import { sizeOf } from './memory-admission.js';

/** Memory of a known solution as a multiple of its size: it is stored with its fingerprints. */
export const KNOWN_GROWTH = 3;

/** A producer's access to the fleet's set of known solutions. */
export function knownStore(fleet: FleetClient): KnownStore {
  return new KnownStore(fleet.client, fleet.prefix);
}

/**
 * Adds known solutions to the fleet's set; workers see them at their next job. Existing ones stay unchanged.
 * @returns how many were new. @throws PayloadError with the invalid field, RedisError `redis-full`; then nothing is added.
 */
export async function addKnownSolutions(
  fleet: FleetClient,
  solutions: readonly KnownInput[],
): Promise<number> {
  await fleet.memory.admit(KNOWN_GROWTH * sizeOf(solutions));
  return knownStore(fleet).add(solutions.map((solution) => fingerprinted(parseKnownInput(solution))));
}

/** All known solutions of a test case. */
export function knownSolutionsOf(fleet: FleetClient, testCaseId: string): Promise<KnownEntry[]> {
  return knownStore(fleet).ofCase(testCaseId);
}

/** Removes one known solution of a test case by its hash, or all of them. @returns how many were removed. */
export function removeKnownSolutions(fleet: FleetClient, testCaseId: string, hash?: string): Promise<number> {
  return knownStore(fleet).remove(testCaseId, hash);
}
