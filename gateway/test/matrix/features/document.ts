import { areas, type ClientFeatures } from './feature.ts';
import type { Outcome } from './run.ts';

/** What was found out about one client: a list of outcomes per feature, one per upstream, in one order. */
export interface ClientOutcomes {
  readonly features: ClientFeatures;
  readonly upstreams: readonly string[];
  readonly rows: readonly (readonly Outcome[])[];
}

/** Markdown: a table per client protocol. */
export function describeOutcomes(clients: readonly ClientOutcomes[]): string {
  return clients.map(describeClient).join('\n\n');
}

function describeClient({ features, upstreams, rows }: ClientOutcomes): string {
  const header = ['', ...upstreams.map((upstream) => `to ${upstream}`), 'Told as, and why'];
  const lines = areas.flatMap((area) => {
    const own = rows.filter(([first]) => first?.feature.area === area);
    if (own.length === 0) return [];
    return [[`**${area}**`, ...upstreams.map(() => ''), ''], ...own.map(describeRow)];
  });
  return `### A client of ${features.client}\n\n${table([header, ...lines])}`;
}

function describeRow(outcomes: readonly Outcome[]): string[] {
  const feature = outcomes[0]!.feature;
  const told = outcomes.flatMap(({ losses, param }) => [
    ...losses.map(({ what }) => what),
    ...(param === '' ? [] : [param]),
  ]);
  const names = [...new Set(told)].map((name) => `\`${name}\``).join(', ');
  const why = feature.why ?? '';
  return [
    feature.name,
    ...outcomes.map(({ how }) => (how === 'refused' ? '400' : how)),
    names === '' ? why : `${names}: ${why}`,
  ];
}

/** Columns of equal width, as the formatter has them. */
export function table([header = [], ...lines]: readonly (readonly string[])[]): string {
  const widths = header.map((_, at) =>
    Math.max(3, ...[header, ...lines].map((line) => (line[at] ?? '').length)),
  );
  const padded = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell + ' '.repeat(widths[at]! - cell.length)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [padded(header), rule, ...lines.map(padded)].join('\n');
}

const begin = '<!-- What follows is written by a test: SLUICE_WRITE_DOCS=1. -->';

/** The page with its written part replaced. */
export function withWrittenPart(page: string, part: string): string {
  const [own = ''] = page.split(begin, 1);
  return `${own}${begin}\n\n${part}\n`;
}
