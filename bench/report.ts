import type { TargetName } from './targets.ts';

/** One line of the result table. */
export interface ResultRow {
  readonly title: string;
  readonly unit: 'µs' | 'ms' | 'KiB' | 'MiB' | 's' | '×' | '/s' | '%';
  readonly values: Readonly<Partial<Record<TargetName, number | undefined>>>;
  /** The gateway's limit: a multiple of nginx or of bare Node, or a number in the row's unit; null: no limit. */
  readonly bound:
    | { readonly timesNginx: number }
    | { readonly timesBaseline: number }
    | { readonly atMost: number }
    | null;
  /** The machine was too busy to judge these values. */
  readonly unsure?: boolean;
}

export interface JudgedRow extends ResultRow {
  /** What the bound is compared with: the gateway's value, or its ratio; null without a gateway. */
  readonly judged: number | null;
  readonly held: boolean | null;
}

export function judge(row: ResultRow): JudgedRow {
  if (row.bound === null) return { ...row, judged: null, held: null };
  const { judged, limit } = compare(row.values, row.bound);
  return { ...row, judged, held: judged === null || row.unsure ? null : judged <= limit };
}

function compare(
  { gateway, nginx, baseline }: ResultRow['values'],
  bound: NonNullable<ResultRow['bound']>,
): { judged: number | null; limit: number } {
  if ('timesNginx' in bound) return { judged: ratio(gateway, nginx), limit: bound.timesNginx };
  if ('atMost' in bound) return { judged: gateway ?? null, limit: bound.atMost };
  return { judged: ratio(gateway, baseline), limit: bound.timesBaseline };
}

export function formatTable(rows: readonly JudgedRow[], targets: readonly TargetName[]): string {
  const header = ['', ...targets, ...targets.filter(isCompared).map((name) => `${name} ÷ nginx`)];
  const lines = rows.map((row) => [
    `${row.title}, ${row.unit}`,
    ...targets.map((name) => number(row.values[name])),
    ...targets
      .filter(isCompared)
      .map((name) => (isRelative(row) ? number(ratio(row.values[name], row.values.nginx)) : '')),
    boundText(row.bound),
    row.unsure ? 'UNSURE' : row.held === null ? '' : row.held ? 'held' : 'MISSED',
  ]);
  const cells = [[...header, 'bound', ''], ...lines];
  const widths = cells[0]?.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const padded = cells.map((line) => line.map((cell, at) => cell.padEnd(widths?.[at] ?? 0)));
  const rule = padded[0]?.map((cell) => '-'.repeat(cell.length));
  return [padded[0], rule, ...padded.slice(1)].map((line) => `| ${line?.join(' | ')} |`).join('\n');
}

const isRelative = ({ bound }: ResultRow) => bound !== null && !('atMost' in bound);

function boundText(bound: ResultRow['bound']): string {
  if (bound === null) return '';
  if ('timesNginx' in bound) return `≤ ${bound.timesNginx} × nginx`;
  return 'atMost' in bound ? `≤ ${bound.atMost}` : `≤ ${bound.timesBaseline} × bare Node`;
}

const isCompared = (name: TargetName) => name !== 'nginx';

function ratio(value: number | undefined, base: number | undefined): number | null {
  return value === undefined || base === undefined ? null : value / base;
}

function number(value: number | null | undefined): string {
  if (value === undefined || value === null) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}
