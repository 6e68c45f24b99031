import type { ListedModel } from './model-lists.ts';
import { encodeCodexModels } from './openai/codex-models.ts';
import { queryCount, queryText } from './query.ts';

/**
 * One page of the list that clients of OpenAI's and of Anthropic's API share, as JSON text. Honours `limit`, `after_id`
 * and `before_id`; cursors are names in list order, so a cursor stays valid after its model is gone.
 *
 * @param geminiModels adds generate-content's `models` next to `data`, for its SDKs that call this path
 */
export function encodeModelPage(
  all: readonly ListedModel[],
  query: unknown,
  geminiModels: boolean,
): string {
  const { page, hasMore } = pageOf(all, query);
  const first = page[0]?.name ?? null;
  const last = page.at(-1)?.name ?? null;
  const data = page.map(({ openai }) => openai).join(',');
  const cursors = `"has_more":${hasMore},"first_id":${JSON.stringify(first)},"last_id":${JSON.stringify(last)}`;
  return `{"object":"list","data":[${data}],${cursors}${extra(page, query, geminiModels)}}`;
}

function extra(page: readonly ListedModel[], query: unknown, geminiModels: boolean): string {
  // Codex sends its version, and expects `models` in a special form.
  if (queryText(query, 'client_version') !== null) return `,"models":[${encodeCodexModels(page)}]`;
  if (!geminiModels) return '';
  const models = page.map(({ gemini }) => gemini).filter((entry) => entry !== null);
  return `,"models":[${models.join(',')}]`;
}

function pageOf(
  all: readonly ListedModel[],
  query: unknown,
): { page: readonly ListedModel[]; hasMore: boolean } {
  const limit = queryCount(query, 'limit') ?? all.length;
  const after = queryText(query, 'after_id');
  const before = queryText(query, 'before_id');
  if (after !== null) {
    const rest = all.filter(({ name }) => name > after);
    return { page: rest.slice(0, limit), hasMore: rest.length > limit };
  }
  if (before !== null) {
    const rest = all.filter(({ name }) => name < before);
    return {
      page: rest.slice(Math.max(0, rest.length - limit)),
      hasMore: rest.length > limit,
    };
  }
  return { page: all.slice(0, limit), hasMore: all.length > limit };
}

/** One page of the generate-content model list as JSON text; everything if the client sets no `pageSize`. */
export function encodeGeminiPage(listedModels: readonly ListedModel[], query: unknown): string {
  const after = decodeToken(queryText(query, 'pageToken') ?? '');
  const rest = listedModels.filter(({ name, gemini }) => gemini !== null && name > after);
  const size = queryCount(query, 'pageSize') ?? rest.length;
  const page = rest.slice(0, size);
  const models = page.map(({ gemini }) => gemini).join(',');
  const last = page.at(-1);
  if (last === undefined || rest.length <= size) return `{"models":[${models}]}`;
  return `{"models":[${models}],"nextPageToken":"${encodeToken(last.name)}"}`;
}

/** The token is the last name shown: opaque to clients, and valid across catalogue changes. */
function encodeToken(name: string): string {
  return Buffer.from(name).toString('base64url');
}

function decodeToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}
