import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reply } from '../http/reply.ts';
import { isObject, objectAt, parseJson, type JsonObject } from '../json.ts';

/** Headers of the recorded connection, as opposed to the recorded response. */
const connectionHeaders = new Set([
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'connection',
  'keep-alive',
  'date',
]);

/** Returns the recorded response, byte for byte, or a sentence if there is none. */
export type Replayer = (id: string) => Promise<Reply | string>;

/** `folder` holds one JSON file per recorded exchange, named by its id. */
export function createReplayer(folder: string | undefined): Replayer {
  const known = new Map<string, Reply>();
  return async (id) => {
    // The id becomes a file name, so a text that could leave the folder is not an id.
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id)) return `'${id}' is not the id of a recording.`;
    if (folder === undefined) return 'The simulator was started without a folder of recordings.';
    const reply = known.get(id) ?? (await load(folder, id));
    if (reply === undefined) return `There is no recording '${id}'.`;
    known.set(id, reply);
    return reply;
  };
}

async function load(folder: string, id: string): Promise<Reply | undefined> {
  const text = await readFile(join(folder, `${id}.json`), 'utf8').catch(() => undefined);
  const recording = text === undefined ? undefined : parseJson(text);
  return isObject(recording) ? toReply(recording) : undefined;
}

function toReply(recording: JsonObject): Reply {
  const { sse, body, status } = recording;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectAt(recording, 'headers'))) {
    if (!connectionHeaders.has(name.toLowerCase())) headers[name] = String(value);
  }
  const isStream = typeof sse === 'string';
  headers['content-type'] ??= isStream ? 'text/event-stream' : 'application/json';
  return {
    status: typeof status === 'number' ? status : 200,
    headers,
    body: isStream
      ? { kind: 'stream', format: 'raw', events: splitRaw(sse) }
      : { kind: 'whole', bytes: typeof body === 'string' ? body : JSON.stringify(body) },
  };
}

/** Cuts behind each blank line and keeps every byte, so that faults can count recorded events. */
function splitRaw(text: string): { data: string }[] {
  const pieces = text.split(/(?<=\r\n\r\n|\n\n|\r\r)(?=[^\r\n])/);
  return pieces.filter((data) => data !== '').map((data) => ({ data }));
}
