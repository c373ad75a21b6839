import { assertBounded, DEEPEST_NESTING } from '../../src/gateway/http/json-bounds.js';
import { JSON_TEXT } from '../inputs/kinds.js';
import { mustHold, type Target } from '../target.js';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

export const jsonBounds: Target = {
  name: 'json-bounds',
  about: 'the bound of nesting of JSON bodies, by their bytes',
  generate: (source) => [source.text(JSON_TEXT)],
  open: () => ({
    run: ([text = '']) => {
      assertBounded(Buffer.from(text, 'utf8'));
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (thrown) {
        mustHold(thrown instanceof SyntaxError, 'what is not refused is parsed without running out of stack');
        return 'no JSON';
      }
      const depth = depthOf(value);
      mustHold(depth <= DEEPEST_NESTING, 'nothing deeper than the bound passes');
      return depth;
    },
  }),
};
