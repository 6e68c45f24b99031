import { JsonCursor, type keyBytes } from '#json/index.ts';
import type { ModelEcho } from './protocol.ts';

type Key = ReturnType<typeof keyBytes>;

/** The client's model name as JSON text; null when there is nothing to echo. */
export function echoedName(echo: ModelEcho): Buffer | null {
  if (echo.clientModel === echo.upstreamModel) return null;
  return Buffer.from(JSON.stringify(echo.clientModel));
}

const cursor = new JsonCursor();

/**
 * The body of a complete answer with the string member `path` replaced by the name the client wrote. The same
 * buffer when there is nothing to echo or no such member.
 */
export function echoModel(body: Buffer, path: readonly Key[], echo: ModelEcho): Buffer {
  const name = echoedName(echo);
  if (name === null) return body;
  cursor.reset(body);
  const range = findString(path, 0);
  cursor.clear();
  if (range === null) return body;
  return Buffer.concat([body.subarray(0, range.start), name, body.subarray(range.end)]);
}

function findString(path: readonly Key[], level: number): { start: number; end: number } | null {
  const key = path[level];
  if (key === undefined || !cursor.enterObject()) return null;
  while (cursor.nextMember()) {
    if (!cursor.keyIs(key)) {
      cursor.skip();
      continue;
    }
    if (level + 1 < path.length) return findString(path, level + 1);
    if (!cursor.isString()) return null;
    const start = cursor.at;
    return { start, end: cursor.skip() };
  }
  return null;
}
