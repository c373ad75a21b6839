/** Checks of what is copied, whatever disguises it. */
export const EVASION_CHECKS = [
  'exact',
  'containment',
  'evidence',
  'fingerprint',
  'wording',
  'crossTask',
] as const;
export type EvasionCheckName = (typeof EVASION_CHECKS)[number];
/** All checks by name, as a result lists them. */
export const CHECKS = ['similarity', 'timing', 'reasoning', ...EVASION_CHECKS] as const;
export type CheckName = (typeof CHECKS)[number];
