import { type Command, InvalidArgumentError } from 'commander';
import { type Costs, costsOfDay, costsOfRun } from '../../calls/budget/read-costs.js';
import { loadConfig } from '../../config/load-config.js';
import { UsageError } from '../../errors.js';
import { percent } from '../../percent.js';
import { estimateRun, LEVERS, type Lever, type WhatIf } from '../report/what-if.js';
import { withSession } from '../session.js';
import { plural, usd } from '../terminal/amounts.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson } from '../terminal/print.js';
import { widthOf, wrapped } from '../terminal/wrapped.js';

interface CostsOptions {
  readonly run?: string;
  readonly days: number;
  readonly whatIf?: readonly Lever[];
  readonly json?: true;
}

const MS_A_DAY = 86_400_000;
/** Sums of days are kept about that long. */
const MAX_DAYS = 400;

function dayCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_DAYS) {
    throw new InvalidArgumentError(`expected a whole number from 1 to ${MAX_DAYS}`);
  }
  return value;
}

export function addCostsCommand(program: Command): void {
  program
    .command('costs')
    .description('Show what agent calls cost: today (UTC), the last days, or one pipeline run.')
    .option('--run <run>', 'only the calls of this pipeline run (tags.run)')
    .option('--days <n>', 'how many days to show, today included', dayCount, 1)
    .option(
      '--what-if <settings>',
      `with --run: estimate the cost with other settings: ${LEVERS.join(', ')}, or both with a comma`,
      leversOf,
    )
    .option('--json', 'print JSON')
    .action(async ({ run, days, whatIf, json }: CostsOptions) => {
      if (whatIf !== undefined) {
        if (run === undefined) throw new UsageError('usage', '--what-if needs --run');
        const config = loadConfig();
        const estimate = await withSession(config, { work: false }, (fleet) =>
          estimateRun(fleet, run, whatIf, config.auditFraction),
        );
        if (json) printJson(estimate, 2);
        else print(estimateText(run, estimate, widthOf(process.stdout)));
        return;
      }
      const costs = await withSession(loadConfig(), { work: false }, ({ client, prefix }) =>
        run === undefined
          ? Promise.all(lastDays(days).map((at) => costsOfDay(client, prefix, at)))
          : costsOfRun(client, prefix, run).then((found) => [found]),
      );
      if (json) printJson(run === undefined ? costs : costs[0], 2);
      else print(costs.map(asText).join('\n\n'));
    });
}

function leversOf(text: string): readonly Lever[] {
  const names = new Set(text.split(',').map((name) => name.trim()));
  const levers = LEVERS.filter((lever) => names.delete(lever));
  if (names.size > 0) throw new InvalidArgumentError(`expected ${LEVERS.join(', ')}, or both with a comma`);
  return levers;
}

/** The estimate, and what it rests on. */
function estimateText(run: string, estimate: WhatIf, width: number | undefined): string {
  const { levers, actualUsd, estimatedUsd, calls, leftOut, auditFraction, staticFirst, batch } = estimate;
  const lines = [
    `${escapeControlCharsInLine(run)}: with ${levers.join(' and ')} about ${usd(estimatedUsd)} instead of ${usd(actualUsd)} for the ${plural(calls, 'call')} of its stored jobs`,
  ];
  if (staticFirst !== undefined) {
    lines.push(
      `  static-first: ${usd(staticFirst.savedUsd)} less for ${plural(staticFirst.calls, 'call')} of checks with full coverage in which all leaks of the analysis are corrected; a part of ${auditFraction} is made all the same (FLEET_AUDIT_SHARE)`,
      '    estimated: results do not record unknown modules and proofs, so some of these calls would be made; shorter requests for the other scripts are not counted',
    );
  }
  if (batch !== undefined) {
    lines.push(
      `  batch: ${usd(batch.savedUsd)} less for ${plural(batch.calls, 'call')} that could have waited for a batch, at half the price`,
      '    estimated: only the first call of a conversation can wait; jobs are assumed to have enough time, and batches to answer all calls',
    );
  }
  if (leftOut > 0) lines.push(`  left out: ${plural(leftOut, 'call')} without a known price`);
  return lines.flatMap((line) => wrapped(line, '', width, '      ')).join('\n');
}

/** A time in each of the last days, oldest first. */
function lastDays(days: number): number[] {
  return Array.from({ length: days }, (_, index) => Date.now() - (days - 1 - index) * MS_A_DAY);
}

function asText(costs: Costs): string {
  const budget = costs.budgetUsd === null ? '' : ` of ${usd(costs.budgetUsd)}`;
  const lines = [
    `${escapeControlCharsInLine(costs.name)}: ${usd(costs.spentUsd)}${budget} for ${plural(costs.calls, 'call')}`,
  ];
  for (const [model, { calls, spentUsd }] of Object.entries(costs.models)) {
    lines.push(`  ${escapeControlCharsInLine(model)}: ${usd(spentUsd)} for ${plural(calls, 'call')}`);
  }
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheReadFraction } = costs;
  lines.push(
    `  tokens: ${inputTokens} in, ${outputTokens} out, ${cacheReadTokens} read from and ${cacheWriteTokens} written to the cache`,
  );
  if (cacheReadFraction !== null) {
    lines.push(`  prompt cache: ${percent(cacheReadFraction)} of the input was read from it`);
  }
  if (costs.batchCalls > 0) {
    lines.push(
      `  in batches: ${usd(costs.batchUsd)} for ${plural(costs.batchCalls, 'call')}, at half the price`,
    );
  }
  if (costs.reusedCalls > 0) {
    lines.push(
      `  reused: ${plural(costs.reusedCalls, 'call')} answered by other jobs, where the answers had cost ${usd(costs.reusedUsd)}`,
    );
  }
  if (costs.callsUnderWay + costs.callsInBatches > 0) {
    const waiting = costs.callsInBatches === 0 ? '' : ` and ${costs.callsInBatches} in batches`;
    lines.push(
      `  under way: ${plural(costs.callsUnderWay, 'call')}${waiting}, up to ${usd(costs.reservedUsd)}`,
    );
  }
  if (costs.callsInDoubt > 0) {
    lines.push(
      `  in doubt: ${plural(costs.callsInDoubt, 'call')}, probably ${usd(costs.inDoubtUsd)} if billed`,
    );
  }
  if (costs.unpricedCalls > 0) {
    lines.push(
      `  no cost is known of ${plural(costs.unpricedCalls, 'call')}; budgets count ${usd(costs.assumedUsd)} for them`,
    );
  }
  return lines.join('\n');
}
