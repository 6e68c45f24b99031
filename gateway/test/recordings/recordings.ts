import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TextProtocolName } from '../../src/canonical/index.ts';
import { textProtocols } from '../../src/protocols/index.ts';

/** Recorded provider traffic, kept outside the repository. One file per exchange. */
export interface Recording {
  readonly id: string;
  readonly protocol: TextProtocolName;
  readonly endpoint: string;
  readonly request: Readonly<Record<string, unknown>> | null;
  readonly status: number;
  readonly stream: boolean;
  readonly body?: unknown;
  readonly sse?: string | null;
  readonly notes: string;
  /** The question, where the same was asked in several protocols, and which of its turns this is. */
  readonly group?: string;
  readonly turn?: number;
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
export const folder = process.env['SLUICE_RECORDINGS'] ?? join(root, '../shared/recordings');

/** Why tests over recordings are skipped; null when they are not. */
export const absence = existsSync(folder) ? null : `no recordings in ${folder} (SLUICE_RECORDINGS)`;

export const recordings: readonly Recording[] = absence === null ? load() : [];

function load(): Recording[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording)
    .filter((recording) => Object.hasOwn(textProtocols, recording.protocol));
}
