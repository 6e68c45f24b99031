/** One part of the page: a heading, and a table with an area's lines below each other. */
export interface Section {
  readonly title: string;
  readonly columns: readonly string[];
  readonly lines: readonly { readonly area: string; readonly cells: readonly string[] }[];
}

/** Markdown: a table per section. */
export function describeSections(sections: readonly Section[]): string {
  return sections.map(describeSection).join('\n\n');
}

function describeSection({ title, columns, lines }: Section): string {
  const areas = [...new Set(lines.map(({ area }) => area))];
  const rows = areas.flatMap((area) => [
    [`**${area}**`, ...columns.map(() => ''), ''],
    ...lines.filter((line) => line.area === area).map(({ cells }) => cells),
  ]);
  return `### ${title}\n\n${table([['', ...columns, 'Told as, and why'], ...rows])}`;
}

/** The last cell of a line: the names of what is told, each once, and the reason. */
export function toldAndWhy(names: readonly string[], why = ''): string {
  const told = [...new Set(names)].map((name) => `\`${name}\``).join(', ');
  return [told, why].filter((text) => text !== '').join(': ');
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
