import { redactErrorText } from '../config/redact.js';

/** Data as it comes back from a file: without fields that are undefined. */
export function plain<T>(data: T): T {
  return JSON.parse(JSON.stringify(data)) as T;
}

/** Plain data with every text and name without what this process knows to be secret, and without what looks like it. */
export function withoutSecrets(data: unknown): unknown {
  if (typeof data === 'string') return redactErrorText(data);
  if (Array.isArray(data)) return data.map(withoutSecrets);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [redactErrorText(name), withoutSecrets(value)]),
  );
}
