/** A member to watch; `members` lists what to watch inside its value if that is an object. */
export interface WatchedMember {
  /** Dotted path from the root, in the watch list's own spelling. */
  readonly path: string;
  readonly object: WatchedObject | null;
}

export interface WatchedObject {
  readonly path: string;
  /** Members by every spelling that the gateway reads. */
  readonly bySpelling: ReadonlyMap<string, WatchedMember>;
  /** Members by folded name: a key that folds to a watched one without being one of its spellings is refused. */
  readonly byFold: ReadonlyMap<string, WatchedMember>;
  readonly fold: (key: string) => string;
}

export interface WatchOptions {
  /** Also reads `snake_case` for every `camelCase` name in the list, as proto3 JSON does. */
  readonly snakeCaseToo?: boolean;
}

/**
 * Compiles dotted paths (`stream_options.include_usage`). Every object on the way to a watched member is watched too:
 * none of its members may appear twice.
 */
export function watchList(paths: readonly string[], options: WatchOptions = {}): WatchedObject {
  return compile('', paths, options.snakeCaseToo ?? false);
}

function compile(path: string, below: readonly string[], snakeCaseToo: boolean): WatchedObject {
  const bySpelling = new Map<string, WatchedMember>();
  const byFold = new Map<string, WatchedMember>();
  const fold = snakeCaseToo ? foldCaseAndUnderscores : foldCase;
  for (const name of new Set(below.map((rest) => rest.split('.', 1)[0] ?? ''))) {
    const memberPath = path === '' ? name : `${path}.${name}`;
    const inside = below
      .filter((rest) => rest.startsWith(`${name}.`))
      .map((rest) => rest.slice(name.length + 1));
    const object = inside.length > 0 ? compile(memberPath, inside, snakeCaseToo) : null;
    const member: WatchedMember = { path: memberPath, object };
    bySpelling.set(name, member);
    if (snakeCaseToo) bySpelling.set(snakeCase(name), member);
    byFold.set(fold(name), member);
  }
  return { path, bySpelling, byFold, fold };
}

/** Upper case first: that also folds the letters (`ſ`, `K`) that case-insensitive readers take for ASCII ones. */
function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

function foldCaseAndUnderscores(key: string): string {
  return foldCase(key).replaceAll('_', '');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
