import type { IncomingHttpHeaders } from 'node:http';
import type { ProtocolName } from '#canonical/index.ts';

/** The protocols that have an error body of their own; images and embeddings use that of chat. */
export type ErrorShape = Exclude<ProtocolName, 'images' | 'embeddings'>;

/** The shape of an error at a path, including paths that do not exist. */
export function errorShapeOf(
  method: string | undefined,
  path: string,
  headers: IncomingHttpHeaders,
): ErrorShape {
  if (path.startsWith('/v1/messages')) return 'messages';
  if (path.startsWith('/v1/responses')) return 'responses';
  if (isUnder('/v1beta', path)) return 'generate-content';
  if (isUnder('/v1/models', path)) return shapeOfModels(method, path, headers);
  if (isUnder('/api/v3', path)) return 'video-contents';
  if (isUnder('/v1/services', path) || isUnder('/v1/tasks', path)) return 'video-synthesis';
  return 'chat';
}

/** Newer SDKs of generate-content call `/v1/models/{model}:…`, and two protocols share the model list. */
function shapeOfModels(
  method: string | undefined,
  path: string,
  headers: IncomingHttpHeaders,
): ErrorShape {
  const called = /:\w*$/.test(path);
  if (called && (method !== 'GET' || /:(?:generate|streamGenerate|count)\w+$/.test(path))) {
    return 'generate-content';
  }
  const versioned =
    headers['anthropic-version'] !== undefined || headers['vendorb-version'] !== undefined;
  return versioned ? 'messages' : 'chat';
}

function isUnder(prefix: string, path: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}
