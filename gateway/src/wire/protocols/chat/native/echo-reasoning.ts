import {
  type Edit,
  elementsAt,
  insertMember,
  membersAt,
  objectStart,
  removeMembers,
  replaceValue,
} from '#json/index.ts';
import { noReasoning } from '../codec/reasoning.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';
import type { ReasoningEcho, WireRequest } from '../../protocol.ts';
import { isAbsent, type JsonRecord } from '../../shared/values.ts';

const member = 'reasoning_content';

/**
 * The places of the model's messages that the upstream would refuse for their reasoning: they have none where it is
 * required, or some where it is refused. It is required as soon as there are tools.
 */
export function refusedMessages(json: JsonRecord, rule: ReasoningEcho['rule']): readonly number[] {
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
export function echoReasoning(
  { body, json, scan }: WireRequest,
  { rule, texts }: ReasoningEcho,
): Edit[] {
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
