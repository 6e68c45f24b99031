import { type Block, type Draft, type Message, textBlock } from './draft.ts';
import { isCall } from './tool-values.ts';

/** A message whose blocks may be moved. */
export interface Part {
  readonly message: Message;
  blocks: Block[];
}

/** Adjacent messages of one role. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: Part[];
}

export interface Conversation {
  readonly turns: readonly Turn[];
  /** Adds a user's message at the end. */
  addUserPart(): Part;
  /** Writes the messages back, without those that became empty. @returns whether any differs */
  finish(): boolean;
}

/** Groups messages into turns. Instructions between turns belong to none. */
export function openConversation(draft: Draft): Conversation | null {
  const { messages } = draft;
  if (messages === null) return null;
  const turns: Turn[] = [];
  const parts: Part[] = [];
  for (const message of messages) {
    const { role } = message;
    const part = { message, blocks: [...blocksOf(message)] };
    parts.push(part);
    if (role !== 'user' && role !== 'assistant') continue;
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(part);
    else turns.push({ role, parts: [part] });
  }
  const before = parts.map(({ blocks }) => [...blocks]);
  return {
    turns,
    addUserPart() {
      const part: Part = { message: { role: 'user', content: [] }, blocks: [] };
      parts.push(part);
      return part;
    },
    finish() {
      const next = parts.flatMap((part, index) => {
        if (isSame(part.blocks, before[index] ?? [])) return [part.message];
        return part.blocks.length === 0 ? [] : [draft.withBlocks(part.message, part.blocks)];
      });
      if (isSame(next, messages)) return false;
      draft.messages = next;
      return true;
    },
  };
}

function isSame(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((value, index) => value === others[index]);
}

/** A text is one block, or none if it is empty. */
export function blocksOf({ content }: Message): readonly Block[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [textBlock(content)];
}

export function blocksOfTurn(turn: Turn | undefined): Block[] {
  return turn?.parts.flatMap(({ blocks }) => blocks) ?? [];
}

/** The ids of its calls. */
export function callIds(turn: Turn | undefined): string[] {
  return blocksOfTurn(turn)
    .filter(isCall)
    .map(({ id }) => id);
}

/** The number of leading tool results. */
export function leadingResults(blocks: readonly Block[]): number {
  const end = blocks.findIndex(({ type }) => type !== 'tool_result');
  return end < 0 ? blocks.length : end;
}
