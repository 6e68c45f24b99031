import type { Draft } from './draft.ts';
import { readLitellmConfig } from './litellm/index.ts';
import { readNewApiChannels } from './new-api.ts';
import type { Notes } from './notes.ts';

export { createNotes } from './notes.ts';
export { toFile } from './to-file.ts';

const readers = { litellm: readLitellmConfig, 'new-api': readNewApiChannels };

export type OtherGateway = keyof typeof readers;

/**
 * The configuration of another gateway in our words; what could not be carried is noted.
 * @throws Error with a sentence when the text is none. It never quotes the text, which holds secrets.
 */
export function readOtherGateway(gateway: OtherGateway, text: string, notes: Notes): Draft {
  return readers[gateway](text, notes);
}
