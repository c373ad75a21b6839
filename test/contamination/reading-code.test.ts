import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lexGeneric } from '../../src/contamination/code/generic-lexer.js';
import { lexJavaScript } from '../../src/contamination/code/javascript-lexer.js';
import { javascriptStatements } from '../../src/contamination/code/javascript-statements.js';
import { readProgram } from '../../src/contamination/code/program.js';
import { lexPython } from '../../src/contamination/code/python-lexer.js';
import { pythonStatements } from '../../src/contamination/code/python-statements.js';
import type { Statement } from '../../src/contamination/code/statement.js';
import { codeView, textKind } from '../../src/contamination/text/language.js';
import { readCorpus } from './pairs/corpus.js';

const shown = ({ role, tokens }: Statement): string =>
  `${role}: ${tokens.map((token) => token.text).join(' ')}`;
const python = (source: string): string[] => pythonStatements(lexPython(source)).map(shown);
const javascript = (source: string): string[] => javascriptStatements(lexJavaScript(source)).map(shown);
/** Templates of what a program says, in the order of the text. */
const templates = (source: string, language: 'python' | 'javascript' = 'python'): string[] =>
  readProgram(source, language)
    .statements.filter(({ weight }) => weight > 0)
    .map(({ template }) => template)
    .sort();

