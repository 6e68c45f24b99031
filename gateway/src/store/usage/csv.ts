/** One line of CSV (RFC 4180) with its end. */
export function csvLine(values: readonly (string | number | null)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

/** Control characters, line ends, direction marks and zero-width marks, which must not appear in a cell. */
const unseen = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
/** Spreadsheets take such text for a formula, in full-width forms too, and clients choose some of it. */
const formula = /^\s*[=+\-@＝＋－＠]/u;

function cell(value: string | number | null): string {
  if (value === null || typeof value === 'number') return String(value ?? '');
  const shown = value.replaceAll(unseen, '');
  const text = formula.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
