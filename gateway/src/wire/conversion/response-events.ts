import type { GenerationEvent, NativeState } from '#canonical/index.ts';
import { textFacts } from '#protocols/index.ts';
import { withSealedState } from './response-blocks.ts';
import {
  emptySignature,
  clientEnvelope,
  takesCarriers,
  type ResponsePasses,
  settledFinish,
} from './response-context.ts';
import { StateKeeper } from './state/state-keeper.ts';
import { responseCallId } from './tools/call-ids.ts';
import { InputUnwrapper, InputWrapper, takesText } from './tools/custom-input.ts';

type Event<Type extends GenerationEvent['type']> = Extract<GenerationEvent, { type: Type }>;
type Emit = (event: GenerationEvent) => void;

/** Does the work of `passResponse` event by event. One per attempt. */
export class ResponseEvents {
  readonly #passes: ResponsePasses;
  readonly #emit: Emit;
  readonly #choices = new Map<number, ChoiceEvents>();

  constructor(passes: ResponsePasses, emit: Emit) {
    this.#passes = passes;
    this.#emit = emit;
  }

  push(event: GenerationEvent): void {
    const number = event.choice ?? 0;
    let choice = this.#choices.get(number);
    if (choice === undefined) {
      this.#passes.losses.candidate(number);
      choice = new ChoiceEvents(this.#passes, event.choice, this.#emit);
      this.#choices.set(number, choice);
    }
    choice.push(event);
  }
}

class ChoiceEvents {
  readonly #passes: ResponsePasses;
  readonly #choice: { readonly choice?: number | undefined };
  readonly #emit: Emit;
  /** Null before the first state, reasoning or call. */
  #keeper: StateKeeper | null = null;
  /** Of calls whose arguments the client gets in another form. */
  readonly #rewriters = new Map<number, InputUnwrapper | InputWrapper>();
  #openBlock: 'text' | 'refusal' | 'reasoning' | null = null;
  /** Whether the open reasoning block has its state. */
  #isSigned = false;
  #calls = 0;
  /** The open or the last text, and the state on it that no event has carried yet. */
  #text = '';
  #signature: NativeState | null = null;

  constructor(passes: ResponsePasses, choice: number | undefined, emit: Emit) {
    this.#passes = passes;
    this.#choice = choice === undefined ? {} : { choice };
    this.#emit = emit;
  }

  #stateKeeper(): StateKeeper {
    const { sealing, maker, store, place } = this.#passes;
    return (this.#keeper ??= new StateKeeper(sealing.owner, maker, store, place));
  }

  push(event: GenerationEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        if (event.type !== this.#openBlock) {
          this.#close();
          this.#settle();
          this.#openBlock = event.type;
          this.#isSigned = false;
          this.#text = '';
        }
        if (event.type === 'reasoning') this.#stateKeeper().reasoning(event.text);
        else if (event.type === 'text') {
          if (textFacts[this.#passes.upstream.name].state.signsTexts) this.#text += event.text;
          if (event.logprobs !== undefined) this.#passes.losses.logprobs();
        }
        this.#emit(event);
        return;
      case 'block-end':
        this.#close();
        this.#emit(event);
        return;
      case 'state':
        this.#state(event);
        return;
      case 'call-start':
        this.#callStart(event);
        return;
      case 'call-arguments':
        this.#callArguments(event);
        return;
      case 'call-end':
        this.#callEnd(event);
        return;
      case 'block':
        this.#block(event);
        return;
      case 'citation':
        this.#passes.losses.citation(event.citation);
        this.#emit(event);
        return;
      case 'finish':
        this.#close();
        this.#remember();
        this.#passes.losses.finish(event.finish);
        this.#emit({ ...event, finish: settledFinish(event.finish, this.#calls) });
        return;
    }
  }

  #close(): void {
    if (this.#openBlock === 'reasoning' && !this.#isSigned) {
      const state = emptySignature(this.#passes, 'thought');
      if (state !== null) this.#emit({ type: 'state', state, ...this.#choice });
    }
    this.#openBlock = null;
    this.#keeper?.close();
  }

  /**
   * Remembers the state on the last text. It comes after the text, where only the end of the response may follow, and
   * clients take a response that ends in reasoning for one that says nothing.
   */
  #remember(): NativeState | null {
    const state = this.#signature;
    this.#signature = null;
    if (state !== null) this.#stateKeeper().text(this.#text, state);
    return state;
  }

