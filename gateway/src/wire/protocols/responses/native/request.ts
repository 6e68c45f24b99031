import { watchList, replaceValue, splice } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  readCount,
  readFlag,
  refuseValue,
  requireOneOf,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, WireRequest, PatchedRequest, PatchTarget } from '../../protocol.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import {
  isWebSearch,
  addFile,
  InputTally,
  type InputExtent,
} from '../../shared/text/input-extent.ts';
import { isRecord, type JsonRecord, isAbsent, recordsIn } from '../../shared/values.ts';
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
export function readRequest(openedRequest: OpenedRequest): WireRequest {
  const { json, path } = openedRequest;
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
    ...openedRequest,
    terms: requestedTerms(json, 'service_tier'),
    ...(extent.hostedTools && allowsSearches(json) && { webSearches: limitOf(json) }),
    stream,
    maxOutputTokens: readCount(json['max_output_tokens'], 'max_output_tokens', 0),
    choices: 1,
    continuesAfterDisconnect,
    namedStates: readNamedState(json, openedRequest.body),
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

/** Sets the upstream's model name, and changes nothing else. */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const model = request.scan.members.get('model');
  const edits =
    model === undefined || request.model === target.upstreamModel
      ? []
      : [replaceValue(model, target.upstreamModel)];
  return { body: splice(request.body, edits), rewrites: [], usageInjected: false };
}

/** Members that name input stored upstream. */
const storedMembers = ['previous_response_id', 'conversation', 'prompt'] as const;

/** Parts that consist of text. */
const textual: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'summary_text',
  'reasoning_text',
]);

/** Tools that the client runs. Their results come with the next request. */
const clients: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
]);

/** What the bytes of a Responses request do not reveal about its input. */
function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  for (const name of storedMembers) if (!isAbsent(json[name])) tally.file(null);
  for (const item of recordsIn(json['input'])) addItem(tally, item);
  tally.hostedTools = !recordsIn(json['tools']).every(({ type }) => clients.has(type));
  return tally;
}

function addItem(tally: InputTally, { type, content, output, result }: JsonRecord): void {
  if (type === 'item_reference') tally.unseen = true;
  // An image that the upstream made: its bytes, or its id alone.
  if (type === 'image_generation_call') tally.image(result);
  for (const part of recordsIn(content)) addPart(tally, part);
  if (isRecord(output)) addPart(tally, output);
  // Traces of hosted tools have other lists, which are text.
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    for (const part of recordsIn(output)) addPart(tally, part);
  }
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const { type, image_url: image, file_data: data } = part;
  if (type === 'input_image' || type === 'computer_screenshot') tally.url(image, true);
  else if (type === 'input_file') addFile(tally, data);
  else if (!textual.has(type)) tally.unseen = true;
}
