import type { NativeState, ReasoningBlock } from '../../canonical/index.ts';
import type { StateOwner } from './envelope.ts';
import type { StateStore } from './state-store.ts';

/** Collects the reasoning state of one answer and remembers it under the calls it belongs to. */
export class StateKeeper {
  readonly #keyId: string;
  readonly #owner: StateOwner;
  readonly #store: StateStore;
  #reasoning: ReasoningBlock[] = [];
  /** A block is being added to. */
  #open = false;

  constructor(keyId: string, owner: StateOwner, store: StateStore) {
    this.#keyId = keyId;
    this.#owner = owner;
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
    this.#store.keep(this.#keyId, callId, {
      owner: this.#owner,
      reasoning,
      call: state ?? null,
    });
  }
}
