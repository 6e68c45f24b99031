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
  const given = block['tool_use_id'];
  if (role !== 'user' || !isResult(block) || typeof given !== 'string') return block;
  const id = names.ofResult(given);
  return id === given ? block : draft.change(block, { tool_use_id: id });
}

class CallNames {
  readonly #taken = new Set<string>();
  readonly #given: ReadonlySet<string>;
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
    this.#given = new Set(calls.map(({ id }) => id));
  }

  beginTurn(): void {
    this.#inTurn = new Set();
  }

  beginResults(): void {
    this.#results = new Map();
  }

  ofCall(given: string): string {
    const id = isPlainId(given) && !this.#taken.has(given) ? given : this.#free(given);
    this.#taken.add(id);
    if (this.#inTurn.has(given)) this.#current.get(given)?.push(id);
    else this.#current.set(given, [id]);
    this.#inTurn.add(given);
    return id;
  }

  ofResult(given: string): string {
    const ids = this.#current.get(given);
    if (ids === undefined) return given;
    const nth = this.#results.get(given) ?? 0;
    this.#results.set(given, nth + 1);
    return ids[Math.min(nth, ids.length - 1)] ?? given;
  }

  #free(given: string): string {
    const base = given.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';
    const isFree = (id: string): boolean => !this.#taken.has(id) && !this.#given.has(id);
    if (isFree(base)) return base;
    let count = this.#counts.get(base) ?? 2;
    while (!isFree(`${base}_${count}`)) count += 1;
    this.#counts.set(base, count + 1);
    return `${base}_${count}`;
  }
}