describe('SPEC-SIL-009: tokens', () => {
  it('SPEC-SIL-009: every lexer reads any text, in order and within it', () => {
    const unit = fc.constantFrom(
      ...'"\'`$\\/*#(){}[]:;.,=<>\n\r\t a1_'.split(''),
      '"""',
      '${',
      '\ud800',
      '😀',
      '\0',
      'def ',
      'if ',
      '=>',
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 80 }).map((units) => units.join('')),
        (source) => {
          for (const lex of [lexPython, lexJavaScript, lexGeneric]) {
            let end = 0;
            for (const token of lex(source)) {
              expect(token.start).toBeGreaterThanOrEqual(end);
              expect(source.slice(token.start, token.end)).toBe(token.text);
              end = token.end;
            }
            expect(end).toBeLessThanOrEqual(source.length);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('SPEC-SIL-009: any text is read into statements whose places lie in it', () => {
    const unit = fc.constantFrom(
      ...'(){}[]:;,=<>\n'.split(''),
      'x ',
      'y ',
      'for ',
      'in ',
      'if ',
      'else ',
      'def f(',
      'range(',
      'return ',
      '    ',
      '=> ',
      '1 ',
      '"s"',
      '+= ',
      'function ',
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 60 }).map((units) => units.join('')),
        (source) => {
          for (const language of ['python', 'javascript', 'generic'] as const) {
            const { statements, tokens } = readProgram(source, language);
            for (const { start, end, from, to } of statements) {
              expect([
                start >= 0,
                start <= end,
                end <= source.length,
                from <= to,
                to <= tokens.exact.length,
              ]).toEqual([true, true, true, true, true]);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('SPEC-SIL-009: a comment or template that never ends does not hide what follows', () => {
    expect(lexJavaScript('let a = 1; /* left open\nlet b = 2;').map(({ text }) => text)).toContain('b');
    expect(lexJavaScript('let a = `left open\nlet b = 2;').map(({ text }) => text)).toContain('b');
    expect(lexPython('"""left open\nb = 2\n').map(({ text }) => text)).toContain('b');
  });

  it('SPEC-SIL-009: regular expressions, templates and properties named like keywords', () => {
    const kinds = lexJavaScript(`a = b / c; d = /x[/]'/.test(\`q$\{r.delete}s\`)`).map(({ text }) => text);
    expect(kinds).toEqual([
      'a',
      '=',
      'b',
      '/',
      'c',
      ';',
      'd',
      '=',
      "/x[/]'/",
      '.',
      'test',
      '(',
      '`q${',
      'r',
      '.',
      'delete',
      '}s`',
      ')',
    ]);
  });
});

describe('SPEC-SIL-009: statements', () => {
  it('SPEC-SIL-009: of Python, docstrings and pass left out', () => {
    const source = `"""About."""\nclass A(B):\n    """Doc."""\n    def f(self, x): return x; y = 1\n\nif a[1:2]: pass\nelif lambda: 1: b()\nelse:\n    for i in (\n        1,\n        2): c()\n`;
    expect(python(source)).toEqual([
      'class: A ( B )',
      'define: f ( self , x )',
      'plain: return x',
      'plain: y = 1',
      'branch: a [ 1 : 2 ]',
      'branch: lambda : 1',
      'plain: b ( )',
      'each: i in ( 1 , 2 )',
      'plain: c ( )',
    ]);
  });

  it('SPEC-SIL-009: of JavaScript, with and without semicolons, braces on their own line', () => {
    const source =
      "'use strict'\nlet a = 1, b\nfor (let i = 0; i < 3; i++)\n{\n  if (a) b = { c: 1 }\n  else d(() => {\n    e()\n  })\n}\nconst f = function () { return 1 }\nreturn\na\n";
    expect(javascript(source)).toEqual([
      'plain: a = 1',
      'plain: i = 0',
      'loop: i < 3',
      'branch: a',
      'plain: b = { c : 1 }',
      'define: d ( ( ) =>',
      'plain: e ( )',
      'plain: i ++',
      'define: f = function ( )',
      'plain: return 1',
      'plain: return',
    ]);
  });

  it('SPEC-SIL-009: of methods whose class was cut off', () => {
    const source =
      'take(by: number = now(), name?: string): boolean {\n  return by > 1;\n}\n\nlet a = b ? f(1) : { c: 2 };\n';
    expect(javascript(source)).toEqual([
      'define: take ( by : number = now ( ) , name ? : string ) : boolean',
      'plain: return by > 1',
      'plain: a = b ? f ( 1 ) : { c : 2 }',
    ]);
  });

  it('SPEC-SIL-009: after a bracket that was cut off, the next declaration is read again', () => {
    expect(javascript('const a = f({ b: [1,\n\nfunction g(x) {\n  return x;\n}\n')).toContain(
      'plain: return x',
    );
    expect(python('a = f(b, [1,\ndef g(x):\n    return x\n')).toContain('plain: return x');
  });
});

describe('SPEC-SIL-009: one form for the same thing', () => {
  it.each([
    ['counting loops', 'for i in range(n):\n    f(i)\n', 'i = 0\nwhile i < n:\n    f(i)\n    i += 1\n'],
    [
      'counting down',
      'for i in range(n - 1, -1, -1):\n    f(i)\n',
      'i = n - 1\nwhile i >= 0:\n    f(i)\n    i = i - 1\n',
    ],
    [
      'loops by index',
      'for x in xs:\n    f(x)\n',
      'seq = list(xs)\np = 0\nwhile p < len(seq):\n    x = seq[p]\n    p += 1\n    f(x)\n',
    ],
    [
      'comprehensions',
      'r = [f(x) for x in xs if x]\n',
      'r = []\nfor x in xs:\n    if x:\n        r.append(f(x))\n',
    ],
    ['swapped comparisons', 'if a + 1 > b and c >= 2:\n    f()\n', 'if b < a + 1 and 2 <= c:\n    f()\n'],
    ['named literals', 'LIMIT = 26\nx = [0] * LIMIT\n', 'x = [0] * 26\n'],
    ['computed literals', 'x = y + 60 * 60 * 24\n', 'x = y + 86_400\n'],
    ['needless brackets', 'if (a):\n    return (b)\n', 'if a:\n    return b\n'],
    [
      'declared types',
      'def f(a: int, b: "list[int]" = None) -> str:\n    c: int = 1\n    return c + a\n',
      'def f(a, b=None):\n    c = 1\n    return c + a\n',
    ],
    ['layout and comments', 'x = f(a, b)  # here\n', '\n\nx = f(\n    a,\n    b,\n)\n'],
    ['lists made for a walk', 'for x in f(xs):\n    g(x)\n', 's = tuple(f(xs))\nfor x in s:\n    g(x)\n'],
    [
      'ranges made for a walk',
      'i = 0\nwhile i < n:\n    f(i)\n    i += 1\n',
      's = list(range(n))\nfor i in s:\n    f(i)\n',
    ],
    ['empty collections', 'a = []\nb = {}\n', 'a = list()\nb = dict()\n'],
    [
      'literals under any name in a function',
      'def f(a):\n    MAX_X = 1000\n    return a < MAX_X\n',
      'def f(a):\n    return a < 1000\n',
    ],
    [
      'literals under any name, renamed',
      'def f(a):\n    limit_of_it = 1000\n    return a < limit_of_it\n',
      'def f(a):\n    return a < 1000\n',
    ],
    [
      'endless loops with a break at their start',
      'while i < n:\n    f(i)\n',
      'while True:\n    if not (i < n):\n        break\n    f(i)\n',
    ],
    [
      'endless loops with the opposite comparison',
      'while i < n:\n    f(i)\n',
      'while True:\n    if i >= n:\n        break\n    f(i)\n',
    ],
    [
      'statements that do nothing',
      'def f(a):\n    return a + 1\n',
      'def f(a):\n    unused = [1, 2]\n    if 1 > 2:\n        raise ValueError(a)\n    for _ in range(0):\n        pass\n    flag = not False\n    if not flag:\n        return None\n    return a + 1\n',
    ],
  ])('SPEC-SIL-009: %s (Python)', (_, one, other) => {
    const core = (source: string): string[] =>
      templates(source).filter((template) => template !== '|$0 = not False');
    expect(core(one)).toEqual(core(other));
  });

  it.each([
    [
      'for and while',
      'for (let i = 1; i <= n; i++) { f(i); }',
      'var i = 1\nwhile (n >= i) {\n  f(i)\n  i += 1\n}\n',
    ],
    ['forEach and for-of', 'xs.forEach((x) => { f(x); });', 'for (const x of xs) { f(x); }'],
    [
      'loops by index',
      'for (const x of xs.keys()) { f(x); }',
      'const s = Array.from(xs.keys());\nfor (let i = 0; i < s.length; i++) {\n  const x = s[i];\n  f(x);\n}',
    ],
    ['arrow parameters and trailing commas', 'const g = (x) => f([x, 1,]);', 'const g = x => f([x, 1]);'],
    ['lists made for a walk', 'for (const x of xs) f(x);', 'const s = [...xs];\nfor (const x of s) f(x);'],
    ['empty collections', 'const a = [];', 'const a = new Array();'],
    [
      'type arguments without a space after them',
      'type M<T> = T | null;\nlet head: Node<T> = null;\nconst all: Map<string, Node<T>> = new Map();',
      'type M<T>= T | null;\nlet head: Node<T>=null;\nconst all: Map<string, Node<T>>=new Map();',
    ],
    ['equality', 'if (a === b) f();', 'if (a == b) { f(); }'],
  ])('SPEC-SIL-009: %s (JavaScript)', (_, one, other) => {
    expect(templates(one, 'javascript')).toEqual(templates(other, 'javascript'));
  });

  it('SPEC-SIL-009: a name that only a formatted string reads is read', () => {
    const source =
      'def f(a):\n    kind = "M"\n    if a:\n        kind = "C"\n    return f"{a} {kind}ocktail"\n';
    expect(templates(source)).toEqual(
      ['branch|$0', 'define|$0 ( $1 )', '|$0 = "', '|$0 = "', '|return "'].sort(),
    );
  });

  it('SPEC-SIL-009: things that differ do not become the same', () => {
    expect(templates('x = x - a + b\n')).not.toEqual(templates('x -= a + b\n'));
    expect(templates('while not found:\n    found = f()\n')).not.toEqual([]);
    expect(templates('if (a < b && c >= d) f();', 'javascript')).toContain('branch|$0 < $1 && $2 <= $3');
    // A list that something else reads is not one that was made for the walk.
    expect(templates('s = tuple(xs)\nfor x in s:\n    g(x, s)\n')).toHaveLength(3);
    // A break at another place, or one with something beside it, does not end the loop in the same way.
    expect(templates('while True:\n    f(i)\n    if i >= n:\n        break\n')).toContain('loop|True');
    expect(templates('while True:\n    if a or not b:\n        break\n    f(i)\n')).toContain('loop|True');
    // A counter whose steps were cut off is no constant.
    expect(templates('def f(a):\n    count = 0\n    return count\n')).toContain('|$0 = #');
    expect(templates('if a < b:\n    f()\n')).not.toEqual(templates('if a <= b:\n    f()\n'));
  });
});

describe('SPEC-SIL-009: what a text is', () => {
  it('SPEC-SIL-009: is told of every text of the corpus', () => {
    const files = [
      'tuning-python-1.txt',
      'tuning-python-2.txt',
      'tuning-javascript.txt',
      'unseen-python.txt',
      'unseen-javascript.txt',
      'prose.txt',
      'starters.txt',
    ];
    for (const { task, author, language, text } of files.flatMap(readCorpus)) {
      const expected = language === 'typescript' ? 'javascript' : language;
      expect([task, author, textKind(text)]).toEqual([task, author, expected]);
    }
  });

  it('SPEC-SIL-009: lines that only call something do not hide the language of the others', () => {
    const calls = "    plt.plot(xs)\n    plt.title('x')\n    plt.show()\n".repeat(4);
    expect(textKind(`import matplotlib.pyplot as plt\n\ndef draw(xs):\n${calls}`)).toBe('python');
    expect(textKind("puts('a')\nputs('b')\n")).toBe('generic');
  });

  it('SPEC-SIL-009: code in a fence keeps its place, all else is blanked', () => {
    const answer = "Here's it:\n```js\nlet a = 1;\n```\nThat's all.\n";
    const view = codeView(answer);
    expect(view.language).toBe('javascript');
    expect(view.text).toHaveLength(answer.length);
    expect(view.text.trim()).toBe('let a = 1;');
    expect(view.text.indexOf('let')).toBe(answer.indexOf('let'));
  });
});
