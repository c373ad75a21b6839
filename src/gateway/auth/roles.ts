import { z } from 'zod';

/**
 * What a token may do, each role all that the ones before it may: `read` looks; `submit` also submits, cancels and
 * retries jobs and works on evaluations; `admin` also changes queues on the board and the known solutions.
 */
export const ROLES = ['read', 'submit', 'admin'] as const;
export type Role = (typeof ROLES)[number];
export const RoleSchema = z.enum(ROLES);

/** Whether one role includes another. */
export function includesRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed);
}
