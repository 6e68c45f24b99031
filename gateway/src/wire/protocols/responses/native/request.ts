import { watchList } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  readFlag,
  refuseValue,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, WireRequest } from '../../protocol.ts';
import { askedTerms, routerTerms } from '../../shared/usage/terms.ts';
import { isWebSearch, recordsIn } from '../../shared/text/input-extent.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { inputExtent } from './input-extent.ts';
import { isKept, readNamedState } from './state-members.ts';

export const openRequest = createOpenRequest(
  watchList([
    'model',
    'input',
    'prompt',
    'stream',
    'max_output_tokens',
    'previous_response_id',
    'conversation',
    'background',
    'service_tier',
    'tools',
    'max_tool_calls',
    'models',
    'fallbacks',
  ]),
);

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(opened: OpenedRequest): WireRequest {
  const { json, path } = opened;
  const isCompaction = path.operation === 'compact';
  // A stored prompt has input of its own. A compaction can be of what an earlier response ended.
  const source = isCompaction ? 'previous_response_id' : 'prompt';
  requireOneOf([json['input'], json[source]], 'input');
  const stream = readFlag(json['stream'], 'stream');
  if (stream && isCompaction) refuseValue('stream', 'is not supported here');
  const continuesAfterDisconnect = readFlag(json['background'], 'background');
  // The response would only be a promise: its end and its cost would never pass through the gateway.
  if (continuesAfterDisconnect && !stream)
    refuseValue('background', 'is supported with stream only');
  const extent = inputExtent(json);
  return {
    ...opened,
    terms: [...askedTerms(json, 'service_tier'), ...routerTerms(json)],
    ...(extent.hostedTools && allowsSearches(json) && { webSearches: limitOf(json) }),
    stream,
    maxOutputTokens: readCount(json['max_output_tokens'], 'max_output_tokens', 0),
    choices: 1,
    continuesAfterDisconnect,
    named: readNamedState(json, opened.body),
    // What a compaction returns is sent along whole: nothing is stored.
    isKept: !isCompaction && isKept(json),
    extent,
    outputKinds: readOutputKinds(json['modalities'], isRecord(json['audio'])),
  };
}

function allowsSearches(json: JsonRecord): boolean {
  return recordsIn(json['tools']).some(isWebSearch);
}

/** The limit of all hosted tools together. The upstream will refuse a value that is not a count. */
function limitOf(json: JsonRecord): number | null {
  const most = json['max_tool_calls'];
  return typeof most === 'number' ? most : null;
}
