import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import {
  isRecord,
  type NamedItem,
  type OpenedRequest,
  ownItems,
  type Protocol,
  textFacts,
} from '#protocols/index.ts';
import type { TextInput, TextParts, TextSent } from '../input.ts';
import type { ItemMemory, RememberedItem } from './item-memory.ts';
import type { LargeBody } from '../large-body.ts';
import type { PreparedText } from '../prepared.ts';

/** What a request must contain to name an item. */
const mark = '"item_reference"';
/** Characters of all items that one request gets back: a small request must not become a very large one. */
const mostLength = 4 * 1024 * 1024;

/** A request whose items are all there, or what is wrong with it. */
export interface WithItems {
  readonly openedRequest: OpenedRequest;
  /** To be thrown when it is known that the caller may use the model. */
  readonly refusal: GatewayError | null;
}

/** The items that a request names, by their places, or what is wrong with it. */
type Found = { readonly texts: ReadonlyMap<number, string> } | { readonly refusal: GatewayError };

/**
 * Puts the items of earlier converted responses in place of their ids, on every channel: no upstream has
 * seen them. Ids that are not the gateway's own stay, since the upstream knows them.
 * @param openedRequest of `input.body`, which is replaced
 * @throws GatewayError if there is no memory for them
 */
export async function withItems(
  memory: ItemMemory,
  protocol: Pick<Protocol, 'openRequest'>,
  input: TextInput,
  openedRequest: OpenedRequest,
): Promise<WithItems> {
  const foundItems = await findItems(memory, input, ownItems.names(openedRequest.json));
  if ('refusal' in foundItems) return { openedRequest, refusal: foundItems.refusal };
  if (foundItems.texts.size === 0) return { openedRequest, refusal: null };
  const before = input.body.length;
  input.body = ownItems.withTexts(openedRequest.json, foundItems.texts);
  claimMore(input, before);
  return {
    openedRequest: protocol.openRequest(input.body, openedRequest.path, input.memory),
    refusal: null,
  };
}

/**
 * The same for a body that threads read.
 * @returns what is to be thrown when it is known that the caller may use the model
 * @throws GatewayError, ClientGone
 */
export async function putItems(
  memory: ItemMemory,
  input: TextInput,
  large: LargeBody,
): Promise<GatewayError | null> {
  const foundItems = await findItems(memory, input, await large.itemNames());
  if ('refusal' in foundItems) return foundItems.refusal;
  if (foundItems.texts.size === 0) return null;
  const before = input.body.length;
  await large.putItems(foundItems.texts);
  claimMore(input, before);
  return null;
}

/** Might the request name items? Costs a search through its bytes. */
export function mayNameItems({ protocol, operation, body }: TextInput): boolean {
  return textFacts[protocol].hasItems && operation !== 'count-tokens' && body.includes(mark);
}

async function findItems(
  memory: ItemMemory,
  { caller }: TextInput,
  namedItems: readonly NamedItem[],
): Promise<Found> {
  const texts = new Map<number, string>();
  if (namedItems.length === 0) return { texts };
  const ids = new Set(namedItems.map(({ id }) => id));
  const foundItems = await memory.find(ownerOf(caller), [...ids]);
  let size = 0;
  for (const { at, id } of namedItems) {
    const text = foundItems.get(id);
    // Each id may be used once.
    if (text === undefined || !ids.delete(id)) return { refusal: lostItem(id, at) };
    texts.set(at, text);
    size += text.length;
  }
  if (size > mostLength) throw new GatewayError('body_too_large');
  return { texts };
}

/** @throws GatewayError if there is no memory for a body that has grown */
function claimMore({ memory, body }: TextInput, before: number): void {
  if (memory?.tryMore(Math.max(0, body.length - before)) === false) throw memory.refuse();
}

function lostItem(id: string, at: number): GatewayError {
  const reason = `the item '${id}' is not remembered any more: please send the items themselves, with store: false`;
  return new GatewayError('invalid_value', { values: { reason }, param: `input.${at}` });
}

/** More would not be remembered. */
const mostBytes = 1024 * 1024;

/**
 * Remembers the items of a converted response that the client may name later. Call it before the client has the end.
 * @param last the end of the body, which has the whole response
 */
export function keepItems(
  { items }: Pick<TextParts, 'items'>,
  input: TextInput,
  { request }: Pick<PreparedText, 'request'>,
  sentRequest: TextSent | null,
  last: Buffer | string | undefined,
): void {
  const isConverted = sentRequest !== null && sentRequest.responseLosses !== null;
  if (!textFacts[input.protocol].hasItems || !isConverted || request.isKept === false) return;
  if (last === undefined || last.length > mostBytes) return;
  const response = responseIn(String(last));
  const output = isRecord(response) ? response['output'] : null;
  if (!Array.isArray(output)) return;
  const rememberedItems: RememberedItem[] = output.flatMap((item: unknown) => {
    const id = isRecord(item) ? item['id'] : null;
    return typeof id === 'string' ? [{ id, text: JSON.stringify(item) }] : [];
  });
  if (rememberedItems.length > 0) items.keep(ownerOf(input.caller), rememberedItems);
}

/** The response of a body in one piece, or in the last event of a stream. */
function responseIn(text: string): unknown {
  if (text.startsWith('{')) return JSON.parse(text);
  const at = text.lastIndexOf('\ndata: {');
  if (at === -1) return null;
  const event: unknown = JSON.parse(text.slice(at + '\ndata: '.length));
  return isRecord(event) ? event['response'] : null;
}
