import type { Config } from '#config/index.ts';

/** What is not a setting, and the administrator, who is only made at the first start. */
const others: ReadonlySet<string> = new Set(['file', 'declared', 'environmentKeys', 'admin']);

/** The settings that a newly read file changes, as the file spells them. They are read at the start only. */
export function changedSettings(running: Config, read: Config): string[] {
  const sections = (Object.keys(read) as (keyof Config)[]).filter((key) => !others.has(key));
  const changed = sections.flatMap((section) => {
    const before = Object(running[section]) as Record<string, unknown>;
    const after = Object(read[section]) as Record<string, unknown>;
    return Object.keys(after)
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => `${inFile(section)}.${inFile(key)}`);
  });
  return changed.toSorted();
}

/** `bodyLimit` → `body_limit`. */
function inFile(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
