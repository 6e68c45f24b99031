import { type Edit, JsonCursor, type keyBytes, splice } from '#json/index.ts';
import { type EventRange, withEdits } from './events.ts';
import type { ModelEcho, StreamEvent } from '../../protocol.ts';

type Key = ReturnType<typeof keyBytes>;

/** The client's name for the model as JSON text. Null if upstream and client use the same name. */
export function echoedName(echo: ModelEcho): Buffer | null {
  if (echo.clientModel === echo.upstreamModel) return null;
  return Buffer.from(JSON.stringify(echo.clientModel));
}

/**
 * The event with the client's name for the model. Null if there is nothing to replace.
 * @param data what `readEvent` returned; `model` is a range of it
 */
export function echoInEvent(
  event: StreamEvent,
  data: Buffer,
  model: EventRange,
  echo: Buffer | null,
): Buffer | null {
  if (echo === null || !model.isKnown) return null;
  return withEdits(event, data, [{ start: model.start, end: model.end, bytes: echo }]);
}

const cursor = new JsonCursor();

/**
 * The body of a complete response with the string at `path` replaced by the client's name for the model. The same
 * buffer if there is nothing to replace.
 */
export function echoModel(body: Buffer, path: readonly Key[], echo: ModelEcho): Buffer {
  if (echo.clientModel === echo.upstreamModel) return body;
  const edit = editOfModel(body, path, echo);
  return edit === null ? body : splice(body, [edit]);
}

/** Replaces the string at `path` by the client's name for the model. Null if there is nothing to replace. */
export function editOfModel(body: Buffer, path: readonly Key[], echo: ModelEcho): Edit | null {
  const name = echoedName(echo);
  if (name === null) return null;
  cursor.reset(body);
  const range = findString(path, 0);
  cursor.clear();
  return range === null ? null : { ...range, bytes: name };
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
