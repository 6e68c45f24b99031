/** What is explained. */
export interface ExplainSearch {
  readonly model?: string;
  readonly protocol?: string;
  readonly key?: string;
  readonly group?: string;
  /** The User-Agent of the client. */
  readonly agent?: string;
}

const names = ['model', 'protocol', 'key', 'group', 'agent'] as const;

/** What the address of the page says. */
export function readExplainSearch(search: Record<string, unknown>): ExplainSearch {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value.slice(0, 200)]] : [];
    }),
  );
}
