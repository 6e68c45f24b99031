import type { Budget } from '#json/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import type { ModelFacts } from './model-facts.ts';

/** Marks a member to be removed from a changed copy. */
export const gone = undefined;

/**
 * Changed copies of parsed JSON, which itself is never modified. Each copy knows its original, so that only differences
 * are written anew.
 */
export class Copies {
  readonly #origins = new Map<object, object>();

  get origins(): ReadonlyMap<object, object> {
    return this.#origins;
  }

  /** A copy with changed members. `gone` removes one. */
  change<Value extends JsonRecord>(value: Value, members: JsonRecord): Value {
    const copy: Record<string, unknown> = { ...value, ...members };
    for (const name of Object.keys(members)) if (members[name] === gone) delete copy[name];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy as Value;
  }

  /** A list that replaces another. */
  list<Element>(value: readonly unknown[], elements: readonly Element[]): readonly Element[] {
    const copy = [...elements];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy;
  }

  /** Replaces each element, or removes it for null. Returns the same list if nothing changed. */
  mapList<Element>(
    elements: readonly Element[],
    replace: (element: Element, index: number) => Element | null,
  ): readonly Element[] {
    const next = elements.map(replace);
    if (next.every((element, index) => element === elements[index])) return elements;
    // The client's own null stays.
    const stays = (element: Element | null, index: number): element is Element =>
      element !== null || elements[index] === null;
    return this.list(elements, next.filter(stays));
  }
}

/** What decides, beside the body, which rules apply. */
export interface RepairContext {
  readonly model: ModelFacts;
  /** `anthropic-version`. */
  readonly version: string;
  /** `anthropic-beta`, the comma-separated list as received. */
  readonly betas: string;
  /** The request is a token count, without output. */
  readonly isCount: boolean;
  /** The rest of the request's budget. */
  readonly budget: Budget;
}

export interface Block extends JsonRecord {
  readonly type: string;
}

export interface Message extends JsonRecord {
  readonly role: string;
  readonly content: string | readonly Block[];
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);

/** Types of blocks without further meaning. All others keep their content and place. */
const plainBlocks: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
]);

export function isPlain({ type }: Block): boolean {
  return plainBlocks.has(type);
}

/** A request under repair. Rules replace what the client wrote by changed copies. */
export class Draft extends Copies {
  readonly context: RepairContext;
  /** The client's names of renamed tools, by their new names. */
  toolNames: ReadonlyMap<string, string> = new Map();
  #root: JsonRecord;

  constructor(json: JsonRecord, changes: JsonRecord, context: RepairContext) {
    super();
    this.context = context;
    this.#root = Object.keys(changes).length === 0 ? json : this.change(json, changes);
  }

  get root(): JsonRecord {
    return this.#root;
  }

  /** `gone` removes. */
  set(name: string, value: unknown): void {
    this.#root = this.change(this.#root, { [name]: value });
  }

  /** The conversation. Null if its form is unknown; then no rule reorders it. */
  get messages(): readonly Message[] | null {
    const { messages } = this.#root;
    return Array.isArray(messages) && messages.every(isMessage) ? messages : null;
  }

  set messages(messages: readonly Message[]) {
    this.set('messages', this.list(this.#root['messages'] as readonly unknown[], messages));
  }

  /** The tools as objects; null if they are something else. */
  get tools(): readonly JsonRecord[] | null {
    const { tools } = this.#root;
    return Array.isArray(tools) && tools.every(isRecord) ? tools : null;
  }

  set tools(tools: readonly JsonRecord[]) {
    this.set('tools', this.list(this.#root['tools'] as readonly unknown[], tools));
  }

  /** The message with other blocks. Content that was a single text stays one, if possible. */
  withBlocks(message: Message, blocks: readonly Block[]): Message {
    const { content } = message;
    return this.change(message, {
      content: typeof content === 'string' ? blocks : this.list(content, blocks),
    });
  }

  /**
   * Replaces each block, or removes it for null. The content of a tool result comes before the result itself.
   * @returns whether any block was replaced
   */
  mapBlocks(replace: (block: Block, role: string, index: number) => Block | null): boolean {
    const { messages } = this;
    if (messages === null) return false;
    let isChanged = false;
    const next = messages.map((message) => {
      const { content, role } = message;
      if (typeof content === 'string') return message;
      const blocks = this.mapList(content, (block, index) => {
        const inner = block.type === 'tool_result' ? blocksIn(block['content']) : null;
        const innerNext =
          inner === null ? inner : this.mapList(inner, (part) => replace(part, 'result', index));
        const own = innerNext === inner ? block : this.change(block, { content: innerNext });
        return replace(own, role, index);
      });
      if (blocks === content) return message;
      isChanged = true;
      return this.withBlocks(message, blocks);
    });
    if (isChanged) this.messages = next;
    return isChanged;
  }
}

/** The content as blocks; null if it is something else. */
export function blocksIn(content: unknown): readonly Block[] | null {
  return Array.isArray(content) && content.every(isBlock) ? content : null;
}

export function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value['type'] === 'string';
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || !roles.has(value['role'])) return false;
  const { content } = value;
  return typeof content === 'string' || blocksIn(content) !== null;
}

/** A text block. */
export function textBlock(value: string): Block {
  return { type: 'text', text: value };
}

/** White space alone. */
export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
