/** The shortest minimum of all models: what is known of no model in the list below. */
const LOWEST_MINIMUM = 512;

/**
 * Tokens of the shortest prompt prefix that the provider caches, by the beginning of the model's name. From
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching, 2026-11-30.
 */
const MINIMUM_BY_MODEL: readonly (readonly [model: string, tokens: number])[] = [
  ['claude-opus-4-5', 4_096],
  ['claude-opus-4-6', 4_096],
  ['claude-haiku-4-5', 4_096],
  ['claude-opus-4-7', 2_048],
  ['claude-3-haiku', 2_048],
  ['claude-3-5-haiku', 2_048],
  ['claude-opus-4', 1_024],
  ['claude-sonnet-4', 1_024],
  ['claude-sonnet-5', 1_024],
  ['claude-3', 1_024],
];

/**
 * Tokens of the shortest prompt prefix that the provider caches. For a model that is not listed it is the lowest of all:
 * its first answer says whether the prefix was cached.
 */
export function minimumPrefix(model: string): number {
  return MINIMUM_BY_MODEL.find(([listed]) => model.startsWith(listed))?.[1] ?? LOWEST_MINIMUM;
}
