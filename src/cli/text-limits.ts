import type { Config } from '../config/settings.js';
import type { TextLimits } from '../queues/validate.js';

/** Limits of texts and data as they are configured. */
export function configuredLimits({ textBytes, largeTextBytes, dataBytes }: Config): TextLimits {
  return { textBytes, largeTextBytes, dataBytes };
}
