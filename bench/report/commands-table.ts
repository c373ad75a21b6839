import { markdownTable } from '../../scripts/markdown-tables.js';
import type { MeasuredRow } from '../harness/measurement.js';
import { numberOf } from './row-numbers.js';

/** Redis commands, bytes and processor time of one job of each kind; the last line is a bare BullMQ job. */
export function commandsTable(rows: readonly MeasuredRow[]): string {
  const counted = rows.filter(({ row }) => row.name.startsWith('commands '));
  const cell = (row: string, number: string, digits = 0) =>
    numberOf(rows, row, number)?.toLocaleString('en', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }) ?? 'not measured';
  const kinds = counted.map(({ row: { name } }) => [
    name.replace('commands ', ''),
    cell(name, 'calls'),
    cell(name, 'sent', 1),
    cell(name, 'commands'),
    cell(name, 'bytesIn'),
    cell(name, 'bytesOut'),
    cell(name, 'cpuUs'),
  ]);
  const [first] = counted;
  const bare =
    first === undefined
      ? []
      : [
          [
            'a bare BullMQ job',
            '0',
            cell(first.row.name, 'bareSent', 1),
            cell(first.row.name, 'bareCommands'),
            cell(first.row.name, 'bareBytesIn'),
            cell(first.row.name, 'bareBytesOut'),
            cell(first.row.name, 'bareCpuUs'),
          ],
        ];
  const head = [
    'kind',
    'agent calls',
    'commands sent',
    'with those in scripts',
    'bytes to Redis',
    'bytes from Redis',
    'Redis processor time, µs',
  ];
  return markdownTable(head, [...kinds, ...bare]);
}
