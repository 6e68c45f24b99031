import { hash } from 'node:crypto';
import type { NativeState, ReasoningBlock, Block, Turn } from '#canonical/index.ts';
import type { StateStore } from './state-store.ts';

/** Of each text; comparing the whole output of a tool would cost every later request time. */
const comparedLength = 300;

/**
 * What distinguishes the same text, or a call with the same id, in two conversations: how the conversation begins, and what
 * is answered.
 * @param at which turn it is; absent: the next one
 */
export function placeOf(turns: readonly Turn[], at = turns.length): string {
  const opening = turns.find(({ role }) => role === 'user')?.blocks ?? [];
  return [...wordsOf(opening), ...wordsOf(turns[at - 1]?.blocks ?? [])].join(' ');
}

function wordsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'text') return block.text.slice(0, comparedLength);
    return block.type === 'tool-result' ? wordsOf(block.content) : [];
  });
}

/**
 * Under which the state of a call is remembered. Clients and upstreams count calls anew in each conversation, so the id alone
 * would bring one conversation's thoughts into another.
 * @param place `placeOf` the turns before it
 * @param id the one that the client knows
 */
export function callKey(place: string, id: string): string {
  return `call ${hash('sha256', JSON.stringify([place, id]), 'base64url')}`;
}

/**
 * Under which the state on a text is remembered, like that of a call under its id. Clients may trim a text before they
 * return it.
 * @param place `placeOf` the turns before it
 */
export function textKey(place: string, text: string): string {
  return `text ${hash('sha256', JSON.stringify([place, text.trim()]), 'base64url')}`;
}

/** Collects the reasoning state of one response and stores it under the calls and texts it belongs to. */
export class StateKeeper {
  readonly #owner: string;
  readonly #maker: string;
  readonly #place: string;
  readonly #store: StateStore;
  #reasoning: ReasoningBlock[] = [];
  /** Whether a block is open. */
  #isOpen = false;

  /**
   * @param owner the team or user it is stored for
   * @param maker who can read it: `makerId`
   * @param place `placeOf` the conversation that is answered
   */
  constructor(owner: string, maker: string, store: StateStore, place: string) {
    this.#owner = owner;
    this.#maker = maker;
    this.#place = place;
    this.#store = store;
  }

  /** The text of the open reasoning block. */
  get openReasoning(): string {
    return this.#isOpen ? (this.#reasoning.at(-1)?.text ?? '') : '';
  }

  reasoning(text: string): void {
    const last = this.#reasoning.at(-1);
    if (this.#isOpen && last !== undefined) {
      this.#reasoning[this.#reasoning.length - 1] = { ...last, text: last.text + text };
      return;
    }
    this.#reasoning.push({ type: 'reasoning', text });
    this.#isOpen = true;
  }

  state(state: NativeState): void {
    if (!this.#isOpen) this.reasoning('');
    const last = this.#reasoning.at(-1);
    if (last !== undefined) this.#reasoning[this.#reasoning.length - 1] = { ...last, state };
  }

  close(): void {
    this.#isOpen = false;
  }

  /** @param callId the id that the client knows */
  call(callId: string, state: NativeState | undefined): void {
    this.#isOpen = false;
    const reasoning = this.#reasoning.filter((block) => block.state !== undefined);
    this.#reasoning = [];
    if (reasoning.length === 0 && state === undefined) return;
    this.#store.keep(this.#owner, callKey(this.#place, callId), {
      maker: this.#maker,
      reasoning,
      call: state ?? null,
    });
  }

  /** Stores the state on a text, for a client that returns the text without it. */
  text(text: string, state: NativeState): void {
    this.#store.keep(this.#owner, textKey(this.#place, text), {
      maker: this.#maker,
      reasoning: [],
      call: state,
    });
  }
}
