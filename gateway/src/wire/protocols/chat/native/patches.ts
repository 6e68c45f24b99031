import {
  type Edit,
  insertMember,
  replaceValue,
  splice,
  elementsAt,
  membersAt,
  objectStart,
  removeMembers,
} from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest, ReasoningEcho } from '../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';
import { noReasoning } from '../codec/reasoning.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';

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
  return {
    body: splice(request.body, [...edits, ...echo]),
    rewrites,
    usageInjected: usage !== null,
  };
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
