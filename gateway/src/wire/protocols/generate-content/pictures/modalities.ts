import {
  elementsAt,
  insertMember,
  replaceValue,
  scanJson,
  splice,
  watchList,
  type Edit,
  type MemberRange,
} from '#json/index.ts';
import { askedTerms } from '../../asked-terms.ts';
import { refuseValue } from '../../request-values.ts';
import { isAbsent } from '../../values.ts';
import { resourceName } from '../resource-name.ts';

const path = 'generationConfig.responseModalities';
const countPath = 'generationConfig.candidateCount';
const watched = watchList([path, countPath, 'serviceTier', 'model', 'tools'], {
  snakeCaseToo: true,
});

/** Longer entries name no modality. */
const longestEntry = 64;

/** A request that stays in this protocol. */
export interface OwnPictureRequest {
  readonly body: Buffer;
  /** What it asks for that may cost more, as prices name it. */
  readonly terms: readonly string[];
  /** How many responses it asks for, whatever the upstream makes of it. */
  readonly candidates: number;
  /** It has a tool with which the provider searches. */
  readonly searches: boolean;
}

/**
 * The request for an upstream of this protocol.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `invalid_value`.
 */
export function ownPictureRequest(received: Buffer): OwnPictureRequest {
  const { members } = scanJson(received, watched);
  const tier = members.get('serviceTier');
  const value: unknown =
    tier === undefined
      ? null
      : JSON.parse(received.toString('utf8', tier.valueStart, tier.valueEnd));
  if (!isAbsent(value) && typeof value !== 'string') refuseValue('serviceTier', 'must be a string');
  return {
    body: withImageModality(received),
    terms: askedTerms({ service_tier: value }, 'service_tier'),
    candidates: countOf(received, members.get(countPath)),
    searches: maySearch(received, members.get('tools')),
  };
}

function countOf(body: Buffer, count: MemberRange | undefined): number {
  if (count === undefined) return 1;
  const { valueStart: start, valueEnd: end } = count;
  const value = Number(body.toString('latin1', start, Math.min(end, start + longestEntry)));
  return Number.isInteger(value) && value > 0 ? value : 1;
}

/** Longer lists of tools are not read: the hold may be too high. */
const longestTools = 64 * 1024;

function maySearch(body: Buffer, tools: MemberRange | undefined): boolean {
  if (tools === undefined) return false;
  const { valueStart: start, valueEnd: end } = tools;
  return end - start > longestTools || /"google_?search/i.test(body.toString('latin1', start, end));
}

/** The body for one upstream. The model is in the path; a body that names one too must not name another. */
export function ownPictureBody(body: Buffer, upstreamModel: string): Buffer {
  const member = scanJson(body, watched).members.get('model');
  if (member === undefined) return body;
  const name = resourceName(upstreamModel);
  const written = body.toString('utf8', member.valueStart, member.valueEnd);
  if ([name, upstreamModel].some((same) => JSON.stringify(same) === written)) return body;
  return splice(body, [replaceValue(member, name)]);
}

/**
 * The body of a request to an image model, with pictures among what the response may have. Where the client declares
 * them, in any case, the same buffer; otherwise the other bytes stay as they are.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`.
 */
export function withImageModality(body: Buffer): Buffer {
  const { members, objects } = scanJson(body, watched);
  const list = members.get(path);
  const config = members.get('generationConfig');
  const inConfig = objects.get('generationConfig');
  const root = objects.get('');
  const edits: Edit[] = [];
  if (list !== undefined) edits.push(...editsOfList(body, list));
  else if (inConfig !== undefined) {
    edits.push(insertMember(inConfig, 'responseModalities', ['Image']));
  } else if (config !== undefined) {
    // What is neither an object nor null is the upstream's to refuse.
    if (isNull(body, config)) edits.push(replaceValue(config, { responseModalities: ['Image'] }));
  } else if (root !== undefined) {
    edits.push(insertMember(root, 'generationConfig', { responseModalities: ['Image'] }));
  }
  return splice(body, edits);
}

function editsOfList(body: Buffer, list: MemberRange): Edit[] {
  if (isNull(body, list)) return [replaceValue(list, ['Image'])];
  if (body[list.valueStart] !== openBracket) return [];
  const entries = elementsAt(body, list.valueStart).map(({ start, end }) =>
    body.toString('latin1', start, Math.min(end, start + longestEntry)),
  );
  if (entries.length === 0) return [replaceValue(list, ['Image'])];
  if (entries.some((entry) => /^("image"|2)$/i.test(entry))) return [];
  const end = list.valueEnd - 1;
  return [{ start: end, end, bytes: Buffer.from(`,${inCaseOf(entries)}`) }];
}

const openBracket = 0x5b;

function inCaseOf(entries: readonly string[]): string {
  const all = entries.join('');
  if (all === all.toUpperCase()) return '"IMAGE"';
  return all === all.toLowerCase() ? '"image"' : '"Image"';
}

function isNull(body: Buffer, { valueStart, valueEnd }: MemberRange): boolean {
  return body.toString('latin1', valueStart, valueEnd) === 'null';
}
