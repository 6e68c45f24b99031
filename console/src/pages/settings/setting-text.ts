import type { Result } from '../../api/client.ts';
import type { Say } from '../../words/index.ts';

type Setting = Result<'readConfiguration'>['settings'][number];

/** A value as a file has it. */
export function fileText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is shown of a setting: of a secret only whether it is set. */
export function valueText({ value, secret, set }: Setting, say: Say): string {
  if (secret && value === null) return set ? say('settings.config.set') : '–';
  if (Array.isArray(value) && value.length > 0) return value.map(fileText).join(', ');
  return fileText(value);
}

/** Where a setting is from: `sluice.yaml:12`, a variable of the environment, or nowhere. */
export function originText({ origin }: Setting, file: string | null, say: Say): string {
  const { from, line, variables } = origin;
  if (from === 'default') return say('settings.config.default');
  const named = variables.map((each) => (each.startsWith('file:') ? each : `$${each}`)).join(', ');
  if (from === 'environment') return named;
  const place = `${file ?? ''}:${line ?? ''}`;
  return named === '' ? place : `${place}, ${named}`;
}
