import {
  namedStateReader,
  type StateKind,
  type StateName,
} from '../../shared/state/named-state.ts';
import { recordAt, type JsonRecord, isRecord, recordsIn } from '../../shared/values.ts';

/** The members of a request that name something stored upstream. */
export const readNamedState = namedStateReader({
  root: {
    previous_response_id: { kind: 'response' },
    conversation: { kind: 'conversation' },
    prompt: { kind: 'prompt', objectOnly: true },
  },
  anywhere: {
    file_id: { kind: 'file' },
    file_ids: { kind: 'file' },
    vector_store_id: { kind: 'vector-store' },
    vector_store_ids: { kind: 'vector-store' },
    container: { kind: 'container' },
    container_id: { kind: 'container' },
    // Ids of the vendor's own skills lack this prefix.
    skill_id: { kind: 'skill', idOf: (text) => (text.startsWith('skill_') ? text : null) },
  },
  opaque: [
    'parameters',
    'schema',
    'input_schema',
    'output_schema',
    'arguments',
    'metadata',
    'client_metadata',
    'env',
    // Sources of an earlier response and results of a search. The upstream does not read them by these ids.
    'annotations',
    'results',
  ],
  items: { at: 'input', isNamed: isItemReference },
});

/** Members that an item without content may have. */
const labels: ReadonlySet<string> = new Set(['id', 'type', 'role', 'status', 'phase']);

/** Whether the upstream has to look an item up: it has an id and no content. */
function isItemReference(item: JsonRecord): boolean {
  switch (item['type']) {
    case 'item_reference':
      return true;
    case 'reasoning':
      return isNothing(item['encrypted_content']) && isNothing(item['content']);
    case 'image_generation_call':
      return isNothing(item['result']);
    default:
      return Object.entries(item).every(([name, value]) => labels.has(name) || isNothing(value));
  }
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}

/** Whether later requests can name the response and its items. @param json the request */
export function isKept(json: JsonRecord): boolean {
  return json['store'] !== false || !isNothing(json['conversation']);
}

/** The objects that the upstream stores and a complete response names. */
export function readGivenState(response: JsonRecord): readonly StateName[] | undefined {
  const storedNames: StateName[] = [];
  const add = (kind: StateKind, id: unknown): void => {
    if (typeof id === 'string' && id !== '') storedNames.push({ kind, id });
  };
  add('response', response['id']);
  add('conversation', recordAt(response, 'conversation')['id']);
  givenByItems(response['output'], add);
  return storedNames.length === 0 ? undefined : storedNames;
}

/** The same for output items. `item-ids.ts` reads them without building the value. */
export function givenByItems(items: unknown, add: (kind: StateKind, id: unknown) => void): void {
  for (const item of recordsIn(items)) {
    add('item', item['id']);
    add('container', item['container_id']);
    add('container', recordAt(item, 'environment')['container_id']);
    for (const { annotations } of recordsIn(item['content'])) {
      for (const { file_id: file, container_id: container } of recordsIn(annotations)) {
        // A file that the response made. Other files are only cited, and their owners stay the same.
        if (typeof container !== 'string') continue;
        add('file', file);
        add('container', container);
      }
    }
  }
}

/** `Protocol.leaveOutState`. */
export function leaveOutState({ input }: JsonRecord, take: () => boolean): JsonRecord {
  return Array.isArray(input) ? { input: items(input, take) } : {};
}

/** Items that an upstream refuses under their id without the reasoning before them. */
const reasoned: ReadonlySet<unknown> = new Set(['message', 'function_call', 'custom_tool_call']);

function items(input: readonly unknown[], take: () => boolean): unknown[] {
  let isBare = false;
  return input.flatMap((item) => {
    if (!isRecord(item)) return [item];
    if (item['type'] === 'reasoning' || isReference(item)) {
      isBare = take();
      return isBare ? [] : [item];
    }
    if (!isBare || !reasoned.has(item['type'])) return [item];
    const { id: _, ...rest } = item;
    return [rest];
  });
}

function isReference({ type, id }: JsonRecord): boolean {
  return type === 'item_reference' && typeof id === 'string' && id.startsWith('rs_');
}
