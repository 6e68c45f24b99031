import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Json } from './client.ts';

/** Recorded traffic of real vendors; not part of the repository. */
export const recordingsFolder =
  process.env['SLUICE_RECORDINGS'] ?? resolve(import.meta.dirname, '../../../shared/recordings');

/** Why tests over recordings are skipped, for their names; null when they are not. */
export const absence = hasSome()
  ? null
  : `no recordings in ${recordingsFolder} (SLUICE_RECORDINGS)`;
if (absence !== null && process.env['SLUICE_RECORDINGS'] && process.env['CI'] !== undefined) {
  throw new Error(`${absence}, which this run requires`);
}

function hasSome(): boolean {
  return (
    existsSync(recordingsFolder) &&
    readdirSync(recordingsFolder).some((name) => name.endsWith('.json'))
  );
}

/** Every recorded exchange, parsed. */
export function readRecordings(): Json[] {
  return readdirSync(recordingsFolder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(recordingsFolder, name), 'utf8')));
}
