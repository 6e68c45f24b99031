import { skipSignature } from '../../shared/state/without-state.ts';
import { namedStateReader, type StateMember } from '../../shared/state/named-state.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';

/** The members of a request that name something stored upstream. Responses give out no such names. */
export const readNamedState = namedStateReader({
  root: {},
  anywhere: inBothSpellings({
    cachedContent: { kind: 'cache', idOf: (text) => lastOf(text, 'cachedContents') },
    fileUri: { kind: 'file', idOf: storedFile },
    fileSearchStoreNames: { kind: 'vector-store' },
    ragCorpus: { kind: 'vector-store' },
    ragFileIds: { kind: 'file' },
    datastore: { kind: 'vector-store' },
    dataStore: { kind: 'vector-store' },
    engine: { kind: 'vector-store' },
  }),
  opaque: Object.keys(
    inBothSpellings({
      args: null,
      response: null,
      parameters: null,
      parametersJsonSchema: null,
      responseSchema: null,
      responseJsonSchema: null,
      schema: null,
      labels: null,
    }),
  ),
});

/**
 * The file in the vendor's storage at an address, as `files/<id>`. Null for any other address: the owners of buckets
 * and web sites control who may read them.
 */
function storedFile(uri: string): string | null {
  if (/^gs:/i.test(uri)) return null;
  if (!/^https?:/i.test(uri)) return lastOf(uri, 'files');
  const url = URL.parse(uri);
  // A text that is not a URL is read as a plain name.
  if (url === null) return lastOf(uri, 'files');
  // The host also has names for regions and for client certificates, and any name may end with a dot.
  if (!/(^|[.-])generativelanguage\.([a-z]+\.)?googleapis\.com\.?$/.test(url.hostname)) return null;
  return lastOf(decoded(url.pathname), 'files');
}

/** `collection/<last part>`, without what precedes it (`projects/…`, `/v1beta/`) and follows it (`:download`). */
function lastOf(text: string, collection: string): string {
  const path = text.split(/[?#]/, 1)[0] ?? '';
  const last = path.split('/').findLast((part) => part !== '') ?? '';
  return `${collection}/${last.split(':', 1)[0]}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not a valid encoding: the name is taken literally.
    return path;
  }
}

function inBothSpellings<Value extends StateMember | null>(
  members: Readonly<Record<string, Value>>,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => [
      [name, value],
      [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value],
    ]),
  );
}

/** `Protocol.leaveOutState`. */
export function leaveOutState({ contents }: JsonRecord, take: () => boolean): JsonRecord {
  return Array.isArray(contents) ? { contents: contents.map((each) => content(each, take)) } : {};
}

function content(value: unknown, take: () => boolean): unknown {
  if (!isRecord(value) || !Array.isArray(value['parts'])) return value;
  const parts = (value['parts'] as readonly unknown[]).flatMap((part) => {
    if (!isRecord(part)) return [part];
    const { thoughtSignature, thought_signature: snake, ...rest } = part;
    const signature = thoughtSignature ?? snake;
    if (typeof signature !== 'string' || signature === skipSignature || !take()) return [part];
    if ('functionCall' in rest || 'function_call' in rest) {
      return [{ ...rest, thoughtSignature: skipSignature }];
    }
    const isEmpty = Object.entries(rest).every(
      ([name, member]) => name === 'thought' || member === '',
    );
    return isEmpty ? [] : [rest];
  });
  return { ...value, parts };
}
