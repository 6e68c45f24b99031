import { JsonCursor, keyBytes } from '#json/index.ts';
import type { StateKind } from '../shared/state/named-state.ts';
import { givenByItems } from './native/state-members.ts';

const key = Object.freeze({
  annotations: keyBytes('annotations'),
  containerId: keyBytes('container_id'),
  content: keyBytes('content'),
  environment: keyBytes('environment'),
  fileId: keyBytes('file_id'),
  id: keyBytes('id'),
});

const cursor = new JsonCursor();

type Add = (kind: StateKind, id: unknown) => void;

/**
 * Reads the ids in an output item or in a list of items, given as JSON text. Does not build the value, which may hold
 * an image's bytes. An item that the cursor does not understand is parsed.
 * @returns false if the text is not JSON, which the walk over the event does not check
 */
export function readItemIds(items: Buffer, add: Add): boolean {
  cursor.reset(items);
  if (cursor.enterArray()) readList(() => readItem(add));
  else if (cursor.enterObject()) readItem(add);
  const { failed } = cursor;
  cursor.clear();
  if (!failed) return true;
  let value: unknown;
  try {
    value = JSON.parse(items.toString('utf8'));
  } catch {
    return false;
  }
  givenByItems(Array.isArray(value) ? value : [value], add);
  return true;
}

function readList(readObject: () => void): void {
  while (cursor.nextElement()) {
    if (cursor.enterObject()) readObject();
    else cursor.skip();
  }
}

function readItem(add: Add): void {
  while (cursor.nextMember()) {
    if (cursor.keyIs(key.id)) add('item', cursor.read());
    else if (cursor.keyIs(key.containerId)) add('container', cursor.read());
    else if (cursor.keyIs(key.environment) && cursor.enterObject()) readEnvironment(add);
    else if (cursor.keyIs(key.content) && cursor.enterArray()) readList(() => readPart(add));
    else cursor.skip();
  }
}

function readEnvironment(add: Add): void {
  while (cursor.nextMember()) {
    if (cursor.keyIs(key.containerId)) add('container', cursor.read());
    else cursor.skip();
  }
}

function readPart(add: Add): void {
  while (cursor.nextMember()) {
    if (cursor.keyIs(key.annotations) && cursor.enterArray()) readList(() => readAnnotation(add));
    else cursor.skip();
  }
}

/** The response made a file only if it names a container. Other files are cited. */
function readAnnotation(add: Add): void {
  let file: unknown;
  let container: unknown;
  while (cursor.nextMember()) {
    if (cursor.keyIs(key.fileId)) file = cursor.read();
    else if (cursor.keyIs(key.containerId)) container = cursor.read();
    else cursor.skip();
  }
  if (typeof container !== 'string') return;
  add('file', file);
  add('container', container);
}
