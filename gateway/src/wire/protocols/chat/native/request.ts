import {
  watchList,
  type Edit,
  insertMember,
  replaceValue,
  splice,
  elementsAt,
  membersAt,
  objectStart,
  removeMembers,
} from '#json/index.ts';
import { createOpenRequest } from '../../shared/text/parse-bodies.ts';
import {
  readOutputKinds,
  checkRange,
  readCount,
  readFlag,
  refuseValue,
  requireList,
} from '../../shared/text/request-values.ts';
import type {
  OpenedRequest,
  WireRequest,
  PatchedRequest,
  PatchTarget,
  ReasoningEcho,
} from '../../protocol.ts';
import { requestedTerms } from '../../shared/usage/terms.ts';
import {
  isWebSearch,
  addFile,
  InputTally,
  type InputExtent,
} from '../../shared/text/input-extent.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt, recordsIn } from '../../shared/values.ts';
import { readNamedState } from './state-members.ts';
import { noReasoning } from '../codec/reasoning.ts';

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

/** How `x-sluice-rewrites` names edits of the reasoning in the history. docs/vendors.md explains them. */
const rewriteOf = Object.freeze({ require: 'e1', strip: 'e2' });

/**
 * Sets the upstream's model name, requests usage on every stream, because billing needs it, and edits the reasoning of
 * earlier turns.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const edits: Edit[] = [];
  const model = request.scan.members.get('model');
  if (model !== undefined && request.model !== target.upstreamModel) {
    edits.push(replaceValue(model, target.upstreamModel));
  }
  const usage = request.stream ? askForUsage(request) : null;
  if (usage !== null) edits.push(usage);
  const echo = target.echo === undefined ? [] : echoReasoning(request, target.echo);
  const rewrites = echo.length === 0 ? [] : [rewriteOf[target.echo!.rule]];
  edits.push(...echo);
  // Most requests are sent as they came.
  const body = edits.length === 0 ? request.body : splice(request.body, edits);
  return { body, rewrites, usageInjected: usage !== null };
}

/** Null if the client itself asked for usage. */
function askForUsage({ json, scan }: WireRequest): Edit | null {
  const options = json['stream_options'];
  const usageOption = { include_usage: true };
  if (isRecord(options)) {
    if (options['include_usage'] === true) return null;
    const member = scan.members.get('stream_options.include_usage');
    if (member !== undefined) return replaceValue(member, true);
    const object = scan.objects.get('stream_options');
    return object === undefined ? null : insertMember(object, 'include_usage', true);
  }
  // Anything but an object or null is wrong. The upstream will refuse it.
  if (!isAbsent(options)) return null;
  const member = scan.members.get('stream_options');
  if (member !== undefined) return replaceValue(member, usageOption);
  const root = scan.objects.get('');
  return root === undefined ? null : insertMember(root, 'stream_options', usageOption);
}

const member = 'reasoning_content';

/**
 * The places of the model's messages that the upstream would refuse for their reasoning: they have none where it is
 * required, or some where it is refused. It is required as soon as there are tools.
 */
function refusedMessages(json: JsonRecord, rule: ReasoningEcho['rule']): readonly number[] {
  const messages = Array.isArray(json['messages']) ? (json['messages'] as unknown[]) : [];
  const isRefused =
    rule === 'strip'
      ? (message: JsonRecord) => message[member] !== undefined
      : (message: JsonRecord) => isAbsent(message[member]) || message[member] === '';
  if (rule === 'require' && !holdsTools(json)) return [];
  return messages.flatMap((message, at) => {
    const [record] = recordsIn([message]);
    return record?.['role'] === 'assistant' && isRefused(record) ? [at] : [];
  });
}

function holdsTools(json: JsonRecord): boolean {
  const { tools, messages } = json;
  if (Array.isArray(tools) && tools.length > 0) return true;
  return recordsIn(messages).some(({ tool_calls: calls }) => Array.isArray(calls));
}

/** The edits after which the upstream refuses none of the messages for its reasoning. */
function echoReasoning({ body, json, scan }: WireRequest, { rule, texts }: ReasoningEcho): Edit[] {
  const refused = refusedMessages(json, rule);
  const list = scan.members.get('messages');
  if (refused.length === 0 || list === undefined) return [];
  const elements = elementsAt(body, list.valueStart);
  return refused.flatMap((at): Edit[] => {
    const start = objectStart(body, elements[at]?.start ?? list.valueEnd);
    if (start === null) return [];
    const members = membersAt(body, start);
    if (rule === 'strip') return removeMembers(body, members, ({ key }) => key === member);
    const text = texts?.get(at) ?? noReasoning;
    const own = members.findLast(({ key }) => key === member);
    if (own !== undefined) return [replaceValue(own, text)];
    return [insertMember({ start: start + 1, empty: members.length === 0 }, member, text)];
  });
}
