import { describe, expect, it } from 'vitest';
import { introducesPlaceholder } from '../../src/solution/index.js';

const block =
  'data = load()\nscaled = scale(data)\ntrain, valid = split(scaled)\nmodel = fit(train)\nprint(score(model, valid))\n';
const complete =
  'data = load()\ntrain, valid = split(data)\ntrain = scale(train)\nmodel = fit(train)\nprint(score(model, valid))\n';

describe('introducesPlaceholder', () => {
  it.each([
    '# rest unchanged',
    '# The rest of the code remains the same',
    '# ... existing code ...',
    '# …',
    '# ...',
    '# (same as before)',
    '# same as before',
    '# [rest of the pipeline unchanged]',
    '# remaining code stays the same',
    '# Existing training code here',
    '# --- everything else unchanged ---',
    '# Keep the rest as is',
    '# Remaining code is unchanged from the original script',
    '# TODO: implement the rest',
    '# ... model training and evaluation ...',
    '# your code here',
    '...',
    'pass  # TODO',
    'pass  # rest of the code',
    'raise NotImplementedError',
    'def evaluate(): ...',
  ])('REQ-SF-019: sees %s in the place of code', (placeholder) => {
    expect(introducesPlaceholder(block, `train, valid = split(load())\n${placeholder}\n`)).toBe(true);
    expect(
      introducesPlaceholder(
        block,
        `train, valid = split(load())\n${placeholder}\nprint(score(model, valid))\n`,
      ),
    ).toBe(true);
  });

  it.each([
    '# the rest of the columns are numeric',
    '# rest unchanged',
    '# same as before',
    '# the rest of the pipeline is the same',
    '# scale on the training rows only',
    '# Loading data...',
    '# remaining rows are for validation',
    '# existing features, unchanged columns and the same split',
    'first = cube[..., 0]',
    'cube = cube[\n    ...,\n    0,\n]',
    'text = """\n# rest unchanged\n...\n"""',
    'seed = 1  # same as before',
    'try:\n    import lightgbm\nexcept ImportError:\n    pass',
  ])('REQ-SF-019: does not take complete code for a swap because of %s', (lines) => {
    const [load, ...others] = complete.split('\n');
    expect(introducesPlaceholder(block, `${load}\n${lines}\n${others.join('\n')}`)).toBe(false);
  });

  it.each(['# ... rest of the code unchanged', '# rest unchanged', '# ...', '...', 'pass  # TODO'])(
    'REQ-SF-019: sees that all other code is gone beside %s and lines that were kept',
    (placeholder) => {
      const lines = block.trim().split('\n');
      for (const at of lines.keys()) {
        const kept = lines.slice(at, at + 2).join('\n');
        expect(introducesPlaceholder(block, `${kept}\n${placeholder}\n`)).toBe(true);
        expect(introducesPlaceholder(block, `${placeholder}\n${kept}\n`)).toBe(true);
        expect(introducesPlaceholder(block, `${lines[at]}\n${placeholder}\n`)).toBe(true);
      }
      // Complete code that moved, with a word about what follows the block.
      expect(
        introducesPlaceholder(block, `${complete}${placeholder.startsWith('#') ? placeholder : ''}\n`),
      ).toBe(false);
    },
  );

  it('knows the placeholders that stood there before', () => {
    const stub = 'class Model(Protocol):\n    def fit(self): ...\n# ...\n';
    expect(introducesPlaceholder(`${stub}x = 1\ny = 2\n`, `${stub}x = 3\n`)).toBe(false);
    expect(introducesPlaceholder(`${stub}x = 1\ny = 2\n`, `${stub}x = 3\n# ...\n`)).toBe(true);
  });

  it('needs code that is gone', () => {
    expect(introducesPlaceholder(block, `${block}# rest unchanged\n`)).toBe(false);
    expect(introducesPlaceholder(block, `# existing code\n${block}`)).toBe(false);
    expect(introducesPlaceholder('', '...')).toBe(false);
  });

  it('takes large and odd blocks', () => {
    const large = Array.from({ length: 40_000 }, (_, index) => `x${index} = f(${index})`).join('\n');
    expect(introducesPlaceholder(large, `${large.replaceAll('f(', 'g(')}\n# rest unchanged`)).toBe(true);
    expect(introducesPlaceholder(large, large.replaceAll('f(', 'g('))).toBe(false);
    const comments =
      '# same as before same as above same as earlier the same same same as it is here here x\n'.repeat(
        5_000,
      );
    expect(introducesPlaceholder(block, comments)).toBe(false);
    expect(introducesPlaceholder('\ud800\0"""', "'''\r#\u2028...")).toBe(false);
  });
});
