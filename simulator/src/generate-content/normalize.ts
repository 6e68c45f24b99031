import { isObject, type JsonObject } from '../json.ts';

/** Members whose keys belong to the caller, not to the protocol. */
const opaque = new Set([
  'args',
  'response',
  'parametersJsonSchema',
  'responseJsonSchema',
  'parameters',
  'responseSchema',
  'labels',
]);

/**
 * The body with every protocol key in camelCase, since this vendor accepts `generation_config` and
 * `generationConfig` alike. Schemas, arguments and results stay unchanged.
 */
export function normalizeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalizeKeys);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    // `functionResponse.response` is data; a part's own members are protocol.
    result[name] = opaque.has(name) ? member : normalizeKeys(member);
  }
  return result;
}

/** `contents` may be a single content. A content without a role is the user's. */
export function contentsOf(body: JsonObject): unknown[] {
  const { contents } = body;
  const list = Array.isArray(contents) ? contents : isObject(contents) ? [contents] : [];
  return list.map((content) =>
    isObject(content) ? { ...content, role: roleOf(content['role']) } : (content as unknown),
  );
}

function roleOf(role: unknown): unknown {
  if (role === undefined || role === null || role === '' || role === 'function') return 'user';
  return role;
}
