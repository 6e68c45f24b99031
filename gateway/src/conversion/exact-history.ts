import type { TextProtocolName } from '../canonical/index.ts';
import { hasLongNumbers, isRecord, parseExact, type WireRequest } from '../protocols/index.ts';

/** Where calls have objects for their arguments, and in which member the calls are. Elsewhere arguments are text. */
const histories: Readonly<Partial<Record<TextProtocolName, string>>> = {
  messages: 'messages',
  'generate-content': 'contents',
};

/** The request with integers beyond 2^53 in its history as they were written; itself when there are none. */
export function exactHistory(request: WireRequest, client: TextProtocolName): WireRequest {
  const member = histories[client];
  if (member === undefined || request.json[member] === undefined) return request;
  const text = request.body.toString('utf8');
  if (!hasLongNumbers(text)) return request;
  const exact = parseExact(text);
  if (!isRecord(exact)) return request;
  return { ...request, json: { ...request.json, [member]: exact[member] } };
}
