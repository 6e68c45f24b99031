import { namedStateReader, type StateName } from '../../shared/state/named-state.ts';
import { isRecord, recordAt, type JsonRecord, recordsIn } from '../../shared/values.ts';

/** The members of a request that name something stored upstream. */
export const readNamedState = namedStateReader({
  root: { container: { kind: 'container' } },
  anywhere: {
    file_id: { kind: 'file' },
    // Of a thread that is continued: the upstream has the conversation before it.
    previous_message_id: { kind: 'response' },
    // Ids of the vendor's own skills lack this prefix.
    skill_id: { kind: 'skill', idOf: (text) => (text.startsWith('skill_') ? text : null) },
  },
  // `input` belongs to a call; `citations` are sources of an earlier response.
  opaque: ['input', 'input_schema', 'schema', 'metadata', 'citations'],
});

/** The message, which a thread continues, the container in which it ran, and the files that it made there. */
export function readGivenState(response: JsonRecord): readonly StateName[] | undefined {
  const storedNames: StateName[] = [];
  if (typeof response['id'] === 'string')
    storedNames.push({ kind: 'response', id: response['id'] });
  const { id } = recordAt(response, 'container');
  if (typeof id === 'string') storedNames.push({ kind: 'container', id });
  for (const block of recordsIn(response['content'])) storedNames.push(...filesOf(block));
  return storedNames.length === 0 ? undefined : storedNames;
}

/** The files in the result of a hosted tool: `{type: …_tool_result, content: {content: [{file_id}]}}`. */
export function filesOf(block: JsonRecord): StateName[] {
  return [...recordsIn(recordAt(block, 'content')['content'])].flatMap(({ file_id: id }) =>
    typeof id === 'string' ? [{ kind: 'file', id } as const] : [],
  );
}

/** `Protocol.leaveOutState`. */
export function leaveOutState({ messages }: JsonRecord, take: () => boolean): JsonRecord {
  return Array.isArray(messages) ? { messages: messages.flatMap((each) => turn(each, take)) } : {};
}

/** Nothing for a message that consisted of thinking: it must not be empty. */
function turn(message: unknown, take: () => boolean): unknown[] {
  if (!isRecord(message) || !Array.isArray(message['content'])) return [message];
  const blocks = message['content'] as readonly unknown[];
  const keptBlocks = blocks.filter((block) => {
    const isThinking =
      isRecord(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking');
    return !isThinking || !take();
  });
  if (keptBlocks.length === blocks.length) return [message];
  return keptBlocks.length === 0 ? [] : [{ ...message, content: keptBlocks }];
}
