import { z } from 'zod';
import { jsonSetting } from './json-setting.js';

const perMillion = z.number().nonnegative().max(1_000_000);

/** Prices by model, in US dollars for a million tokens (see `priceListOf`). */
const ModelPricesSchema = z.record(
  z.string().min(1),
  z.strictObject({ input: perMillion, output: perMillion, cacheRead: perMillion.optional() }),
);

/** The same, read from JSON. */
export const ModelPricesTextSchema = jsonSetting(ModelPricesSchema);
