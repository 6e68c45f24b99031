import type { Result } from '../../api/client.ts';

type Setting = Result<'readConfiguration'>['settings'][number];

/** A value as a file has it. */
export function fileText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is shown of a setting; empty: it is a secret that is set. */
export function valueText({ value, secret, set }: Setting): string {
  if (secret && value === null) return set ? '' : '–';
  if (Array.isArray(value) && value.length > 0) return value.map(fileText).join(', ');
  return fileText(value);
}

/** Where a setting is set: `sluice.yaml:12`, or a variable of the environment. Empty: it has its default. */
export function originText({ origin }: Setting, file: string | null): string {
  const { from, line, variables } = origin;
  if (from === 'default') return '';
  const names = variables.map((each) => (each.startsWith('file:') ? each : `$${each}`));
  return [...(from === 'file' ? [`${file ?? ''}:${line ?? ''}`] : []), ...names].join(', ');
}
