import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'vitest';

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
const end = '<!-- What was written by a test ends here. -->';

/** The page with its written part replaced: up to its end, or to where it says that the part ends. */
function withWrittenPart(page: string, part: string): string {
  const [own = '', former = ''] = page.split(begin);
  const [, after] = former.split(end);
  const rest = after === undefined ? '' : `\n${end}${after}`;
  return `${own}${begin}\n\n${part}\n${rest}`;
}

/** The page with the first table below this heading replaced. */
function withTable(page: string, heading: string, part: string): string {
  const at = page.indexOf(`\n${heading}\n`);
  const from = page.indexOf('\n| ', at);
  const to = page.indexOf('\n\n', from);
  return at === -1 ? page : `${page.slice(0, from + 1)}${part}${page.slice(to)}`;
}

/** Compares what a page of the documentation says with what was found, or writes it there. */
export function assertWritten(page: string, part: string): void {
  assertPage(page, (written) => withWrittenPart(written, part));
}

/** The same of tables: the first one below each of these headings. */
export function assertTables(page: string, tables: Readonly<Record<string, string>>): void {
  assertPage(page, (written) =>
    Object.entries(tables).reduce(
      (text, [heading, part]) => withTable(text, heading, part),
      written,
    ),
  );
}

function assertPage(page: string, withFound: (page: string) => string): void {
  const file = resolve(import.meta.dirname, '../../../docs', page);
  const written = readFileSync(file, 'utf8');
  const found = withFound(written);
  if (process.env['SLUICE_WRITE_DOCS'] === '1') writeFileSync(file, found);
  else expect(written, `SLUICE_WRITE_DOCS=1 writes docs/${page}`).toBe(found);
}
