import type { NativeState, ReasoningBlock } from '#canonical/index.ts';
import type { StateStore } from './state-store.ts';
import { callKey, textKey } from './text-key.ts';

/** Collects the reasoning state of one response and stores it under the calls and texts it belongs to. */
export class StateKeeper {
  readonly #owner: string;
  readonly #maker: string;
  readonly #place: string;
  readonly #store: StateStore;
  #reasoning: ReasoningBlock[] = [];
  /** Whether a block is open. */
  #open = false;

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
  get thought(): string {
    return this.#open ? (this.#reasoning.at(-1)?.text ?? '') : '';
  }

  reasoning(text: string): void {
    const last = this.#reasoning.at(-1);
    if (this.#open && last !== undefined) {
      this.#reasoning[this.#reasoning.length - 1] = { ...last, text: last.text + text };
      return;
    }
    this.#reasoning.push({ type: 'reasoning', text });
    this.#open = true;
  }

  state(state: NativeState): void {
    if (!this.#open) this.reasoning('');
    const last = this.#reasoning.at(-1);
    if (last !== undefined) this.#reasoning[this.#reasoning.length - 1] = { ...last, state };
  }

  close(): void {
    this.#open = false;
  }

  /** @param callId the id that the client knows */
  call(callId: string, state: NativeState | undefined): void {
    this.#open = false;
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
