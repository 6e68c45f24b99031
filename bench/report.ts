import type { TargetName } from './targets.ts';

/** One line of the result table. */
export interface ResultRow {
  readonly title: string;
  readonly unit: 'µs' | 'ms' | 'KiB' | 'MiB' | 's' | '×';
  readonly values: Readonly<Partial<Record<TargetName, number | undefined>>>;
  /** What the gateway is held to: a multiple of nginx, or a number in the row's unit; null: it is only told. */
  readonly bound: { readonly timesNginx: number } | { readonly atMost: number } | null;
  /** The machine was too busy for these values to be judged. */
  readonly unsure?: boolean;
}

export interface JudgedRow extends ResultRow {
  /** What the bound speaks of: the gateway's value, or its ratio to nginx; null without a gateway. */
  readonly judged: number | null;
  readonly held: boolean | null;
}

export function judge(row: ResultRow): JudgedRow {
  const { gateway, nginx } = row.values;
  if (row.bound === null) return { ...row, judged: null, held: null };
  const relative = 'timesNginx' in row.bound;
  const limit = 'timesNginx' in row.bound ? row.bound.timesNginx : row.bound.atMost;
  const judged = relative ? ratio(gateway, nginx) : (gateway ?? null);
  return { ...row, judged, held: judged === null || row.unsure ? null : judged <= limit };
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

const isRelative = ({ bound }: ResultRow) => bound !== null && 'timesNginx' in bound;

function boundText(bound: ResultRow['bound']): string {
  if (bound === null) return '';
  return 'timesNginx' in bound ? `≤ ${bound.timesNginx} × nginx` : `≤ ${bound.atMost}`;
}

const isCompared = (name: TargetName) => name !== 'nginx';

function ratio(value: number | undefined, base: number | undefined): number | null {
  return value === undefined || base === undefined ? null : value / base;
}

function number(value: number | null | undefined): string {
  if (value === undefined || value === null) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}
