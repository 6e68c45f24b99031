import type { Draft } from './draft.ts';
import { readLitellmConfig } from './litellm/index.ts';
import { readNewApiChannels } from './new-api.ts';
import type { Notes } from './notes.ts';

export { createNotes } from './notes.ts';
export { toFile } from './to-file.ts';

const readers = { litellm: readLitellmConfig, 'new-api': readNewApiChannels };

export type OtherGateway = keyof typeof readers;

/**
 * Reads another gateway's configuration in this gateway's terms and notes what could not be imported.
 * @throws Error with a message if the text is not such a configuration. The message never quotes the text, which holds
 * secrets.
 */
export function readOtherGateway(gateway: OtherGateway, text: string, notes: Notes): Draft {
  return readers[gateway](text, notes);
}
