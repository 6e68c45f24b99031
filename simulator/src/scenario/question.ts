/** What a request asks for, independent of its protocol. */
export interface Question {
  readonly model: string;
  /** Hex digest of the request body, from which every id of the response derives. */
  readonly identity: string;
  /** Text of the user's last message, tool results aside. */
  readonly userText: string;
  readonly imageCount: number;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  /** Assistant turns with tool calls since the last text of the user. */
  readonly toolRounds: number;
  /** Texts of the tool results that end the conversation. */
  readonly toolResults: readonly string[];
  readonly reasoning: boolean;
  /** Limit for reasoning plus visible output; null = none. */
  readonly maxTokens: number | null;
  readonly stopSequences: readonly string[];
  /** Structured output: the schema asked for, `{}` for "any JSON object", null for free text. */
  readonly structure: unknown;
  readonly choiceCount: number;
  readonly prompt: readonly PromptPart[];
}

export interface Tool {
  readonly name: string;
  readonly schema: unknown;
  /** `custom` tools take free text instead of JSON arguments. */
  readonly kind: 'function' | 'custom';
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A stretch of the prompt, in the order the vendor reads it; the unit of the cache arithmetic. */
export interface PromptPart {
  readonly side: 'setup' | 'user' | 'assistant';
  readonly tokens: number;
  /** What the vendor compares with earlier prompts. Absent where nothing is compared. */
  readonly content?: string;
  /** A cache breakpoint sits on this part. */
  readonly mark?: '5m' | '1h';
}

/**
 * The end of the user's text, where words with an effect are looked for. Agents put long prompts
 * before what a person typed, and those may hold the same words by chance.
 */
export function instructionOf(question: Question): string {
  return question.userText.slice(-300);
}

/** Four characters per token, rounded up: easy to verify by hand, and close to real counts. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Prompt tokens of an image of any size. */
export const imageTokens = 85;
