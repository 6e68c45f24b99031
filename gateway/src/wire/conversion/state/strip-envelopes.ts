import type { TextProtocolName } from '#canonical/index.ts';
import { isEnvelope, isRecord, type Protocol, type WireRequest } from '#protocols/index.ts';

/**
 * How every envelope begins, as the JSON text that it is the whole of: as it is, and in the base64 of clients that keep
 * bytes. Words that only mention one do not look like this.
 */
const envelope = /^"gw(?:1\.eyJwIjo|2\.[\w-]{40})/;
const envelopeInBase64 = /^"Z3c(?:xLmV5SndJ|yL[i-n][\w+/-]{50})/;
/** So much of them is looked for first: longer needles are sought in another way, which is slower. */
const needle = '"gw';
const needleInBase64 = '"Z3c';
/** What either expression looks at. */
const lookedAt = 64;

/** Members in which clients give state back, in any protocol. */
const carriers: ReadonlySet<string> = new Set([
  'signature',
  'data',
  'encrypted_content',
  'thoughtSignature',
  'thought_signature',
]);

/** Is there an envelope in this request? Costs a search through its bytes. */
export function carriesEnvelopes(body: Buffer, client: TextProtocolName): boolean {
  const isBytes = client === 'generate-content';
  const start = isBytes ? needleInBase64 : needle;
  const whole = isBytes ? envelopeInBase64 : envelope;
  let at = body.indexOf(start, 0, 'latin1');
  while (at !== -1) {
    if (whole.test(body.toString('latin1', at, at + lookedAt))) return true;
    at = body.indexOf(start, at + start.length, 'latin1');
  }
  return false;
}

/**
 * A checked request without what other upstreams made and we sealed, which one of the client's own protocol would
 * refuse.
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
 * A request for an upstream of the client's own protocol, whose history another one wrote in part: without what only
 * that one understands. Blocks that are nothing but reasoning go as a whole, since they are not valid unsigned.
 */
export function stripEnvelopes(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isCarrier(item)).map((item) => stripEnvelopes(item));
  }
  if (!isRecord(value)) return value;
  const kept = Object.entries(value)
    .filter(([name, member]) => !isSealed(name, member))
    .map(([name, member]) => [name, stripEnvelopes(member)] as const);
  const isSealedCall = 'functionCall' in value && kept.length < Object.keys(value).length;
  return Object.fromEntries(isSealedCall ? [...kept, skipped] : kept);
}

/** A call whose signature is demanded, and cannot be had: https://ai.google.dev/gemini-api/docs/thought-signatures. */
const skipped = ['thoughtSignature', 'skip_thought_signature_validator'] as const;

/** A block or item that is reasoning; any other one only loses the member. */
function isCarrier(item: unknown): boolean {
  if (!isRecord(item) || !Object.entries(item).some(([name, member]) => isSealed(name, member))) {
    return false;
  }
  const { type } = item;
  return typeof type === 'string' && /^(redacted_)?(thinking|reasoning)/.test(type);
}

function isSealed(name: string, member: unknown): boolean {
  if (!carriers.has(name) || typeof member !== 'string') return false;
  return (
    isEnvelope(member) || isEnvelope(Buffer.from(member.slice(0, 8), 'base64').toString('latin1'))
  );
}
