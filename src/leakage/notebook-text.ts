/** Where the code of one cell is in the text of a notebook. */
export interface CellText {
  /** Offsets of the whole value: a string, or a list of strings. */
  readonly start: number;
  readonly end: number;
  /** The strings of the value with their offsets, in order. */
  readonly strings: readonly { readonly start: number; readonly end: number }[];
}

interface Container {
  readonly isList: boolean;
  /** Of an object: the name of the member that is read. */
  name: string | undefined;
  /** Of a list: how many commas were read. */
  index: number;
}

/** Where the cells of a notebook that is valid JSON are in its text, each an object of its list. */
function cellSpans(json: string): { readonly start: number; readonly end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const open: Container[] = [];
  let start = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    const isInCells = open.length === 2 && open[0]?.name === 'cells' && open[1]?.isList === true;
    if (character === '"') {
      const end = endOfString(json, at) + 1;
      const inner = open.at(-1);
      if (inner?.isList === false && inner.name === undefined) inner.name = textOf(json.slice(at, end));
      at = end - 1;
    } else if (character === '[' || character === '{') {
      if (isInCells) start = at;
      open.push({ isList: character === '[', name: undefined, index: 0 });
    } else if (character === ']' || character === '}') {
      open.pop();
      if (open.length === 2 && open[0]?.name === 'cells' && open[1]?.isList === true)
        spans.push({ start, end: at + 1 });
    } else if (character === ',') {
      const inner = open.at(-1);
      if (inner !== undefined) inner.name = undefined;
    }
  }
  return spans;
}

/** The notebook without one of its cells, given by its position from 0. */
export function withoutCell(json: string, position: number): string {
  const spans = cellSpans(json);
  const [cell, next, before] = [spans[position], spans[position + 1], spans[position - 1]];
  if (cell === undefined) return json;
  if (next !== undefined) return json.slice(0, cell.start) + json.slice(next.start);
  return json.slice(0, before?.end ?? cell.start) + json.slice(cell.end);
}

/** Finds the `source` of each cell in a notebook that is valid JSON, by the position of the cell. */
export function cellTexts(json: string): ReadonlyMap<number, CellText> {
  const found = new Map<number, CellText>();
  const open: Container[] = [];
  let strings: { start: number; end: number }[] = [];
  let start = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    const cell = cellOfSource(open);
    if (character === '"') {
      const end = endOfString(json, at) + 1;
      const inner = open.at(-1);
      if (inner?.isList === false && inner.name === undefined) inner.name = textOf(json.slice(at, end));
      else if (cell !== undefined && open.length === 3)
        found.set(cell, { start: at, end, strings: [{ start: at, end }] });
      else if (cell !== undefined && open.length === 4) strings.push({ start: at, end });
      at = end - 1;
    } else if (character === '[' || character === '{') {
      if (cell !== undefined && open.length === 3) {
        start = at;
        strings = [];
      }
      open.push({ isList: character === '[', name: undefined, index: 0 });
    } else if (character === ']' || character === '}') {
      open.pop();
      if (cell !== undefined && open.length === 3) found.set(cell, { start, end: at + 1, strings });
    } else if (character === ',') {
      const inner = open.at(-1);
      if (inner === undefined) continue;
      inner.name = undefined;
      inner.index += 1;
    }
  }
  return found;
}

/** The position of the cell whose `source` is read. */
function cellOfSource([root, cells, cell]: readonly Container[]): number | undefined {
  return root?.name === 'cells' && cells?.isList === true && cell?.name === 'source'
    ? cells.index
    : undefined;
}

function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at;
  }
  return json.length;
}

function textOf(literal: string): string {
  return JSON.parse(literal) as string;
}

/** The value with other lines in it, laid out as before. Lines that stay keep their escapes. */
export function withLines(json: string, { start, end, strings }: CellText, lines: readonly string[]): string {
  const [first, second] = strings;
  if (first === undefined || json[start] !== '[') return JSON.stringify(lines.join(''));
  if (lines.length === 0) return '[]';
  const before = json.slice(start + 1, first.start);
  const between = second === undefined ? `,${before}` : json.slice(first.end, second.start);
  const after = json.slice(strings.at(-1)?.end ?? first.end, end);
  const written = new Map(
    strings.map((string) => {
      const literal = json.slice(string.start, string.end);
      return [textOf(literal), literal];
    }),
  );
  const literals = lines.map((line) => written.get(line) ?? JSON.stringify(line));
  return `[${before}${literals.join(between)}${after}`;
}
