import { GatewayError } from '#errors/index.ts';
import { isRecord, type JsonRecord } from '../shared/values.ts';

/** Where the input of a request names an item of an earlier converted response. */
export interface NamedItem {
  readonly at: number;
  readonly id: string;
}

/** The ids of the gateway's own items; see `createResponseIds`. */
const ownId = /^[a-z]+_[\w-]{24}_\d{1,6}$/;

/** No conversation names as many items. Each of them is looked up, in Redis too. */
const mostNames = 4_096;

/**
 * The gateway's own items that a request names, in its order. Others are known to the upstream.
 * @throws GatewayError `too_complex` if there are more than anybody needs
 */
function names(request: JsonRecord): readonly NamedItem[] {
  const items: readonly unknown[] = Array.isArray(request['input']) ? request['input'] : [];
  const namedItems: NamedItem[] = [];
  for (const [at, item] of items.entries()) {
    if (!isRecord(item) || item['type'] !== 'item_reference') continue;
    const { id } = item;
    if (typeof id !== 'string' || !ownId.test(id)) continue;
    if (namedItems.length === mostNames) throw new GatewayError('too_complex');
    namedItems.push({ at, id });
  }
  return namedItems;
}

/**
 * The request with items in the place of their names.
 * @param texts JSON of the item that stands at each place
 */
function withTexts(request: JsonRecord, texts: ReadonlyMap<number, string>): Buffer {
  const items = request['input'] as readonly unknown[];
  const input = items.flatMap((item, at) => {
    const text = texts.get(at);
    return text === undefined ? [item] : readable(JSON.parse(text));
  });
  return Buffer.from(JSON.stringify({ ...request, input }));
}

/** Reasoning without its state means nothing to any upstream. What belongs to a call returns by another way. */
function readable(item: unknown): readonly unknown[] {
  const isEmpty =
    isRecord(item) && item['type'] === 'reasoning' && typeof item['encrypted_content'] !== 'string';
  return isEmpty ? [] : [item];
}

/** Items of converted responses that a client names instead of sending them again. */
export const ownItems = Object.freeze({ names, withTexts });
