import type { CustomTool, FunctionTool, ToolCallBlock } from '#canonical/index.ts';
import type { Codec } from '#protocols/index.ts';

/** Represents a custom tool (free text) as a function with that text as its only argument. */
export function customAsFunction({
  name,
  namespace,
  description,
  grammar,
  extensions,
}: CustomTool): FunctionTool {
  const rule =
    grammar === null
      ? null
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rule].filter((part) => part !== null && part !== '').join('\n\n');
  return {
    type: 'function',
    name,
    namespace,
    description: text === '' ? null : text,
    schema: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
    strict: null,
    extensions,
  };
}

/** The arguments of a function that represents a custom tool. */
export function wrapInput(text: string): string {
  return JSON.stringify({ input: text });
}

/**
 * Makes arguments of free text as it arrives, for a client that knows functions only. A text that begins like an object
 * is taken for arguments: models write those even in a free text.
 */
export class InputWrapper {
  #blanks = '';
  #state: 'undecided' | 'wrapping' | 'plain' = 'undecided';

  /** @returns the next piece of the arguments */
  push(piece: string): string {
    if (this.#state === 'plain') return piece;
    // Pieces may divide a character: each half is an escape of its own.
    if (this.#state === 'wrapping') return JSON.stringify(piece).slice(1, -1);
    this.#blanks += piece;
    const visible = this.#blanks.trimStart();
    if (visible === '') return '';
    this.#state = visible.startsWith('{') ? 'plain' : 'wrapping';
    return this.#state === 'plain' ? this.#blanks : wrapInput(this.#blanks).slice(0, -2);
  }

  /** @returns the rest of the arguments */
  end(): string {
    if (this.#state === 'plain') return '';
    return this.#state === 'wrapping' ? '"}' : wrapInput(this.#blanks);
  }
}

/**
 * May a call with free text reach the client as it is?
 * @param declaredKind what the client declared under its name; undefined: nothing
 */
export function takesText(
  declaredKind: ToolCallBlock['kind'] | undefined,
  client: Pick<Codec, 'traits'>,
): boolean {
  return (declaredKind ?? 'custom') === 'custom' && client.traits.customTools;
}

/** The free text of a call that came as a function call. Arguments in any other form are the text themselves. */
export function unwrapInput(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && 'input' in value) {
      const { input } = value;
      return typeof input === 'string' ? input : JSON.stringify(input);
    }
  } catch {
    // The model wrote its text without the object around it.
  }
  return json;
}

/**
 * Unwraps the arguments as they arrive: a patch of several kilobytes should not wait for its last byte. While the
 * arguments follow the expected form exactly, pieces pass at once; anything else is held back and unwrapped at the end.
 */
export class InputUnwrapper {
  /** Input that has not been recognised yet. */
  #rest = '';
  #state: 'before' | 'inside' | 'after' | 'odd' = 'before';

  /** @returns the part of the text that is certain by now */
  push(piece: string): string {
    this.#rest += piece;
    if (this.#state === 'before') this.#open();
    return this.#state === 'inside' ? this.#take() : '';
  }

  /** @returns the rest of the text */
  end(): string {
    if (this.#state === 'before' || this.#state === 'odd') return unwrapInput(this.#rest);
    // Cut inside an escape, which has no meaning without its end.
    return '';
  }

  #open(): void {
    const match = opening.exec(this.#rest);
    if (match !== null) {
      this.#state = 'inside';
      this.#rest = this.#rest.slice(match[0].length);
    } else if (!openingPrefix.test(this.#rest)) this.#state = 'odd';
  }

  #take(): string {
    const text = this.#rest;
    let end = 0;
    while (end < text.length && text[end] !== '"') {
      if (text[end] !== '\\') end += 1;
      else {
        const length = text[end + 1] === 'u' ? 6 : 2;
        if (end + length > text.length) break;
        end += length;
      }
    }
    if (text[end] === '"') this.#state = 'after';
    this.#rest = text.slice(end);
    return unescapeText(text.slice(0, end));
  }
}

const opening = /^\s*\{\s*"input"\s*:\s*"/;
const openingPrefix = /^\s*(\{\s*("(i(n(p(u(t("(\s*(:\s*)?)?)?)?)?)?)?)?)?)?$/;

function unescapeText(inner: string): string {
  try {
    // Models write line breaks into strings without escaping them.
    const strict = inner.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
    return JSON.parse(`"${strict}"`) as string;
  } catch {
    // An escape that JSON does not have: the text is used as it stands.
    return inner;
  }
}
