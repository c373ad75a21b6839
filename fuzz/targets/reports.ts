import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { reportedFile } from '../../src/cli/check/print-outcomes.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderCheck } from '../../src/cli/terminal/render-check.js';
import { toGithubAnnotations, toSarif } from '../../src/leakage/index.js';
import { packagePath } from '../../src/package-root.js';
import type { Finding } from '../../src/queues/solution-check.js';
import { NO_USAGE } from '../../src/queues/usage.js';
import { PYTHON } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

/** The schema uses no part of JSON Schema draft 4 that means something else in draft 7, except for the two fields at its top. */
function sarifValidator() {
  const path = packagePath('node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  const { id: _id, $schema: _draft, ...schema } = JSON.parse(readFileSync(path, 'utf8'));
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  (addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
  return ajv.compile(schema);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const WORDS = ['a.py', '/', '..', 'C:\\x', '%41', ',', ':', '::error::', '\n', '#', '?', ' '];

export const reports: Target = {
  name: 'reports',
  about: 'what a check prints of hostile names, messages and blocks: text, SARIF, workflow commands',
  generate: (source) => {
    const script = source.text(PYTHON);
    const lines = script.split('\n');
    const from = source.below(lines.length);
    const block = lines.slice(from, from + 1 + source.below(4)).join('\n');
    return [
      source.word(WORDS),
      script,
      block,
      source.text(PYTHON),
      source.word([...WORDS, 'scaler-fitted-before-split']),
    ];
  },
  open: () => {
    const isSarif = sarifValidator();
    return {
      run: ([file = '', script = '', codeBlock = '', correctedBlock = '', words = '']) => {
        const finding: Finding = {
          leakageStatus: 'Yes Data Leakage',
          codeBlock,
          kind: words,
          severity: 'high',
          outcome: 'corrected',
          correctedBlock,
          reason: `${words} ${correctedBlock.slice(0, 200)}`,
        };
        const content = script.replace(codeBlock, () => correctedBlock);
        const checked = {
          file,
          text: script,
          script,
          result: {
            status: 'corrected' as const,
            solution: { content },
            solutionDigest: '',
            findings: [finding],
            notFollowed: [{ line: 1, reason: words }],
            usage: NO_USAGE,
            notes: [words],
            agent: { runner: 'offline' as const },
          },
        };
        const text = renderCheck(checked, colorsFor({}, {}), {
          explain: true,
          width: 80,
        });
        mustHold(!CONTROLS.test(text), 'the text has no control characters');
        const reported = [reportedFile(checked)];
        const sarif = JSON.parse(JSON.stringify(toSarif(reported)));
        mustHold(
          isSarif(sarif) === true,
          `the log is SARIF 2.1.0: ${JSON.stringify(isSarif.errors?.slice(0, 3))}`,
        );
        const annotations = toGithubAnnotations(reported);
        const lines = annotations.split('\n').slice(0, -1);
        mustHold(lines.length === 1, 'an annotation is one line');
        mustHold(!/\r/.test(annotations), 'an annotation has no line break of its own');
        return [text, sarif, annotations];
      },
    };
  },
};
