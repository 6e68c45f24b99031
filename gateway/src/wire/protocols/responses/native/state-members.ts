import { namedStateReader, type StateKind, type StateName } from '../../named-state.ts';
import { recordsIn } from '../../input-extent.ts';
import { recordAt, type JsonRecord } from '../../values.ts';

/** Which members of a request name something that the upstream keeps. */
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
    // The vendor's own have no such beginning.
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
    // Where an earlier answer had something from, and what a search had found: nothing is read by these.
    'annotations',
    'results',
  ],
  items: { at: 'input', isNamed: isItemReference },
});

/** What an item may have beside its id and still say nothing itself. */
const labels: ReadonlySet<string> = new Set(['id', 'type', 'role', 'status', 'phase']);

/** An item of an earlier answer that the upstream looks up: it has an id, and not what it stands for. */
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

/** The answer can be named later, and so can its items. @param json the request */
export function isKept(json: JsonRecord): boolean {
  return json['store'] !== false || !isNothing(json['conversation']);
}

/** All that a complete answer names and its upstream keeps. */
export function readGivenState(answer: JsonRecord): readonly StateName[] | undefined {
  const given: StateName[] = [];
  const add = (kind: StateKind, id: unknown): void => {
    if (typeof id === 'string' && id !== '') given.push({ kind, id });
  };
  add('response', answer['id']);
  add('conversation', recordAt(answer, 'conversation')['id']);
  givenByItems(answer['output'], add);
  return given.length === 0 ? undefined : given;
}

/** The same of output items: `item-ids.ts` reads it without building them. */
export function givenByItems(items: unknown, add: (kind: StateKind, id: unknown) => void): void {
  for (const item of recordsIn(items)) {
    add('item', item['id']);
    add('container', item['container_id']);
    add('container', recordAt(item, 'environment')['container_id']);
    for (const { annotations } of recordsIn(item['content'])) {
      for (const { file_id: file, container_id: container } of recordsIn(annotations)) {
        // A file that the answer made. Others it only cites, and they are whose they were.
        if (typeof container !== 'string') continue;
        add('file', file);
        add('container', container);
      }
    }
  }
}
