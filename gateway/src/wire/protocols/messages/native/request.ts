import {
  watchList,
  type Edit,
  insertMember,
  removeMember,
  replaceValue,
  splice,
} from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  readFlag,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, WireRequest, PatchedRequest, PatchTarget } from '../../protocol.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import { isWebSearch, InputTally, type InputExtent } from '../../shared/text/input-extent.ts';
import { type JsonRecord, isRecord, recordAt, recordsIn, textOf } from '../../shared/values.ts';
import { readNamedState } from './state-members.ts';
import {
  readNumeral,
  readYesNo,
  factsOf,
  isSuspect,
  repair,
  type RepairContext,
} from './repairs/index.ts';

export const openRequest = createOpenRequest(
  watchList([
    'model',
    'messages',
    'stream',
    'max_tokens',
    'temperature',
    'container',
    'service_tier',
    'speed',
    'inference_geo',
    'tools',
    'mcp_servers',
    'models',
    'fallbacks',
    'anthropic_beta',
  ]),
);

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(openedRequest: OpenedRequest): WireRequest {
  const { json } = openedRequest;
  requireOneOf([json['messages']], 'messages');
  const extent = inputExtent(json);
  return {
    ...openedRequest,
    terms: requestedTerms(json, 'service_tier', 'speed', 'inference_geo'),
    ...(json['anthropic_beta'] !== undefined && { betas: betasOf(json['anthropic_beta']) }),
    ...(extent.hostedTools && searches(json)),
    stream: readFlag(readYesNo(json['stream']), 'stream'),
    maxOutputTokens: readCount(readNumeral(json['max_tokens']), 'max_tokens', 0),
    choices: 1,
    namedStates: readNamedState(json, openedRequest.body),
    // A later request of the thread names the message.
    isKept: isRecord(json['thread']),
    extent,
    outputKinds: readOutputKinds(undefined, false),
  };
}

/** Some hosts expect the betas in the body, as a list. */
function betasOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
}

/** Null if any search tool has no limit. The upstream will refuse a limit that is not a count. */
function searches(json: JsonRecord): Pick<WireRequest, 'webSearches'> {
  let most: number | null | undefined;
  for (const tool of recordsIn(json['tools'])) {
    if (!isWebSearch(tool)) continue;
    const { max_uses: uses } = tool;
    most = typeof uses === 'number' && most !== null ? (most ?? 0) + uses : null;
  }
  return most === undefined ? {} : { webSearches: most };
}

/** Prefixes in the types of tools that the client runs. The provider runs the others. */
const clients = /^(custom$|bash_|text_editor_|computer_|memory_)/;

/** What the bytes of a Messages request do not reveal about its input. */
function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  addContent(tally, json['system']);
  for (const { content } of recordsIn(json['messages'])) addContent(tally, content);
  const isHosted = ({ type }: JsonRecord): boolean =>
    typeof type === 'string' && !clients.test(type);
  tally.hostedTools =
    recordsIn(json['tools']).some(isHosted) || recordsIn(json['mcp_servers']).length > 0;
  if (compacts(json)) tally.compacts = true;
  return tally;
}

/** `compact_20260112` and its successors, or the member of `compact-2026-09-04`. */
function compacts(json: JsonRecord): boolean {
  if (isRecord(json['compaction'])) return true;
  const { edits } = recordAt(json, 'context_management');
  return recordsIn(edits).some(
    ({ type }) => typeof type === 'string' && type.startsWith('compact_'),
  );
}

/** A text, a list of blocks, or the single object in a tool result. */
function addContent(tally: InputTally, content: unknown): void {
  for (const block of isRecord(content) ? [content] : recordsIn(content)) {
    const { type, source, content: inner } = block;
    if (isRecord(source)) addSource(tally, source, type === 'image');
    else if (type === 'container_upload') tally.file(null);
    if (typeof inner === 'object') addContent(tally, inner);
  }
}

function addSource(tally: InputTally, source: JsonRecord, isImage: boolean): void {
  const { type, media_type: mime, data, url, content } = source;
  if (type === 'content') addContent(tally, content);
  // A repair corrects the wrong media type of an image, and replaces a data URL by its data.
  else if (type === 'base64' && isImage && !isForeign(mime)) tally.image(data);
  else if (type === 'base64') tally.data(mime, data);
  else if (type !== 'text') tally.url(url, isImage);
}

/** A media type that cannot be an image's. */
function isForeign(mime: unknown): boolean {
  return typeof mime === 'string' && /^(application|audio|video)\//i.test(mime.trim());
}

/** The value of `max_tokens`, which this protocol requires, if the catalogue does not know the model's limit. */
const defaultMaxTokens = 8192;

/**
 * Sets the upstream's model name and applies the declared rewrites (docs/repairs.md): `b1` drops temperature, which
 * current models refuse; `b2` fills in max_tokens or cuts it to the model's limit; the repairs follow. A request without
 * faults is spliced by the earlier scan. Only one with faults is taken apart.
 * @throws GatewayError `invalid_value` for a fault that cannot be repaired without guessing.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const { body, json } = request;
  const context = contextOf(request, target);
  const changes: Record<string, unknown> = {};
  const rewrites: string[] = [];
  if (request.model !== target.upstreamModel) changes['model'] = target.upstreamModel;
  if (json['temperature'] !== undefined) {
    changes['temperature'] = undefined;
    rewrites.push('b1');
  }
  const maxTokens = context.isCount ? request.maxOutputTokens : boundOutput(request, target);
  if (maxTokens !== request.maxOutputTokens) {
    changes['max_tokens'] = maxTokens;
    rewrites.push('b2');
  }
  if (!isSuspect(json, maxTokens ?? undefined, context)) {
    return { body: splice(body, memberEdits(request, changes)), rewrites, usageInjected: false };
  }
  const { edits, ids, toolNames } = repair(body, json, changes, context);
  const all = [...new Set([...rewrites, ...ids])].toSorted((a, b) => numberOf(a) - numberOf(b));
  const patched = { body: splice(body, edits), rewrites: all, usageInjected: false };
  return toolNames.size === 0 ? patched : { ...patched, toolNames };
}

const numberOf = (id: string): number => Number(id.slice(1));

function boundOutput(
  { maxOutputTokens }: WireRequest,
  { maxOutputTokens: limit }: PatchTarget,
): number {
  const requestedTokens = maxOutputTokens ?? limit ?? defaultMaxTokens;
  return limit === null ? requestedTokens : Math.min(requestedTokens, limit);
}

function contextOf(
  { path, budget }: WireRequest,
  { upstreamModel, headers }: PatchTarget,
): RepairContext {
  return {
    model: factsOf(upstreamModel),
    version: textOf(headers?.['anthropic-version']),
    betas: textOf(headers?.['anthropic-beta']),
    isCount: path.operation === 'count-tokens',
    budget: { ...budget },
  };
}

function memberEdits({ scan, body }: WireRequest, changes: JsonRecord): Edit[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    const member = scan.members.get(name);
    if (member === undefined) {
      const root = scan.objects.get('');
      return root === undefined ? [] : [insertMember(root, name, value)];
    }
    return [value === undefined ? removeMember(body, member) : replaceValue(member, value)];
  });
}
