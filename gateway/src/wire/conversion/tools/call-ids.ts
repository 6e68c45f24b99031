import {
  Unconvertible,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
} from '#canonical/index.ts';
import { type CodecTraits, digest } from '#protocols/index.ts';
import { mapBlocks } from '../turns.ts';

type Traits = Pick<CodecTraits, 'toolId' | 'toolIdLength'>;

/**
 * Gives every call an id that the upstream accepts, and every result the id of its call. Ids are derived from the
 * position in the history, so that the same history gets the same ids and prompt caches stay warm. A result without an
 * id belongs to the first open call of its name, or to the next open call if it has no name either. So does a result
 * whose id no call has, among the calls without an id: some clients give ids to their results alone.
 * @throws Unconvertible for a result without a call.
 */
export function assignCallIds(request: GenerationRequest, traits: Traits): GenerationRequest {
  const waiting = new WaitingCalls();
  return mapBlocks(request, (block, turn, at) => {
    if (block.type === 'tool-call') {
      const call = { ...block, id: callId(block, traits, turn, at) };
      waiting.add(call, block.id !== null && block.id !== '');
      return call;
    }
    if (block.type !== 'tool-result') return block;
    if (block.id !== null) {
      const id = acceptedId(block.id, traits);
      const unidentifiedCall = waiting.answer(id) ? null : waiting.answerUnidentified(block.name);
      if (unidentifiedCall === null) return { ...block, id };
      return { ...block, id: unidentifiedCall.id, name: block.name ?? unidentifiedCall.name };
    }
    const firstCall = waiting.answerFirst(block.name);
    if (firstCall === null) throw unmatchedResult(block);
    return { ...block, id: firstCall.id, name: block.name ?? firstCall.name };
  });
}

interface WaitingCall {
  readonly id: string;
  readonly name: string;
  isAnswered: boolean;
}

/**
 * Calls without a result, in order. A history may have a hundred thousand; each is visited a bounded number of times.
 */
class WaitingCalls {
  readonly #openCalls = new OpenCalls();
  /** Those that had no id of their own. */
  readonly #unidentifiedCalls = new OpenCalls();
  readonly #byId = new Map<string, WaitingCall[]>();

  /** @param isIdentified the client gave it its id */
  add({ id, name }: { readonly id: string; readonly name: string }, isIdentified: boolean): void {
    const call = { id, name, isAnswered: false };
    this.#openCalls.add(call);
    if (!isIdentified) this.#unidentifiedCalls.add(call);
    entryOf(this.#byId, id, () => []).push(call);
  }

  /** @returns whether there is such a call, answered or not */
  answer(id: string): boolean {
    const calls = this.#byId.get(id);
    if (calls === undefined) return false;
    while (calls.length > 0) calls.pop()!.isAnswered = true;
    return true;
  }

  /** @param name null: any name */
  answerFirst(name: string | null): WaitingCall | null {
    return this.#openCalls.answerFirst(name);
  }

  answerUnidentified(name: string | null): WaitingCall | null {
    return this.#unidentifiedCalls.answerFirst(name);
  }
}

class OpenCalls {
  readonly #all = new CallQueue();
  readonly #byName = new Map<string, CallQueue>();

  add(call: WaitingCall): void {
    this.#all.calls.push(call);
    entryOf(this.#byName, call.name, () => new CallQueue()).calls.push(call);
  }

  answerFirst(name: string | null): WaitingCall | null {
    const first = (name === null ? this.#all : this.#byName.get(name))?.first() ?? null;
    if (first !== null) first.isAnswered = true;
    return first;
  }
}

class CallQueue {
  readonly calls: WaitingCall[] = [];
  #at = 0;

  first(): WaitingCall | null {
    while (this.calls[this.#at]?.isAnswered === true) this.#at += 1;
    return this.calls[this.#at] ?? null;
  }
}

function entryOf<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = create()));
  return value;
}

/** The id that the client receives for a call in the upstream's response. */
export function responseCallId(
  id: string | null,
  traits: Traits,
  ...place: readonly (string | number)[]
): string {
  return id === null || id === '' ? mintId(...place) : acceptedId(id, traits);
}

function callId(block: ToolCallBlock, traits: Traits, turn: number, at: number): string {
  return responseCallId(block.id, traits, turn, at, block.name);
}

function acceptedId(id: string, { toolId, toolIdLength }: Traits): string {
  const isAccepted = toolId === null || (id.length <= toolIdLength && toolId.test(id));
  return isAccepted ? id : mintId(id);
}

function mintId(...parts: readonly (string | number)[]): string {
  return `call_${digest(24, ...parts)}`;
}

function unmatchedResult({ name }: ToolResultBlock): Unconvertible {
  const which = name === null ? 'a tool result' : `the result of '${name}'`;
  return new Unconvertible('tool_result', `${which} does not belong to any call before it`);
}
