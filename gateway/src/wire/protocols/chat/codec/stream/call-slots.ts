import type { GenerationEvent, NativeState } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { callState, type CallParts, readCallParts } from '../tool-calls.ts';

type Emit = (event: GenerationEvent) => void;

interface Slot {
  readonly number: number;
  id: string;
  name: string;
  /** Arguments that came before the name. */
  early: string;
  readonly extent: ObjectExtent;
  isStarted: boolean;
  isEnded: boolean;
}

/**
 * Distinguishes the calls of one streamed response. The protocol keys them by `index` and names each once. Servers omit
 * the index or the id, send empty ids, repeat id and name with every piece, or give every call the index 0.
 * The cost of a piece grows with its own length, not with the number of calls and pieces before it.
 */
export class CallSlots {
  readonly #choice: number;
  readonly #calls: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  /** Calls that have not ended although their arguments are a complete object. */
  readonly #whole = new Set<Slot>();
  #started = 0;

  constructor(choice: number) {
    this.#choice = choice;
  }

  /** At least one call has begun. */
  get some(): boolean {
    return this.#started > 0;
  }

  /**
   * Takes one entry of a delta's `tool_calls`.
   * @returns whether a call began
   */
  push(entry: JsonRecord, states: ReadonlyMap<string, NativeState> | null, emit: Emit): boolean {
    const parts = readCallParts(entry);
    const slot = this.#slotFor(entry['index'], parts);
    if (slot.id === '') this.#identify(slot, parts.id);
    if (slot.isStarted) {
      if (!slot.isEnded) this.#arguments(slot, parts.text, emit);
      return false;
    }
    slot.name = parts.name;
    if (slot.name === '') {
      // A call begins with its name, which is still to come.
      slot.early += parts.text;
      return false;
    }
    this.#endWhole(emit);
    slot.isStarted = true;
    this.#started += 1;
    const state = callState(entry) ?? states?.get(slot.id);
    const start: GenerationEvent = {
      type: 'call-start',
      call: slot.number,
      id: slot.id === '' ? null : slot.id,
      name: slot.name,
      kind: parts.kind,
    };
    this.#emit(state === undefined ? start : { ...start, state }, emit);
    const { early } = slot;
    slot.early = '';
    this.#arguments(slot, early + parts.text, emit);
    return true;
  }

  end(emit: Emit): void {
    for (const slot of this.#calls) if (slot.isStarted && !slot.isEnded) this.#end(slot, emit);
  }

  #slotFor(index: unknown, parts: CallParts): Slot {
    if (typeof index === 'number') {
      const foundSlot = this.#byIndex.get(index);
      if (foundSlot !== undefined && !isAnother(foundSlot, parts)) return foundSlot;
      const slot = this.#add();
      this.#byIndex.set(index, slot);
      return slot;
    }
    if (parts.id !== '') return this.#byId.get(parts.id) ?? this.#add();
    const last = this.#calls.at(-1);
    return last !== undefined && !isAnother(last, parts) ? last : this.#add();
  }

  #add(): Slot {
    const slot: Slot = {
      number: this.#calls.length,
      id: '',
      name: '',
      early: '',
      extent: new ObjectExtent(),
      isStarted: false,
      isEnded: false,
    };
    this.#calls.push(slot);
    return slot;
  }

  #identify(slot: Slot, id: string): void {
    slot.id = id;
    if (id !== '' && !this.#byId.has(id)) this.#byId.set(id, slot);
  }

  /** Ends calls with complete arguments when the next one begins. Others may continue. */
  #endWhole(emit: Emit): void {
    for (const slot of this.#whole) this.#end(slot, emit);
  }

  #end(slot: Slot, emit: Emit): void {
    slot.isEnded = true;
    this.#whole.delete(slot);
    this.#emit({ type: 'call-end', call: slot.number }, emit);
  }

  #arguments(slot: Slot, text: string, emit: Emit): void {
    if (text === '') return;
    slot.extent.push(text);
    if (slot.extent.isWhole) this.#whole.add(slot);
    else this.#whole.delete(slot);
    this.#emit({ type: 'call-arguments', call: slot.number, text }, emit);
  }

  #emit(event: GenerationEvent, emit: Emit): void {
    emit(this.#choice === 0 ? event : { ...event, choice: this.#choice });
  }
}

/** Whether a piece with a name begins another call under the same index, rather than repeats the open one. */
function isAnother(slot: Slot, { id, name, text }: CallParts): boolean {
  if (name === '' || slot.name === '') return false;
  if (id !== '' && slot.id !== '') return id !== slot.id;
  return name !== slot.name || (text !== '' && slot.extent.isWhole);
}

const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const brace = 0x7b;
const space = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Finds the end of a JSON object that comes in pieces, without keeping or parsing it, by counting brackets outside of
 * strings. Reads each character once, so that asking after every piece adds no cost.
 */
class ObjectExtent {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isClosed = false;
  /** The text is not an object, or something follows the object. */
  #isOther = false;

  /** The text is one complete object, with white space around it at most. */
  get isWhole(): boolean {
    return this.#isClosed && !this.#isOther;
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isOther; at += 1)
      this.#character(text.charCodeAt(at));
  }

  #character(code: number): void {
    if (this.#inString) this.#within(code);
    else if (code === quote && this.#depth > 0) this.#inString = true;
    else if (opening.has(code)) this.#open(code);
    else if (closing.has(code)) this.#close();
    else if (this.#depth === 0 && !space.has(code)) this.#isOther = true;
  }

  #within(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#inString = false;
  }

  #open(code: number): void {
    if (this.#depth === 0 && (this.#isClosed || code !== brace)) this.#isOther = true;
    this.#depth += 1;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#isClosed = true;
    else if (this.#depth < 0) this.#isOther = true;
  }
}
