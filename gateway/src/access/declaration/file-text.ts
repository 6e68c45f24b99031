import { stringify } from 'yaml';

/** A `${…}` that must stay one: everything else is escaped. */
export class Placeholder {
  readonly variable: string;

  constructor(variable: string) {
    this.variable = variable;
  }
}

/** A configuration file of these entries, below a comment of one line. */
export function toFileText(heading: string, file: Readonly<Record<string, unknown>>): string {
  const entries = escape(compact(file));
  return `# ${heading}\n${stringify(entries, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

/** An entry of a list of the file. */
export function toItemText(entry: Readonly<Record<string, unknown>>): string {
  return stringify([escape(compact(entry))], { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Without what says nothing: null, empty lists and empty mappings. */
export function compact(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => {
      if (value === null || value === undefined) return false;
      return (
        typeof value !== 'object' || value instanceof Placeholder || Object.keys(value).length > 0
      );
    }),
  );
}

/** Text that looks like a placeholder means itself, so it is escaped; real placeholders are written out. */
function escape(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (value instanceof Placeholder) return `\${${value.variable}}`;
  if (Array.isArray(value)) return value.map(escape);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, escape(part)]));
}

/**
 * Names of environment variables for the secrets of one export: `openai-main`, `API_KEY` →
 * `OPENAI_MAIN_API_KEY`. Two secrets never share a variable.
 * @param takenNames names that mean something else; those that are given are added
 */
export function createVariableNames(
  takenNames = new Set<string>(),
): (owner: string, what: string) => string {
  return (owner, what) => {
    const words = `${owner}_${what}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    const base = words.replace(/^_|_$/g, '').replace(/^(?=\d)/, 'CHANNEL_');
    let name = base;
    for (let count = 2; takenNames.has(name); count += 1) name = `${base}_${count}`;
    takenNames.add(name);
    return name;
  };
}
