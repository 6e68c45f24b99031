import type { Block, Draft } from './draft.ts';
import { isCall, isResult } from './tool-values.ts';
import { openConversation, type Turn } from './turns.ts';

/** `^[a-zA-Z0-9_-]+$`, by hand, since it runs for every call of every request. */
export function isPlainId(id: string): boolean {
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at);
    const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
    if (!isLetter && !(unit >= 0x30 && unit <= 0x39) && unit !== 0x5f && unit !== 0x2d)
      return false;
  }
  return id !== '';
}

/**
 * Renames ids of calls that are used twice or hold other characters, on both sides: the n-th result with an id belongs
 * to the n-th call with it in the turn before.
 */
export function renameCalls(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  const names = new CallNames(conversation.turns);
  for (const turn of conversation.turns) {
    if (turn.role === 'assistant') names.beginTurn();
    else names.beginResults();
    for (const part of turn.parts) {
      part.blocks = part.blocks.map((block) => rename(draft, block, turn, names));
    }
  }
  return conversation.finish();
}

function rename(draft: Draft, block: Block, { role }: Turn, names: CallNames): Block {
  if (role === 'assistant' && isCall(block)) {
    const id = names.ofCall(block.id);
    return id === block.id ? block : draft.change(block, { id });
  }
  const resultId = block['tool_use_id'];
  if (role !== 'user' || !isResult(block) || typeof resultId !== 'string') return block;
  const id = names.ofResult(resultId);
  return id === resultId ? block : draft.change(block, { tool_use_id: id });
}

class CallNames {
  readonly #takenIds = new Set<string>();
  readonly #clientIds: ReadonlySet<string>;
  /** The new ids of the latest calls with an id, in order. */
  readonly #current = new Map<string, string[]>();
  /** The next number by the prefix of the new id. */
  readonly #counts = new Map<string, number>();
  #inTurn = new Set<string>();
  #results = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    const calls = turns.flatMap(({ parts }) =>
      parts.flatMap(({ blocks }) => blocks.filter(isCall)),
    );
    this.#clientIds = new Set(calls.map(({ id }) => id));
  }

  beginTurn(): void {
    this.#inTurn = new Set();
  }

  beginResults(): void {
    this.#results = new Map();
  }

  ofCall(clientId: string): string {
    const id =
      isPlainId(clientId) && !this.#takenIds.has(clientId) ? clientId : this.#free(clientId);
    this.#takenIds.add(id);
    if (this.#inTurn.has(clientId)) this.#current.get(clientId)?.push(id);
    else this.#current.set(clientId, [id]);
    this.#inTurn.add(clientId);
    return id;
  }

  ofResult(clientId: string): string {
    const ids = this.#current.get(clientId);
    if (ids === undefined) return clientId;
    const nth = this.#results.get(clientId) ?? 0;
    this.#results.set(clientId, nth + 1);
    return ids[Math.min(nth, ids.length - 1)] ?? clientId;
  }

  #free(clientId: string): string {
    const base = clientId.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    const isFree = (id: string): boolean => !this.#takenIds.has(id) && !this.#clientIds.has(id);
    if (isFree(base)) return base;
    let count = this.#counts.get(base) ?? 2;
    while (!isFree(`${base}_${count}`)) count += 1;
    this.#counts.set(base, count + 1);
    return `${base}_${count}`;
  }
}
