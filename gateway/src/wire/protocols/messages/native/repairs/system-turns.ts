import { type Block, blocksIn, type Draft, isPlain, type Message, textBlock } from './draft.ts';
import { blocksOf } from './turns.ts';

/**
 * Places instructions between the turns. Some models accept them as text alone, after the user and before the model or
 * the end. At the beginning they become the system prompt; elsewhere they become the user's words. `developer` is
 * another vendor's word for the same role.
 */
export function placeSystemTurns(draft: Draft): boolean {
  const { messages, context } = draft;
  const takes = context.model.takesSystemTurns;
  if (messages === null) return false;
  const next: Message[] = [];
  const leading: Block[] = [];
  /** Notes a message with instructions. */
  const joined = new Map<Message, Block[]>();
  const speakers = followingSpeakers(messages);
  let isChanged = false;
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    const isInstruction = role === 'developer' || (role === 'system' && takes !== null);
    if (!isInstruction || holdsDirective(message)) {
      next.push(message);
      continue;
    }
    const blocks = blocksOf(message);
    const previous = next.at(-1);
    if (role === 'system' && takes === true && isPlaced(message, previous, speakers[index])) {
      next.push(message);
      continue;
    }
    isChanged = true;
    if (previous === undefined && blocks.every(({ type }) => type === 'text')) {
      for (const block of blocks) leading.push(block);
    } else if (previous !== undefined && previous.role !== 'assistant') {
      const spokenBlocks = joined.get(previous) ?? [...blocksOf(previous)];
      for (const block of blocks) spokenBlocks.push(block);
      joined.set(previous, spokenBlocks);
    } else next.push(draft.change(message, { role: 'user' }));
  }
  if (!isChanged) return false;
  draft.messages = next.map((message) => {
    const spokenBlocks = joined.get(message);
    return spokenBlocks === undefined ? message : draft.withBlocks(message, spokenBlocks);
  });
  if (leading.length > 0) addToSystem(draft, leading);
  return true;
}

/** For each message, the next speaker, instructions aside. */
function followingSpeakers(messages: readonly Message[]): readonly (string | undefined)[] {
  const speakers: (string | undefined)[] = [];
  let speaker: string | undefined;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    speakers[index] = speaker;
    const { role } = messages[index]!;
    if (role !== 'system') speaker = role;
  }
  return speakers;
}

function isPlaced(
  { content }: Message,
  previous: Message | undefined,
  following: string | undefined,
): boolean {
  if (typeof content !== 'string' && content.some(({ type }) => type !== 'text')) return false;
  if (following !== undefined && following !== 'assistant') return false;
  if (previous?.role === 'user') return true;
  const last = previous?.role === 'assistant' ? blocksIn(previous.content)?.at(-1) : undefined;
  return last?.type === 'server_tool_use';
}

/** Whether it holds blocks that only instructions may hold, such as `tool_addition`. */
function holdsDirective({ content }: Message): boolean {
  return typeof content !== 'string' && !content.every(isPlain);
}

/** Appends at the end, since the first block may have to stay first. */
function addToSystem(draft: Draft, blocks: readonly Block[]): void {
  const { system } = draft.root;
  const present = blocksIn(system);
  if (present !== null) draft.set('system', draft.list(present, [...present, ...blocks]));
  else if (typeof system === 'string' && system !== '') {
    draft.set('system', [textBlock(system), ...blocks]);
  } else draft.set('system', blocks);
}