  /** The same before another block, where the client may get the state as well. */
  #settle(): void {
    const state = this.#remember();
    if (state === null || !takesCarriers(this.#passes)) return;
    const envelope = clientEnvelope(this.#passes, state, 'previous');
    if (envelope !== null) this.#ownBlock(envelope);
  }

  #state({ state }: Event<'state'>): void {
    const isReasoning = this.#openBlock === 'reasoning' || this.#openBlock === null;
    if (isReasoning) {
      this.#stateKeeper().state(state);
      this.#isSigned = true;
    }
    if (!isReasoning) {
      if (textFacts[this.#passes.upstream.name].state.signsTexts) this.#signature = state;
      if (this.#passes.client.traits.state !== 'block') return;
    }
    const text = isReasoning ? this.#stateKeeper().openReasoning : '';
    const envelope = clientEnvelope(this.#passes, state, 'own', text);
    if (envelope !== null) this.#emit({ type: 'state', state: envelope, ...this.#choice });
  }

  /** A reasoning block that consists of state only. */
  #ownBlock(state: Event<'state'>['state']): void {
    this.#close();
    this.#emit({ type: 'block-end', ...this.#choice });
    this.#emit({ type: 'state', state, ...this.#choice });
    this.#emit({ type: 'block-end', ...this.#choice });
  }

  #callStart(event: Event<'call-start'>): void {
    const { clientTools, client, context } = this.#passes;
    const { state, ...bare } = event;
    this.#close();
    this.#settle();
    const tool = clientTools.get(event.name);
    const place = [context.requestId, event.choice ?? 0, this.#calls] as const;
    const id = responseCallId(event.id, client.traits, ...place);
    this.#calls += 1;
    this.#stateKeeper().call(id, state);
    if (tool?.kind === 'custom' && event.kind === 'function') {
      this.#rewriters.set(event.call, new InputUnwrapper());
    }
    const sitsOnBlock = client.traits.state === 'block';
    const envelope =
      state !== undefined
        ? clientEnvelope(this.#passes, state, sitsOnBlock ? 'own' : 'next')
        : this.#calls === 1
          ? emptySignature(this.#passes, 'first call')
          : null;
    if (envelope !== null && !sitsOnBlock) this.#ownBlock(envelope);
    const wraps = event.kind === 'custom' && !takesText(tool?.kind, client);
    this.#emit({
      ...bare,
      id,
      name: tool?.name ?? event.name,
      namespace: tool === undefined ? event.namespace : tool.namespace,
      kind: wraps ? 'function' : (tool?.kind ?? event.kind),
      ...(tool?.item !== undefined && { item: tool.item }),
      ...(envelope !== null && sitsOnBlock && { state: envelope }),
    });
    if (wraps) this.#rewriters.set(event.call, new InputWrapper());
  }

  #callArguments(event: Event<'call-arguments'>): void {
    const rewriter = this.#rewriters.get(event.call);
    if (rewriter === undefined) this.#emit(event);
    else this.#argumentsText(event.call, rewriter.push(event.text));
  }

  #argumentsText(call: number, text: string): void {
    if (text !== '') this.#emit({ type: 'call-arguments', call, text, ...this.#choice });
  }

  #callEnd(event: Event<'call-end'>): void {
    this.#argumentsText(event.call, this.#rewriters.get(event.call)?.end() ?? '');
    this.#rewriters.delete(event.call);
    this.#emit(event);
  }

  #block({ block }: Event<'block'>): void {
    this.#passes.losses.block(block);
    this.#close();
    this.#settle();
    const { state, ...bare } = block;
    const place = block.type === 'reasoning' ? 'own' : 'next';
    for (const each of withSealedState(this.#passes, bare, state, place)) {
      this.#emit({ type: 'block', block: each, ...this.#choice });
    }
  }
}
