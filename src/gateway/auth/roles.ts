import { z } from 'zod';

/**
 * What a token may do. Each role includes the ones before it: `read` reads; `submit` also submits, cancels and retries jobs
 * and works on evaluations; `admin` also changes queues on the board and the known solutions.
 */
export const ROLES = ['read', 'submit', 'admin'] as const;
export type Role = (typeof ROLES)[number];
export const RoleSchema = z.enum(ROLES);

/** Whether one role includes another. */
export function includesRole(own: Role, needed: Role): boolean {
  return ROLES.indexOf(own) >= ROLES.indexOf(needed);
}
