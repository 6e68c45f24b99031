import { ownerOf } from '#identity/index.ts';
import { isRecord, textFacts } from '#protocols/index.ts';
import type { TextInput, TextParts, TextSent } from '../input.ts';
import type { PreparedText } from '../prepared.ts';
import type { RememberedItem } from './item-memory.ts';

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
  sent: TextSent | null,
  last: Buffer | string | undefined,
): void {
  const isConverted = sent !== null && sent.responseLosses !== null;
  if (!textFacts[input.protocol].hasItems || !isConverted || request.isKept === false) return;
  if (last === undefined || last.length > mostBytes) return;
  const response = responseIn(String(last));
  const output = isRecord(response) ? response['output'] : null;
  if (!Array.isArray(output)) return;
  const kept: RememberedItem[] = output.flatMap((item: unknown) => {
    const id = isRecord(item) ? item['id'] : null;
    return typeof id === 'string' ? [{ id, text: JSON.stringify(item) }] : [];
  });
  if (kept.length > 0) items.keep(ownerOf(input.caller), kept);
}

/** The response of a body in one piece, or in the last event of a stream. */
function responseIn(text: string): unknown {
  if (text.startsWith('{')) return JSON.parse(text);
  const at = text.lastIndexOf('\ndata: {');
  if (at === -1) return null;
  const event: unknown = JSON.parse(text.slice(at + '\ndata: '.length));
  return isRecord(event) ? event['response'] : null;
}
