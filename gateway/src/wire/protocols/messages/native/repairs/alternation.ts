import { GatewayError } from '#errors/index.ts';
import { type Block, type Draft, type Message, textBlock } from './draft.ts';

/** @throws GatewayError if the conversation is empty. */
export function beginWithUser(draft: Draft): boolean {
  const { messages, root } = draft;
  if (Array.isArray(root['messages']) && root['messages'].length === 0) {
    const values = { reason: 'messages must contain at least one message' };
    throw new GatewayError('invalid_value', { values, param: 'messages' });
  }
  if (messages?.[0]?.role !== 'assistant') return false;
  draft.messages = [{ role: 'user', content: '(conversation continues)' }, ...messages];
  return true;
}

/** The vendor joins adjacent messages of one speaker. Other upstreams require alternating speakers. */
export function takeTurns(draft: Draft): boolean {
  const { messages, context } = draft;
  if (messages === null || context.model.joinsTurns) return false;
  const runs: { readonly first: Message; readonly others: Message[] }[] = [];
  for (const message of messages) {
    const last = runs.at(-1);
    if (last?.first.role !== message.role || message.role === 'system') {
      runs.push({ first: message, others: [] });
    } else last.others.push(message);
  }
  if (runs.length === messages.length) return false;
  draft.messages = runs.map(({ first, others }) =>
    others.length === 0 ? first : draft.withBlocks(first, [first, ...others].flatMap(blocksOf)),
  );
  return true;
}

function blocksOf({ content }: Message): readonly Block[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [textBlock(content)];
}
