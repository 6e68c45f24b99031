import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import { isRecord, type OpenedRequest, type Protocol } from '#protocols/index.ts';
import type { TextInput } from '../input.ts';
import type { ItemMemory } from './item-memory.ts';

/** What a request must contain to name an item. */
const mark = '"item_reference"';
/** The ids of this gateway's own items; see `createResponseIds` of the protocol. */
const ownId = /^[a-z]+_[\w-]{24}_\d{1,6}$/;
/**
 * Characters of all items that one request gets back. They are read and written in this thread: a small request must not
 * stop everybody else.
 */
const mostLength = 4 * 1024 * 1024;

/** A request whose items are all there, or what is wrong with it. */
export interface WithItems {
  readonly opened: OpenedRequest;
  /** To be thrown when it is known that the caller may use the model. */
  readonly refusal: GatewayError | null;
}

/**
 * Puts the items of earlier converted responses in the place of their ids, whoever serves the request: no upstream has
 * seen them. Ids that are not the gateway's own stay, since the upstream knows them.
 * @param opened of `input.body`, which is replaced
 * @throws GatewayError if there is no memory for them
 */
export async function withItems(
  memory: ItemMemory,
  protocol: Pick<Protocol, 'openRequest'>,
  input: TextInput,
  opened: OpenedRequest,
): Promise<WithItems> {
  const items = opened.json['input'];
  if (!Array.isArray(items)) return { opened, refusal: null };
  const named = items.map(ownReference);
  const ids = new Set(named.filter((id) => id !== null));
  if (ids.size === 0) return { opened, refusal: null };
  const found = await memory.find(ownerOf(input.caller), [...ids]);
  // Each id may be used once.
  const lost = named.findIndex((id) => id !== null && !(found.has(id) && ids.delete(id)));
  if (lost !== -1) return { opened, refusal: lostItem(named[lost]!, lost) };
  let size = 0;
  for (const text of found.values()) size += text.length;
  if (size > mostLength) throw new GatewayError('body_too_large');
  const whole = items.flatMap((item: unknown, at) => {
    const id = named[at] ?? null;
    return id === null ? [item] : readable(JSON.parse(found.get(id)!));
  });
  const body = Buffer.from(JSON.stringify({ ...opened.json, input: whole }));
  const { memory: room } = input;
  if (room?.tryMore(Math.max(0, body.length - input.body.length)) === false) throw room.refuse();
  input.body = body;
  return { opened: protocol.openRequest(body, opened.path, room), refusal: null };
}

/** Might the request name items? Costs a search through its bytes. */
export function mayNameItems({ protocol, operation, body }: TextInput): boolean {
  return protocol === 'responses' && operation === 'generate' && body.includes(mark);
}

function ownReference(item: unknown): string | null {
  if (!isRecord(item) || item['type'] !== 'item_reference') return null;
  const { id } = item;
  return typeof id === 'string' && ownId.test(id) ? id : null;
}

/** Reasoning without its state means nothing to any upstream. What belongs to a call returns by another way. */
function readable(item: unknown): readonly unknown[] {
  const isEmpty =
    isRecord(item) && item['type'] === 'reasoning' && typeof item['encrypted_content'] !== 'string';
  return isEmpty ? [] : [item];
}

function lostItem(id: string, at: number): GatewayError {
  const reason = `the item '${id}' is not remembered any more: please send the items themselves, with store: false`;
  return new GatewayError('invalid_value', { values: { reason }, param: `input.${at}` });
}
