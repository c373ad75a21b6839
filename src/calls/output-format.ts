import type { JSONOutputFormat } from '@anthropic-ai/sdk/resources/messages';
import type { z } from 'zod';

/** Formats by schema: there are a handful, and every call of an agent needs one. */
const formats = new WeakMap<z.ZodType, Promise<JSONOutputFormat>>();

/**
 * `output_config.format` of a request: the zod schema as the JSON schema that structured output takes. Bounds
 * that the API does not know move into descriptions, so an answer has to be validated again after parsing.
 */
export function outputFormat(schema: z.ZodType): Promise<JSONOutputFormat> {
  const known = formats.get(schema);
  if (known !== undefined) return known;
  const format = formatOf(schema);
  formats.set(schema, format);
  return format;
}

async function formatOf(schema: z.ZodType): Promise<JSONOutputFormat> {
  const { zodOutputFormat } = await import('@anthropic-ai/sdk/helpers/zod');
  const format = zodOutputFormat(schema);
  return { type: format.type, schema: format.schema };
}
