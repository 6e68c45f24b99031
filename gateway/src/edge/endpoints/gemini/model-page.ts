import type { ListedModel } from '../model-lists.ts';
import { queryCount, queryText } from '../query.ts';

/** One page of the generate-content model list as JSON text; everything if the client sets no `pageSize`. */
export function encodeGeminiPage(listed: readonly ListedModel[], query: unknown): string {
  const after = decodeToken(queryText(query, 'pageToken') ?? '');
  const rest = listed.filter(({ name, gemini }) => gemini !== null && name > after);
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
