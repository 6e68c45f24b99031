import type { NativeState, ReasoningBlock } from '#canonical/index.ts';
import type { StateStore } from './state-store.ts';

/** Collects the reasoning state of one answer and remembers it under the calls it belongs to. */
export class StateKeeper {
  readonly #owner: string;
  readonly #maker: string;
  readonly #store: StateStore;
  #reasoning: ReasoningBlock[] = [];
  /** A block is being added to. */
  #open = false;

  /**
   * @param owner the team or user that it is remembered for
   * @param maker who can read it: `makerId`
   */
  constructor(owner: string, maker: string, store: StateStore) {
    this.#owner = owner;
    this.#maker = maker;
    this.#store = store;
  }

  /** Of the thought that is open. */
  get text(): string {
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

  /** @param callId as the client knows it */
  call(callId: string, state: NativeState | undefined): void {
    this.#open = false;
    const reasoning = this.#reasoning.filter((block) => block.state !== undefined);
    this.#reasoning = [];
    if (reasoning.length === 0 && state === undefined) return;
    this.#store.keep(this.#owner, callId, {
      maker: this.#maker,
      reasoning,
      call: state ?? null,
    });
  }
}
