/** Left-aligned columns with a heading, for people. Cells stay plain text, without terminal control. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [heading, ...rows].map((line) => line.map(toPrintable));
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) => widths.map((width, column) => (line[column] ?? '').padEnd(width)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** Rows as a table. @param columns each heading, and what stands below it */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): string {
  const cells = Object.values(columns);
  return formatTable(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}

/**
 * Clients choose some of the text: with these characters they could end a line, forge another, or control the terminal.
 */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
