import { watchList } from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  checkRange,
  readCount,
  readFlag,
  refuseValue,
  requireList,
} from '../../shared/text/request-values.ts';
import type { OpenedRequest, WireRequest } from '../../protocol.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import {
  isWebSearch,
  recordsIn,
  addFile,
  InputTally,
  type InputExtent,
} from '../../shared/text/input-extent.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../shared/values.ts';
import { readNamedState } from './state-members.ts';

export const openRequest = createOpenRequest(
  watchList([
    'model',
    'messages',
    'stream',
    'stream_options.include_usage',
    'temperature',
    'n',
    'service_tier',
    'tools',
    'web_search_options',
    'models',
    'fallbacks',
    'max_tokens',
    'max_completion_tokens',
    'modalities',
  ]),
);

/** @throws GatewayError as `Protocol.readRequest` says. */
export function readRequest(openedRequest: OpenedRequest): WireRequest {
  const { json } = openedRequest;
  if (isAbsent(json['messages']) && json['input'] !== undefined) {
    refuseValue('input', 'belongs to /v1/responses, please send the request there');
  }
  requireList(json['messages'], 'messages');
  checkRange(json['temperature'], 'temperature', 0, 2);
  // If both are sent, upstreams disagree on which one counts. The larger one bounds the cost.
  const newer = readCount(json['max_completion_tokens'], 'max_completion_tokens', 0);
  const older = readCount(json['max_tokens'], 'max_tokens', 0);
  const extent = inputExtent(json);
  return {
    ...openedRequest,
    terms: requestedTerms(json, 'service_tier'),
    ...(extent.hostedTools && allowsSearches(json) && { webSearches: null }),
    stream: readFlag(json['stream'], 'stream'),
    maxOutputTokens: newer === null ? older : Math.max(newer, older ?? 0),
    choices: readCount(json['n'], 'n', 1) ?? 1,
    namedStates: readNamedState(json, openedRequest.body),
    extent,
    outputKinds: readOutputKinds(json['modalities'], isRecord(json['audio'])),
  };
}

function allowsSearches(json: JsonRecord): boolean {
  if (isRecord(json['web_search_options'])) return true;
  return recordsIn(json['tools']).some(isWebSearch);
}

/** Parts that consist of text. */
const textual: ReadonlySet<unknown> = new Set([
  'text',
  'refusal',
  'thinking',
  'reasoning',
  'input_text',
  'output_text',
]);

/** What the bytes of a chat request do not reveal about its input. */
function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  for (const { content, audio } of recordsIn(json['messages'])) {
    for (const part of recordsIn(content)) addPart(tally, part);
    // An earlier spoken response is named by its id.
    if (isRecord(audio)) tally.file(null);
  }
  const isClients = ({ type }: JsonRecord): boolean =>
    isAbsent(type) || type === 'function' || type === 'custom';
  tally.hostedTools =
    isRecord(json['web_search_options']) || !recordsIn(json['tools']).every(isClients);
  return tally;
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const { type } = part;
  if (type === 'image_url') tally.url(urlOf(part[type]), true);
  else if (type === 'video_url') tally.url(urlOf(part[type]), false);
  else if (type === 'file') addFile(tally, recordAt(part, type)['file_data']);
  else if (type === 'input_audio') tally.file(recordAt(part, type)['data'], true);
  else if (!textual.has(type)) tally.unseen = true;
}

/** Some clients write the URL alone. */
function urlOf(value: unknown): unknown {
  return isRecord(value) ? value['url'] : value;
}
