import { ERROR_TABLE } from '../../error-table.js';
import { totalField } from './statistics-keys.js';

/** Errors of programs and connections; a job ends with none of them. */
const NOT_OF_JOBS = ['UsageError', 'ConfigurationError', 'RequestError', 'GatewayError', 'RedisError'];

/** Of scripts that static analysis is certain of. */
const AUDITED = [
  ['audits'],
  ['disagreements', 'clean', 'leaky'],
  ['disagreements', 'leaky', 'clean'],
] as const;

const REASONS = Object.entries(ERROR_TABLE)
  .filter(([, entry]) => !NOT_OF_JOBS.includes(entry.class))
  .map(([code]) => code);

/**
 * Fields of the totals that are served as 0 until something is counted: Prometheus sees an increase only between two values,
 * so that the first failure of a kind would otherwise be none to an alert.
 */
export function expectedTotals(kinds: readonly string[]): string[] {
  return kinds.flatMap((kind) => [
    totalField('jobs', kind, 'completed', 'none'),
    totalField('jobs', kind, 'cancelled', 'none'),
    ...REASONS.map((reason) => totalField('jobs', kind, 'failed', reason)),
    ...['sent', 'reused'].map((source) => totalField('calls', kind, source)),
    ...['input', 'output', 'cache-read', 'cache-write'].map((type) => totalField('tokens', kind, type)),
    totalField('cost', kind),
    totalField('unpriced', kind),
    // Other kinds have no audits.
    ...(kind === 'solution-check'
      ? AUDITED.map((parts) => totalField(parts[0], kind, ...parts.slice(1)))
      : []),
  ]);
}
