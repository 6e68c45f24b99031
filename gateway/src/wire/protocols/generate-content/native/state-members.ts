import { namedStateReader, type StateMember } from '../../named-state.ts';

/** Which members of a request name something that the upstream keeps. Answers give out nothing of the kind. */
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
 * The file of the vendor's own store that an address means, as `files/<id>`; null for what is no id: buckets and the
 * web, whose owners say themselves who may read them.
 */
function storedFile(uri: string): string | null {
  if (/^gs:/i.test(uri)) return null;
  if (!/^https?:/i.test(uri)) return lastOf(uri, 'files');
  const url = URL.parse(uri);
  // What is no address is judged by its words alone.
  if (url === null) return lastOf(uri, 'files');
  // It has names for regions and for certificates of clients, too, and any name may end in a dot.
  if (!/(^|[.-])generativelanguage\.([a-z]+\.)?googleapis\.com\.?$/.test(url.hostname)) return null;
  return lastOf(decoded(url.pathname), 'files');
}

/** `collection/<last part>`, whatever stands before it (`projects/…`, `/v1beta/`) and behind it (`:download`). */
function lastOf(text: string, collection: string): string {
  const path = text.split(/[?#]/, 1)[0] ?? '';
  const last = path.split('/').findLast((part) => part !== '') ?? '';
  return `${collection}/${last.split(':', 1)[0]}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not an encoding of anything: its characters are its name.
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
