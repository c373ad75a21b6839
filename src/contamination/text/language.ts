import type { CodeLanguage } from '../code/token.js';
import { blank, blankOutside, fencedBlocks } from './fenced-code.js';

/** How a text is read: as code of a language, or as prose. */
export type TextKind = CodeLanguage | 'prose';

const TAGS = new Map<string, CodeLanguage>([
  ...['python', 'py', 'python3', 'python2', 'ipython', 'pycon', 'sage'].map(
    (tag) => [tag, 'python'] as const,
  ),
  ...['javascript', 'js', 'jsx', 'mjs', 'cjs', 'node', 'typescript', 'ts', 'tsx', 'mts', 'cts'].map(
    (tag) => [tag, 'javascript'] as const,
  ),
]);
const PROSE_TAGS = new Set(['text', 'txt', 'markdown', 'md', 'plaintext', 'console', 'output', 'diff']);

const PYTHON_LINE =
  /^\s*(?:def \w+\s*\(|(?:class \w|(?:if|elif|while|for|with|try|except|else|finally)\b).*?:\s*(?:#|$)|from [\w.]+ import .|import [\w.]+(?: as \w+)?(?:, ?[\w.]+)*\s*(?:#|$)|return\b[^;{#]*(?:#|$)|raise \w|print\(.*?\)\s*(?:#|$)|@\w[\w.]*(?:\(.*?\))?\s*(?:#|$)|(?:self\.)?\w+(?:, ?\w+)* [-+*/|&%]?= (?:[^;{]*[^;{,]$|[^;{]*?[^;{,]#)|(?:pass|continue|break)\s*(?:#|$))/;
const JAVASCRIPT_LINE =
  /(?:;|\{|\}\)?;?,?)\s*(?:\/\/|$)|^\s*(?:(?:export )?(?:default )?(?:async )?(?:function|const|let|var|class|interface|type|enum|import)\b|\/\*\*|\*\/|\*\s|\/\/|return\b|\})|=>/;
const JAVASCRIPT_SIGN =
  /\b(?:const|let|var|function)\b|=>|===|!==|\+\+|&&|\|\||\bnew [A-Z]|\bthis\.|;\s*$|\{\s*$/;
const CODE_SIGN =
  /[=;{}()[\]<>|&]|::|->|^\s*(?:#include|package |use |fn |func |public |private |SELECT |end\b|<\?)/;

/** A call on a line of its own, which Python, JavaScript without semicolons and others have alike. */
const CALL_LINE = /^\s*[\w$][\w$.]*\(.*\)\s*$/;

/** What kind of text this is, told by its lines; the most frequent kind of line wins. */
export function textKind(text: string): TextKind {
  let python = 0;
  let javascript = 0;
  let signs = 0;
  let generic = 0;
  let calls = 0;
  let prose = 0;
  let blockComment = false;
  for (const line of sampledLines(text)) {
    const trimmed = line.trim();
    if (trimmed.length === 0) continue;
    if (blockComment || trimmed.startsWith('/*')) {
      blockComment = !trimmed.includes('*/');
      javascript += 0.1;
      continue;
    }
    if (trimmed.startsWith('#') || trimmed.startsWith('//')) continue;
    const isPython = PYTHON_LINE.test(line);
    const isJavascript = JAVASCRIPT_LINE.test(line);
    if (isPython) python += 1;
    if (isJavascript) javascript += 1;
    if (JAVASCRIPT_SIGN.test(line)) signs += 1;
    if (isPython || isJavascript) continue;
    if (isProseLine(line)) prose += Math.max(1, trimmed.length / 80);
    else if (CALL_LINE.test(line)) calls += 1;
    else if (CODE_SIGN.test(line)) generic += 1;
    else prose += 0.5;
  }
  const code = Math.max(python, javascript, generic, calls);
  if (code === 0 || prose > 1.5 * (python + javascript + generic + calls)) return 'prose';
  if (python + javascript === 0) return 'generic';
  if (generic > 2 * Math.max(python, javascript)) return 'generic';
  if (python > 0 && signs <= python * 0.4) return 'python';
  if (javascript > 0 && signs > 0) return 'javascript';
  return python > 0 ? 'python' : 'generic';
}

const SAMPLE_LENGTH = 40_000;
const DOCSTRING = /("""|''')[\s\S]*?\1/g;

function sampledLines(text: string): string[] {
  // The beginning tells what a file is; a line of a minified file is cut, since the patterns look at line ends.
  const sample = text.slice(0, SAMPLE_LENGTH).replace(DOCSTRING, '""');
  return sample.split(/\r\n?|\n/).map((line) => line.slice(0, 300));
}

/** Where a word begins: an expression over whole words overflows its stack on one of some millions of letters. */
const WORD_BEGIN = /(?<!\p{L}['’-]{0,9})\p{L}/gu;

/** A line of sentences: mostly words, few of the signs that code is made of. */
export function isProseLine(line: string): boolean {
  const trimmed = line.replace(/`[^`]*`/g, ' x ').trim();
  const words = trimmed.match(WORD_BEGIN)?.length ?? 0;
  if (words < 4) return false;
  const signs = trimmed.match(/[=;{}()[\]<>|&_#@$\\]/g)?.length ?? 0;
  if (signs > words / 4) return false;
  return /^[\p{Lu}\d*>#|“"'(-]/u.test(trimmed)
    ? /[\p{L}\p{N}.:,;!?)*”"'|-]$/u.test(trimmed)
    : words > 7 && signs === 0;
}

/** The code of an answer at its offsets, all else blanked: the fenced blocks, or the lines that are not prose. */
export function codeView(text: string): { readonly text: string; readonly language: CodeLanguage } {
  const blocks = fencedBlocks(text).filter((block) => !PROSE_TAGS.has(block.tag) && block.end > block.start);
  if (blocks.length > 0) {
    const code = blankOutside(text, blocks);
    const tagged = blocks.map((block) => TAGS.get(block.tag)).find((language) => language !== undefined);
    const kind = tagged ?? textKind(code);
    return { text: code, language: kind === 'prose' ? 'generic' : kind };
  }
  const kind = textKind(text);
  if (kind !== 'prose') return { text, language: kind };
  const lines = text.split(/(?<=\n)|(?<=\r)(?!\n)/);
  const code = lines.map((line) => (isProseLine(line) ? blank(line) : line)).join('');
  const rest = textKind(code);
  return { text: code, language: rest === 'prose' ? 'generic' : rest };
}
