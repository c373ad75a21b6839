import { type Html, type HtmlValue, html } from './html.js';

/** What a cell without a value shows; in a narrow window it is left out. */
export const NONE = '–';

/** A column of a table over rows of one type. */
export interface Column<Row> {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => HtmlValue;
}

/**
 * A table. In a narrow window each row is a block with a line for each cell, which names its column. The roles keep it a table
 * for screen readers, which would otherwise go by the layout.
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  return html`<table class="stack" role="table">
<thead role="rowgroup"><tr role="row">${columns.map(
    ({ name, isNumber }) =>
      html`<th scope="col" role="columnheader"${isNumber === true && html` class="number"`}>${name}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row">${columns.map((column) => cellOf(column, row))}</tr>
`,
  )}</tbody></table>`;
}

function cellOf<Row>({ name, isNumber, cell }: Column<Row>, row: Row): Html {
  const value = cell(row);
  const classes = [isNumber === true && 'number', value === NONE && 'none'].filter((text) => text !== false);
  return html`<td role="cell" data-label="${name}"${classes.length > 0 && html` class="${classes.join(' ')}"`}><div>${value}</div></td>`;
}
