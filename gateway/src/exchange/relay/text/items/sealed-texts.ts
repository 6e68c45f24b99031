/** What several processes share. Keys and values are texts. */
export interface SharedTexts {
  keep(values: ReadonlyMap<string, string>, seconds: number): void;
  find(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Texts of an owner (team or user) that every process finds by their names. */
export interface SealedTexts {
  /** All or none: they belong together. */
  keep(owner: string, texts: ReadonlyMap<string, string>): void;
  /** Those that are known, by name. */
  find(owner: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface SealedTextsOptions {
  /** What the texts are; part of their keys. */
  readonly kind: 'item' | 'state';
  readonly shared: SharedTexts;
  /** Encrypts a text for a place, so that others with access to what is shared cannot read it. */
  readonly seal: (text: string, place: string) => string;
  /** @throws Error if it was not sealed for this place */
  readonly open: (sealed: string, place: string) => string;
  /** A key for a place that does not reveal it. */
  readonly digest: (place: string) => string;
}

const keptSeconds = 3_600;
/** Of one response, in characters. */
const mostShared = 256 * 1024;

/** Shares texts in a form that only gateways with the same master key read. */
export function createSealedTexts(options: SealedTextsOptions): SealedTexts {
  const { kind, shared, seal, open, digest } = options;
  const placeOf = (owner: string, name: string): string => `${kind} ${owner} ${name}`;
  const keyOf = (place: string): string => `sluice:${kind}:${digest(place)}`;

  return {
    keep(owner, texts) {
      let size = 0;
      for (const text of texts.values()) size += text.length;
      if (size > mostShared) return;
      const sealed = Array.from(texts, ([name, text]) => {
        const place = placeOf(owner, name);
        return [keyOf(place), seal(text, place)] as const;
      });
      shared.keep(new Map(sealed), keptSeconds);
    },
    async find(owner, names) {
      const found = new Map<string, string>();
      if (names.length === 0) return found;
      const places = names.map((name) => [name, placeOf(owner, name)] as const);
      const values = await shared.find(places.map(([, place]) => keyOf(place)));
      for (const [name, place] of places) {
        const sealed = values.get(keyOf(place));
        const text = sealed === undefined ? null : opened(sealed, place);
        if (text !== null) found.set(name, text);
      }
      return found;
    },
  };

  function opened(sealed: string, place: string): string | null {
    try {
      return open(sealed, place);
    } catch {
      // Altered, or of a gateway with another master key.
      return null;
    }
  }
}
