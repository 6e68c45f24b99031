import {
  elementsAt,
  insertMember,
  parseWithLongTexts,
  replaceValue,
  scanJson,
  splice,
  watchList,
  type Edit,
  type JsonScan,
  type MemberRange,
} from '#json/index.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import { refuseValue } from '../../shared/text/request-values.ts';
import { isAbsent } from '../../shared/values.ts';
import type { NamedState } from '../../shared/state/named-state.ts';
import { readNamedState } from '../native/state-members.ts';
import { resourceName } from '../fields.ts';

const path = 'generationConfig.responseModalities';
const countPath = 'generationConfig.candidateCount';
const watched = watchList([path, countPath, 'serviceTier', 'model', 'tools'], {
  snakeCaseToo: true,
});

/** Longer entries name no modality. */
const longestEntry = 64;

/** In bytes. The name of a model is shorter. */
const longestName = 1024;

/** A request that stays in this protocol. */
export interface OwnImageRequest {
  /** They make images part of the response. */
  readonly edits: readonly Edit[];
  /** Where the body names a model, and the beginning of what it writes there; null: it names none. */
  readonly model: { readonly at: MemberRange; readonly written: string } | null;
  /** What it asks for that may cost more, as prices name it. */
  readonly terms: readonly string[];
  /** How many responses it asks for, whatever the upstream makes of it. */
  readonly candidates: number;
  /** What it names that upstreams store. */
  readonly namedStates: readonly NamedState[] | undefined;
  /** It has a tool with which the provider searches. */
  readonly searches: boolean;
}

/**
 * The request for an upstream of this protocol.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `invalid_value`.
 */
export function ownImageRequest(received: Buffer): OwnImageRequest {
  const scan = scanJson(received, watched);
  const { members } = scan;
  const model = members.get('model');
  const tier = members.get('serviceTier');
  const value: unknown =
    tier === undefined
      ? null
      : JSON.parse(received.toString('utf8', tier.valueStart, tier.valueEnd));
  if (!isAbsent(value) && typeof value !== 'string') refuseValue('serviceTier', 'must be a string');
  return {
    edits: modalityEdits(received, scan),
    model: model === undefined ? null : { at: model, written: startOf(received, model) },
    terms: requestedTerms({ service_tier: value }, 'service_tier'),
    candidates: countOf(received, members.get(countPath)),
    namedStates: readNamedState(parseWithLongTexts(received), received),
    searches: maySearch(received, members.get('tools')),
  };
}

/** Upstreams read `"3"` as they read `3`. */
function countOf(body: Buffer, count: MemberRange | undefined): number {
  if (count === undefined || count.valueEnd - count.valueStart > longestEntry) return 1;
  const value = Number(JSON.parse(startOf(body, count)));
  return Number.isInteger(value) && value > 0 ? value : 1;
}

/** As the body writes it. */
function startOf(body: Buffer, { valueStart: start, valueEnd: end }: MemberRange): string {
  return body.toString('utf8', start, Math.min(end, start + longestName));
}

/** Longer lists of tools are not read: the hold may be too high. */
const longestTools = 64 * 1024;

function maySearch(body: Buffer, tools: MemberRange | undefined): boolean {
  if (tools === undefined) return false;
  const { valueStart: start, valueEnd: end } = tools;
  if (end - start > longestTools) return true;
  // An escape may write the same name.
  return /"google_?search|\\u/i.test(body.toString('latin1', start, end));
}

/** The body for one upstream. The model is in the path; a body that names one too must not name another. */
export function ownImageBody(
  body: Buffer,
  { edits, model }: Pick<OwnImageRequest, 'edits' | 'model'>,
  upstreamModel: string,
): Buffer {
  const name = resourceName(upstreamModel);
  const isSame =
    model === null || [name, upstreamModel].some((same) => JSON.stringify(same) === model.written);
  return splice(body, isSame ? edits : [...edits, replaceValue(model.at, name)]);
}

/**
 * The body of a request to an image model, with images among what the response may have. Where the client declares
 * them, in any case, the same buffer; otherwise the other bytes stay as they are.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`.
 */
export function withImageModality(body: Buffer): Buffer {
  return splice(body, modalityEdits(body, scanJson(body, watched)));
}

function modalityEdits(body: Buffer, { members, objects }: JsonScan): readonly Edit[] {
  const list = members.get(path);
  const config = members.get('generationConfig');
  const inConfig = objects.get('generationConfig');
  const root = objects.get('');
  if (list !== undefined) return editsOfList(body, list);
  if (inConfig !== undefined) return [insertMember(inConfig, 'responseModalities', ['Image'])];
  if (config !== undefined) {
    // What is neither an object nor null is the upstream's to refuse.
    return isNull(body, config) ? [replaceValue(config, { responseModalities: ['Image'] })] : [];
  }
  if (root === undefined) return [];
  return [insertMember(root, 'generationConfig', { responseModalities: ['Image'] })];
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
