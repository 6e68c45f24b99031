import type { TextProtocolName } from '#canonical/index.ts';
import {
  isEnvelope,
  isRecord,
  skipSignature,
  textFacts,
  type Protocol,
  type WireRequest,
} from '#protocols/index.ts';

/**
 * The beginning of every envelope as a whole JSON string: plain, and in the base64 of clients that keep bytes. Text
 * that merely mentions an envelope does not match.
 */
const envelope = /"gw2\.[\w-]{40}/;
const envelopeInBase64 = /"Z3cyL[i-n][\w+/-]{50}/;
/**
 * The id of a reasoning item that the gateway wrote, as a whole JSON string. Without its state, an upstream looks the
 * item up and knows nothing of it.
 */
const writtenIdAsJson = /"rs_[\w-]{24}_\d{1,6}"/;
const writtenId = /^rs_[\w-]{24}_\d{1,6}$/;
/** Each with a needle, which is searched first; a longer one uses a slower search. */
type Mark = readonly [needle: string, mark: RegExp];
const envelopeMark: Mark = ['"gw', envelope];
const marksInText: readonly Mark[] = [envelopeMark];
const marksWithIds: readonly Mark[] = [envelopeMark, ['"rs_', writtenIdAsJson]];
const marksInBytes: readonly Mark[] = [['"Z3c', envelopeInBase64]];
/** More characters than the expressions match. */
const overlap = 64;
/** In characters. A search from each needle on would let a body of needles hold up the thread. */
const searchedAtOnce = 65_536;

/** Members in which clients return state, in any protocol. */
const carriers: ReadonlySet<string> = new Set([
  'signature',
  'data',
  'encrypted_content',
  'thoughtSignature',
  'thought_signature',
]);

/** Whether the request contains what `stripEnvelopes` removes. Costs a search through its bytes. */
export function carriesEnvelopes(body: Buffer, client: TextProtocolName): boolean {
  const { isBytes, isLookedUp } = textFacts[client].state;
  const marks = isBytes ? marksInBytes : isLookedUp ? marksWithIds : marksInText;
  for (const [needle, mark] of marks) {
    let at = body.indexOf(needle, 0, 'latin1');
    while (at !== -1) {
      if (mark.test(body.toString('latin1', at, at + searchedAtOnce))) return true;
      at = body.indexOf(needle, at + searchedAtOnce - overlap, 'latin1');
    }
  }
  return false;
}

/**
 * Removes envelopes of other upstreams from a checked request: an upstream of the client's own protocol would refuse
 * them.
 * @throws GatewayError as reading a request does.
 */
export function withoutEnvelopes(
  protocol: Pick<Protocol, 'openRequest' | 'readRequest'>,
  { json, path }: WireRequest,
): WireRequest {
  const body = Buffer.from(JSON.stringify(stripEnvelopes(json)));
  return protocol.readRequest(protocol.openRequest(body, path));
}

/**
 * Removes from a request for an upstream of the client's own protocol what only another upstream understands, if that
 * one wrote part of the history. Blocks that contain only reasoning are removed entirely, because they are invalid
 * without a signature.
 */
export function stripEnvelopes(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isCarrier(item)).map((item) => stripEnvelopes(item));
  }
  if (!isRecord(value)) return value;
  const keptMembers = Object.entries(value)
    .filter(([name, member]) => !isSealed(name, member) && !isSealedExtra(name, member))
    .map(([name, member]) => [name, stripEnvelopes(member)] as const);
  const isSealedCall = 'functionCall' in value && keptMembers.length < Object.keys(value).length;
  return Object.fromEntries(isSealedCall ? [...keptMembers, skippedSignature] : keptMembers);
}

const skippedSignature = ['thoughtSignature', skipSignature] as const;

/** Whether the block or item is reasoning; any other one only loses the member. */
function isCarrier(item: unknown): boolean {
  if (!isRecord(item)) return false;
  const { type } = item;
  if (type === 'reasoning' && isWritten(item)) return true;
  if (!Object.entries(item).some(([name, member]) => isSealed(name, member))) return false;
  return typeof type === 'string' && /^(redacted_)?(thinking|reasoning)/.test(type);
}

function isSealed(name: string, member: unknown): boolean {
  if (!carriers.has(name) || typeof member !== 'string') return false;
  return (
    isEnvelope(member) || isEnvelope(Buffer.from(member.slice(0, 8), 'base64').toString('latin1'))
  );
}

/** A chat call's signature is all that is in there. */
function isSealedExtra(name: string, member: unknown): boolean {
  if (name !== 'extra_content' || !isRecord(member)) return false;
  const { google } = member;
  return isRecord(google) && isSealed('thought_signature', google['thought_signature']);
}

/** The gateway wrote it for another upstream, and its state, if there was any, did not go to the client. */
function isWritten({ id, encrypted_content: state }: Readonly<Record<string, unknown>>): boolean {
  return typeof id === 'string' && writtenId.test(id) && (state ?? '') === '';
}
