import type { Draft, Notes } from './draft.ts';
import { readLitellmConfig } from './litellm.ts';
import { readNewApiChannels } from './new-api.ts';

export { createNotes } from './draft.ts';
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
