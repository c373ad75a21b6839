import { z } from 'zod';
import { jsonSetting } from './json-setting.js';

const perMinute = z.number().positive().optional();

/** Limits a minute by model; `*` means every model that is not named. */
export const ModelLimitsSchema = z.record(
  z.string().min(1),
  z.strictObject({ requests: perMinute, inputTokens: perMinute, outputTokens: perMinute }),
);
export type ModelLimits = z.infer<typeof ModelLimitsSchema>;

/** The same, read from JSON. */
export const ModelLimitsTextSchema = jsonSetting(ModelLimitsSchema);
