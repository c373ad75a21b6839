/** The shortest minimum of the provider's models: taken for those that are not in the list below. */
const LOWEST_MINIMUM = 1_024;

/**
 * Tokens of the shortest prompt prefix that the provider caches, by the beginning of the model's name, as its documentation is quoted in
 * https://github.com/anthropics/anthropic-sdk-python/issues/1194. Later models are not listed.
 */
const MINIMUM_BY_MODEL: readonly (readonly [model: string, tokens: number])[] = [
  ['claude-opus-4-5', 4_096],
  ['claude-opus-4-6', 4_096],
  ['claude-haiku-4-5', 4_096],
  ['claude-3-haiku', 2_048],
  ['claude-3-5-haiku', 2_048],
];

/**
 * Tokens of the shortest prompt prefix that the provider caches. For a model that is not listed it is the lowest of all:
 * its first answer says whether the prefix was cached.
 */
export function minimumPrefix(model: string): number {
  return MINIMUM_BY_MODEL.find(([listed]) => model.startsWith(listed))?.[1] ?? LOWEST_MINIMUM;
}
