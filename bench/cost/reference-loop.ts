import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { DEFAULT_MODEL } from '../../src/agents/default-model.js';
import { LeakageDetectionOutputSchema } from '../../src/agents/outputs.js';
import type { PromptVariables } from '../../src/agents/prompt-template.js';
import { outputFormat } from '../../src/calls/output-format.js';
import { BlockNotFoundError } from '../../src/errors.js';
import { extractCodeBlock, replaceBlock } from '../../src/solution/index.js';

/**
 * The loop as the specification has it (REQ-SF-020): the whole script for the detection, and again for the correction of each leak,
 * with the fleet's own prompts as one message. It uses no cache.
 * @returns whether it found a leak.
 */
export async function referenceLoop(url: string, script: string): Promise<boolean> {
  const detected = await ask(url, 'detection', { code: script }, true);
  const { answers } = LeakageDetectionOutputSchema.parse(JSON.parse(detected));
  const leaky = answers.filter((answer) => answer.leakage_status === 'Yes Data Leakage');
  let current = script;
  for (const { code_block } of leaky) {
    const corrected = await ask(url, 'correction', { code: current, code_block, problem: '' }, false);
    try {
      current = replaceBlock({ content: current }, code_block, extractCodeBlock(corrected)).content;
    } catch (thrown) {
      // REQ-SF-021: it goes on without this correction.
      if (!(thrown instanceof BlockNotFoundError)) throw thrown;
    }
  }
  return leaky.length > 0;
}

async function ask(
  url: string,
  variant: 'detection' | 'correction',
  variables: PromptVariables,
  isStructured: boolean,
): Promise<string> {
  const { text } = new AgentConfig({ agentType: AgentType.leakage, variant }).render(variables);
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: DEFAULT_MODEL,
      max_tokens: 32_000,
      messages: [{ role: 'user', content: text }],
      ...(isStructured
        ? { output_config: { format: await outputFormat(LeakageDetectionOutputSchema) } }
        : {}),
    }),
  });
  const { content } = (await response.json()) as { content: readonly { readonly text: string }[] };
  return content.map((block) => block.text).join('');
}
