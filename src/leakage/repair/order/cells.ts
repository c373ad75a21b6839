import { countText } from '../../values/work.js';

/** `# %%`, `# In[3]:`: the lines that divide a script into the cells of a notebook. */
const CELL_MARKER = /^#[ \t]*(%%|In ?\[)/;

export function isCellMarker(line: string): boolean {
  return CELL_MARKER.test(line);
}

/** Offsets of the lines that begin a cell. */
export function cellStarts(source: string): number[] {
  countText(source.length);
  const starts: number[] = [];
  let at = 0;
  for (const line of source.split('\n')) {
    if (isCellMarker(line)) starts.push(at);
    at += line.length + 1;
  }
  return starts;
}
