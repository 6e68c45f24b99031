import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { blocksIn, type Draft, gone, isBlank, type RepairContext } from './draft.ts';
import { isThinking } from './thinking.ts';
import { invalid } from '../../../shared/text/request-values.ts';

/**
 * The vendor accepts one member, which must not identify the user. Other hosts accept at most the same, so they get no
 * metadata if it holds more.
 */
export function trimMetadata(draft: Draft): boolean {
  const { metadata } = draft.root;
  if (!isMetadataWrong(draft.root) || !isRecord(metadata)) return false;
  if (!draft.context.model.takesUserId) {
    draft.set('metadata', gone);
    return true;
  }
  const others = Object.keys(metadata).filter((name) => name !== 'user_id');
  const removed: Record<string, unknown> = {};
  for (const name of others) removed[name] = gone;
  if (isUserIdWrong(metadata)) removed['user_id'] = gone;
  const isEmptied = Object.keys(removed).length === Object.keys(metadata).length;
  draft.set('metadata', isEmptied ? gone : draft.change(metadata, removed));
  return true;
}

export function isMetadataWrong({ metadata }: JsonRecord): boolean {
  if (!isRecord(metadata)) return false;
  for (const name in metadata) if (name !== 'user_id') return true;
  return isUserIdWrong(metadata);
}

function isUserIdWrong({ user_id: user }: JsonRecord): boolean {
  if (user === undefined || user === null) return false;
  return typeof user !== 'string' || isAddress(user);
}

/** Text on both sides of an `@` and of a later dot, without white space. Reads its input once. */
function isAddress(text: string): boolean {
  const at = text.indexOf('@', 1);
  return at > 0 && text.lastIndexOf('.', text.length - 2) > at + 1 && !/\s/.test(text);
}

export function dropBlankStops(draft: Draft): boolean {
  const { stop_sequences: stops } = draft.root;
  if (!hasBlankStop(draft.root)) return false;
  const list = stops as readonly unknown[];
  draft.set(
    'stop_sequences',
    draft.list(
      list,
      list.filter((stop) => !isBlank(stop)),
    ),
  );
  return true;
}

export function hasBlankStop({ stop_sequences: stops }: JsonRecord): boolean {
  return Array.isArray(stops) && stops.some(isBlank);
}

/** Responses with a format have no citations. @throws GatewayError if the request asks for both. */
export function checkCitations(draft: Draft): boolean {
  const { root, messages } = draft;
  const format = recordAt(root, 'output_config')['format'] ?? root['output_format'];
  if (!isRecord(format) || messages === null) return false;
  for (const [index, { content }] of messages.entries()) {
    if (typeof content === 'string') continue;
    for (const [position, block] of content.entries()) {
      const parts = block.type === 'tool_result' ? (blocksIn(block['content']) ?? []) : [];
      if (![block, ...parts].some(isCited)) continue;
      throw invalid(
        'output_config.format',
        `cannot be combined with citations (messages.${index}.content.${position})`,
      );
    }
  }
  return false;
}

function isCited(block: JsonRecord): boolean {
  const isSource = block['type'] === 'document' || block['type'] === 'search_result';
  return isSource && recordAt(block, 'citations')['enabled'] === true;
}

const withoutSampling = '2026-10-21';

/** `temperature` is never sent, see the patches. */
export function dropSampling(draft: Draft): boolean {
  const { root, context } = draft;
  const dropsTopP = refusesTopP(root, context);
  const dropsTopK = refusesTopK(root, context);
  if (dropsTopP) draft.set('top_p', gone);
  if (dropsTopK) draft.set('top_k', gone);
  return dropsTopP || dropsTopK;
}

/**
 * Models after Claude 4.6 accept `top_p` only with almost no effect. Older ones limit it while thinking, a bit less.
 */
export function refusesTopP(root: JsonRecord, { model, version }: RepairContext): boolean {
  const topP = root['top_p'];
  if (topP === undefined || topP === null) return false;
  if (version === withoutSampling) return true;
  const value = Number(topP);
  if (model.refusesSampling) return !(value >= 0.99);
  return isThinking(root) && !(value >= 0.95);
}

export function refusesTopK(root: JsonRecord, { model, version }: RepairContext): boolean {
  const topK = root['top_k'];
  if (topK === undefined || topK === null) return false;
  return version === withoutSampling || model.refusesSampling || isThinking(root);
}
