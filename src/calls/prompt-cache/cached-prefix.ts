import { createHash } from 'node:crypto';
import type { PlannedCall } from '../call-interceptor.js';
import type { CallRequest } from '../transport.js';
import { minimumPrefix } from './minimum-prefix.js';

/** The part of a request that the provider keeps in its prompt cache. */
export interface CachedPrefix {
  /** SHA-256 of the model and of everything up to the last breakpoint, hexadecimal. */
  readonly digest: string;
  /** How long the provider keeps it after each use, in milliseconds. */
  readonly ttlMs: number;
}

/** The least number of bytes that a token has in English text and code. Too long an estimate costs one short wait. */
const MIN_BYTES_A_TOKEN = 3;
const FIVE_MINUTES_MS = 300_000;
const HOUR_MS = 3_600_000;

/**
 * The prefix of a call that the provider caches: the tools and the instructions up to the last breakpoint (`cache_control`).
 * Undefined if the call has no breakpoint there, if the prefix is certainly shorter than the model's minimum, or if the
 * provider has no breakpoints.
 */
export function cachedPrefix({
  request,
  model,
  provider = 'anthropic',
}: PlannedCall): CachedPrefix | undefined {
  if (provider !== 'anthropic') return undefined;
  const prefix = untilBreakpoint(request);
  if (prefix === undefined) return undefined;
  const text = JSON.stringify(prefix.content);
  if (Buffer.byteLength(text, 'utf8') / MIN_BYTES_A_TOKEN < minimumPrefix(model)) return undefined;
  // The provider puts instructions about the format of the answer before those of the request.
  const format = JSON.stringify(request.output_config?.format ?? null);
  const digest = createHash('sha256').update(`${model}\n${format}\n${text}`, 'utf8').digest('hex');
  return { digest, ttlMs: prefix.ttl === '1h' ? HOUR_MS : FIVE_MINUTES_MS };
}

interface Prefix {
  readonly content: readonly unknown[];
  readonly ttl: string | undefined;
}

/** The provider reads tools first, then the instructions, then the messages. */
function untilBreakpoint({ tools = [], system = [] }: CallRequest): Prefix | undefined {
  const blocks = [...tools, ...(typeof system === 'string' ? [{ text: system }] : system)];
  const last = blocks.findLastIndex((block) => breakpointOf(block) !== undefined);
  if (last === -1) return undefined;
  return { content: blocks.slice(0, last + 1), ttl: breakpointOf(blocks[last])?.ttl };
}

function breakpointOf(block: object | undefined): { readonly ttl?: string } | undefined {
  if (block === undefined || !('cache_control' in block)) return undefined;
  return (block.cache_control as { readonly ttl?: string } | null | undefined) ?? undefined;
}
