import { objectOf } from './task-values.ts';

/** Where a vendor lists the models that a credential may use. Everything here is pure. */
export interface ModelList {
  /** Besides those of the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * After the base URL.
   * @param after what the page before has as `next`; null: the first page
   */
  path(after: string | null): string;
  /** Null: the body is not a list of models. */
  read(body: unknown): ModelPage | null;
}

export interface ModelPage {
  /** As requests name the models. */
  readonly names: readonly string[];
  /** Null: it is the last one. */
  readonly next: string | null;
}

const most = 1_000;

/** Texts of one member of each entry; null: there is no such list. */
function textsIn(body: unknown, list: string, member: string): string[] | null {
  const entries = objectOf(body)?.[list];
  if (!Array.isArray(entries)) return null;
  return entries.flatMap((entry: unknown) => {
    const value = objectOf(entry)?.[member];
    return typeof value === 'string' ? [value] : [];
  });
}

const textOf = (body: unknown, member: string): string | null => {
  const value = objectOf(body)?.[member];
  return typeof value === 'string' && value !== '' ? value : null;
};

/**
 * https://platform.openai.com/docs/api-reference/models/list: one page.
 * @param base what comes before the path, after the base URL
 */
export const openAiModels = (base = ''): ModelList => ({
  headers: {},
  path: () => `${base}/models`,
  read(body) {
    const names = textsIn(body, 'data', 'id');
    return names === null ? null : { names, next: null };
  },
});

/** https://platform.claude.com/docs/en/api/models-list: pages behind the last id. */
export const anthropicModels: ModelList = {
  headers: { 'anthropic-version': '2023-06-01' },
  path: (after) =>
    `/models?limit=${most}${after === null ? '' : `&after_id=${encodeURIComponent(after)}`}`,
  read(body) {
    const names = textsIn(body, 'data', 'id');
    if (names === null) return null;
    const hasMore = objectOf(body)?.['has_more'] === true;
    return { names, next: hasMore ? textOf(body, 'last_id') : null };
  },
};

/** https://ai.google.dev/api/models#method:-models.list: pages behind a token; names begin with `models/`. */
export const geminiModels: ModelList = {
  headers: {},
  path: (after) =>
    `/models?pageSize=${most}${after === null ? '' : `&pageToken=${encodeURIComponent(after)}`}`,
  read(body) {
    const names = textsIn(body, 'models', 'name');
    if (names === null) return null;
    return {
      names: names.map((name) => name.replace(/^models\//, '')),
      next: textOf(body, 'nextPageToken'),
    };
  },
};
