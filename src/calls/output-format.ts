import type { JSONOutputFormat } from '@anthropic-ai/sdk/resources/messages';
import type { z } from 'zod';

/**
 * `output_config.format` of a request: the zod schema as the JSON schema that structured output takes. Bounds
 * that the API does not know move into descriptions, so an answer has to be validated again after parsing.
 */
export async function outputFormat(schema: z.ZodType): Promise<JSONOutputFormat> {
  const { zodOutputFormat } = await import('@anthropic-ai/sdk/helpers/zod');
  const format = zodOutputFormat(schema);
  return { type: format.type, schema: format.schema };
}
