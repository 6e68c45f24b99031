import { table } from '../../support/written-page.ts';

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
  return `### ${title}\n\n${table([['', ...columns, 'Reported as, and why'], ...rows])}`;
}

/** The last cell of a line: the names that are reported, each once, and the reason. */
export function toldAndWhy(names: readonly string[], why = ''): string {
  const told = [...new Set(names)].map((name) => `\`${name}\``).join(', ');
  return [told, why].filter((text) => text !== '').join(': ');
}
