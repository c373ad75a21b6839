import { percent } from '../../../percent.js';
import type { Spending } from '../../costs.js';
import { runAddress, runsAddress } from '../address.js';
import { money, utc } from '../format.js';
import { type Html, html } from '../html.js';
import { NONE, table } from '../table.js';

/** A run in the list of runs. */
export interface ListedRun extends Spending {
  readonly run: string;
  /** When its newest job was submitted. */
  readonly newestAt: string;
}

/** The content of the list of runs. @param runs Undefined for a reader who may see one tenant's jobs only. */
export function runsContent(runs: readonly ListedRun[] | undefined, page: number, isLast: boolean): Html {
  return html`<h1>Runs</h1>
<p>A run is what the tag <code>run</code> of the submitted jobs names.</p>
<form class="find" method="get" action="/runs"><label for="name">Run</label> <input id="name" name="name" maxlength="512" required> <button>Open</button></form>
${runs === undefined && html`<p class="faint">This token is bound to a tenant: it opens runs by their names and sees its own jobs.</p>`}
${runs !== undefined && (runs.length === 0 ? html`<p class="faint">No job has named its run yet.</p>` : listed(runs))}
${
  runs !== undefined &&
  html`<nav class="pager" aria-label="Pages of runs">${page > 1 && html`<a href="${runsAddress(page - 1)}">Newer</a> `}${!isLast && html`<a href="${runsAddress(page + 1)}">Older</a>`}</nav>`
}`;
}

function listed(runs: readonly ListedRun[]): Html {
  return table<ListedRun>(
    [
      { name: 'run', cell: ({ run }) => html`<a href="${runAddress({ name: run })}">${run}</a>` },
      { name: 'newest job', cell: ({ newestAt }) => utc(new Date(newestAt)) },
      {
        name: 'cost',
        isNumber: true,
        cell: ({ spentUsd, inDoubtUsd }) => money(spentUsd + inDoubtUsd),
      },
      {
        name: 'budget',
        isNumber: true,
        cell: ({ budgetUsd }) => (budgetUsd === null ? NONE : money(budgetUsd)),
      },
      { name: 'calls', isNumber: true, cell: ({ calls }) => calls },
      {
        name: 'from cache',
        isNumber: true,
        cell: ({ cacheReadFraction }) => (cacheReadFraction === null ? NONE : percent(cacheReadFraction)),
      },
    ],
    runs,
  );
}
