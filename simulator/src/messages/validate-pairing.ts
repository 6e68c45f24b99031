import { objectsIn, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

interface Turn {
  readonly role: unknown;
  readonly blocks: readonly JsonObject[];
  /** The index of the turn's first message, for error messages. */
  readonly index: number;
}

/** The start of the next user turn answers every tool_use exactly once. @throws Rejection */
export function checkPairing(messages: readonly JsonObject[]): void {
  const turns = mergeTurns(messages);
  const known = new Set<string>();
  turns.forEach((turn, position) => {
    if (turn.role === 'assistant') {
      checkUnique(turn, known);
      checkAnswered(turn, turns[position + 1]);
    } else {
      checkResults(turn, turns[position - 1]);
    }
  });
}

/** This vendor joins adjacent messages of one role. */
function mergeTurns(messages: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    if (message['role'] === 'system') return;
    const last = turns.at(-1);
    const blocks = objectsIn(message['content']);
    if (last !== undefined && last.role === message['role']) {
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    } else {
      turns.push({ role: message['role'], blocks, index });
    }
  });
  return turns;
}

function idsOf(turn: Turn | undefined, type: string, key: string): string[] {
  return (turn?.blocks ?? [])
    .filter((block) => block['type'] === type)
    .map((block) => stringAt(block, key));
}

function checkUnique(turn: Turn, known: Set<string>): void {
  for (const id of idsOf(turn, 'tool_use', 'id')) {
    if (known.has(id)) throw invalid(`messages.${turn.index}: \`tool_use\` ids must be unique`);
    known.add(id);
  }
}

/** Results after other content do not count as "immediately after". */
function checkAnswered(turn: Turn, next: Turn | undefined): void {
  const asked = idsOf(turn, 'tool_use', 'id');
  if (asked.length === 0) return;
  // Text after a call stands between the call and its result.
  const call = turn.blocks.findIndex((block) => block['type'] === 'tool_use');
  const isCut = turn.blocks.slice(call).some((block) => block['type'] === 'text');
  const blocks = isCut ? [] : (next?.blocks ?? []);
  const leading = blocks.findIndex((block) => block['type'] !== 'tool_result');
  const answered = new Set(
    blocks
      .slice(0, leading < 0 ? blocks.length : leading)
      .map((block) => stringAt(block, 'tool_use_id')),
  );
  const open = asked.filter((id) => !answered.has(id));
  if (open.length > 0) {
    throw invalid(
      `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
  }
}

function checkResults(turn: Turn, previous: Turn | undefined): void {
  const asked = new Set(idsOf(previous, 'tool_use', 'id'));
  const seen = new Set<string>();
  turn.blocks.forEach((block, position) => {
    if (block['type'] !== 'tool_result') return;
    const id = stringAt(block, 'tool_use_id');
    if (!asked.has(id)) {
      throw invalid(
        `messages.${turn.index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id)) {
      throw invalid(
        `messages.${turn.index}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    seen.add(id);
  });
}
