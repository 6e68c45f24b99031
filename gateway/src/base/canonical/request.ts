import type { Block, TextBlock, ClientItem, Extensions } from './block.ts';
import type { TextProtocolName } from './protocol-name.ts';

/** A request for text in protocol-neutral form. Null means that the client did not set the member. */
export interface GenerationRequest {
  /** As the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** Before the conversation, one block per message or part it came in. */
  readonly system: readonly TextBlock[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** May the model make several calls at once? */
  readonly parallelTools: boolean | null;
  /** Reasoning included, as in every protocol. */
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  /** How many responses; at least 1. */
  readonly choices: number;
  readonly format: OutputFormat | null;
  readonly verbosity: string | null;
  readonly reasoning: ReasoningRequest | null;
  /** Alternatives per token; 0: only the chosen token's own probability; null: none wanted. */
  readonly logprobs: number | null;
  /** Requests that share it share a prompt cache. */
  readonly cacheKey: string | null;
  /** The client's end user, by the client's own name until a pass makes it opaque. */
  readonly endUser: string | null;
  /** Whether a streaming chat client wants the usage chunk. Other protocols always report usage. */
  readonly wantsUsage: boolean;
  /** Everything else the client wrote at the top level. */
  readonly extensions: Extensions;
}

/** A run of blocks by one speaker. A `system` turn comes after the beginning of the conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: readonly Block[];
  /** Chat's `name`. */
  readonly name?: string | undefined;
}

export type Tool = FunctionTool | CustomTool | HostedTool;

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly description: string | null;
  /** JSON Schema of an object; null when the client gave none. Generate-content's own dialect is translated. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
  readonly cache?: { readonly ttl: string | null } | undefined;
  readonly extensions?: Extensions | undefined;
  /** The entry as the client wrote it: a type that it runs itself, in place of a schema, which only its vendor's models know. */
  readonly typed?:
    | { readonly protocol: TextProtocolName; readonly value: Readonly<Record<string, unknown>> }
    | undefined;
  readonly item?: ClientItem | undefined;
}

/** Called with free text instead of JSON. */
export interface CustomTool {
  readonly type: 'custom';
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly description: string | null;
  /** `syntax`: `lark` or `regex`; null: any text. */
  readonly grammar: { readonly syntax: string; readonly definition: string } | null;
  readonly extensions?: Extensions | undefined;
}

/** Run by the provider. */
export interface HostedTool {
  readonly type: 'hosted';
  readonly kind: 'web-search' | 'code' | 'fetch' | 'image' | 'other';
  readonly protocol: TextProtocolName;
  /** Its type or name as the client wrote it. */
  readonly name: string;
  /** The whole entry. */
  readonly value: unknown;
}

export interface ToolChoice {
  /** `required`: some tool must be called. */
  readonly mode: 'auto' | 'none' | 'required';
  /** Only these names; null: any. One name with `required` is "this tool". */
  readonly only: readonly string[] | null;
}

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'schema';
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** The least effort first. */
export const reasoningEfforts = Object.freeze([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const);

export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface ReasoningRequest {
  /** `off` was asked for; `on` with neither effort nor budget leaves the amount to the model. */
  readonly mode: 'on' | 'off';
  readonly effort: ReasoningEffort | null;
  /** Tokens. */
  readonly budget: number | null;
  /** Whether the reasoning or its summary may be shown. Null: the client did not say. */
  readonly show: boolean | null;
}
