import { checkBySchema } from '../../src/agents/check-answer.js';
import { ExtractorOutputSchema, LeakageDetectionOutputSchema } from '../../src/agents/outputs.js';
import { parsePromptFile } from '../../src/agents/prompt-file.js';
import { parseTemplate, renderTemplate } from '../../src/agents/prompt-template.js';
import { extractCodeBlock } from '../../src/solution/index.js';
import { ANSWER, PROMPT, PYTHON } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

const validators = [checkBySchema(LeakageDetectionOutputSchema), checkBySchema(ExtractorOutputSchema)];

export const agentAnswer: Target = {
  name: 'agent-answer',
  about: "an agent's answer: as structured output, and as text with a fenced block",
  generate: (source) => [source.text(ANSWER)],
  open: () => ({
    run: ([answer = '']) => {
      const checked = validators.map((validate) => validate(answer));
      const [detection] = checked;
      if (detection?.ok)
        mustHold('answers' in detection.output, 'an answer that is accepted fits its schema');
      const block = extractCodeBlock(answer);
      mustHold(block.length <= answer.length + 1, 'a block is not longer than its answer');
      return [checked, block];
    },
  }),
};

export const promptFile: Target = {
  name: 'prompt-file',
  about: 'a prompt file with its front matter, rendered with hostile values',
  generate: (source) => [source.text(PROMPT), source.text(PYTHON)],
  open: () => ({
    run: ([file = '', value = '']) => {
      const { frontMatter, body } = parsePromptFile('prompt.md', file);
      const variables = frontMatter?.variables ?? [];
      const template = parseTemplate('fuzz', body, variables);
      const values = Object.fromEntries(
        variables.map(({ name, list }) => [name, list ? [value, value] : value]),
      );
      const rendered = renderTemplate(template, values);
      mustHold(!rendered.stable.includes('{{ boundary }}'), 'the stable part holds no value');
      return [frontMatter, rendered];
    },
  }),
};
