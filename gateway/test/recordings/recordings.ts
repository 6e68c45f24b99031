import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { absence, recordingsFolder as folder } from '../../../simulator/test/recordings.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import { textProtocols } from '#protocols/index.ts';

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

export { absence, folder };

export const recordings: readonly Recording[] = absence === null ? load() : [];

function load(): Recording[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording)
    .filter((recording) => Object.hasOwn(textProtocols, recording.protocol));
}
