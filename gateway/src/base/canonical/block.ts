import type { Extensions } from './extension.ts';
import type { TextProtocolName } from './protocol-name.ts';

/**
 * Pieces of a conversation. A block of a type that a codec does not know is carried as `opaque`, never thrown on.
 * All of this is plain frozen-by-convention data: passes copy what they change.
 */
export type Block =
  | TextBlock
  | ImageBlock
  | FileBlock
  | AudioBlock
  | VideoBlock
  | ReasoningBlock
  | ToolCallBlock
  | ToolResultBlock
  | RefusalBlock
  | OpaqueBlock;

interface Base {
  /** A prompt cache may end after this block. `ttl` as its protocol writes it (`5m`, `1h`), null for the default. */
  readonly cache?: { readonly ttl: string | null } | undefined;
  /**
   * Opaque state that its maker demands back on this very block: generate-content's `thoughtSignature`, which may
   * sit on a text, a call or an empty thought.
   */
  readonly state?: NativeState | undefined;
  readonly extensions?: Extensions | undefined;
}

export interface TextBlock extends Base {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[] | undefined;
  /** It rests on something, too, that only its vendor can point to, such as a file of the request. */
  readonly citesOwn?: true | undefined;
  readonly logprobs?: readonly TokenLogprob[] | undefined;
}

export interface ImageBlock extends Base {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: string | undefined;
}

export interface FileBlock extends Base {
  readonly type: 'file';
  /** A text source (`text/plain` written out) is `data` with its text in base64. */
  readonly source: MediaSource;
  readonly filename?: string | undefined;
}

export interface AudioBlock extends Base {
  readonly type: 'audio';
  readonly source: MediaSource;
}

export interface VideoBlock extends Base {
  readonly type: 'video';
  readonly source: MediaSource;
}

export type MediaSource =
  | { readonly kind: 'data'; readonly mime: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string; readonly mime: string | null }
  /** A file kept by one provider: nobody else can read it. */
  | { readonly kind: 'file-id'; readonly protocol: TextProtocolName; readonly id: string };

export interface ReasoningBlock extends Base {
  readonly type: 'reasoning';
  /** What may be shown; empty when there is only state. */
  readonly text: string;
  /** A summary of the thoughts rather than the thoughts themselves, where the protocol tells the two apart. */
  readonly summary?: boolean | undefined;
}

/** Reasoning state that must come back to its maker unchanged and means nothing to anybody else. */
export interface NativeState {
  readonly protocol: TextProtocolName;
  /** `signature`, `redacted` (messages), `encrypted` (responses), `thought-signature` (generate-content), `envelope`: ours. */
  readonly kind: 'signature' | 'redacted' | 'encrypted' | 'thought-signature' | 'envelope';
  readonly data: string;
  /** The item's own id where it has one (responses). */
  readonly id?: string | undefined;
}

export interface ToolCallBlock extends Base {
  readonly type: 'tool-call';
  /** Null where the protocol gives calls no ids; a pass mints one before anything is encoded. */
  readonly id: string | null;
  readonly name: string;
  /** Responses puts tools into namespaces. */
  readonly namespace?: string | undefined;
  /** `function`: arguments are JSON text of an object. `custom`: free text. */
  readonly kind: 'function' | 'custom';
  /** As the model produced it, where it produced text; of an object, its JSON in the same order. */
  readonly arguments: string;
}

export interface ToolResultBlock extends Base {
  readonly type: 'tool-result';
  /** The call it answers; null where the protocol matches by name and order. */
  readonly id: string | null;
  /** Null where the protocol does not repeat it. */
  readonly name: string | null;
  /** Which kind of call it answers, when the protocol says so. */
  readonly kind?: 'function' | 'custom' | undefined;
  readonly content: readonly Block[];
  /** The result as the object its protocol carried, when it was one (generate-content). */
  readonly object?: Readonly<Record<string, unknown>> | undefined;
  readonly isError: boolean;
}

export interface RefusalBlock extends Base {
  readonly type: 'refusal';
  readonly text: string;
}

/** A block that only its own protocol understands. */
export interface OpaqueBlock extends Base {
  readonly type: 'opaque';
  readonly protocol: TextProtocolName;
  /** The block's type as its protocol writes it, for the loss that is reported. */
  readonly name: string;
  readonly value: unknown;
  readonly ifForeign: 'drop' | 'ignore' | 'refuse';
  /** What it says in words, when another protocol can at least be given that. */
  readonly text?: string | undefined;
}

/** A web page that the text rests on; offsets count UTF-16 units in the block's text. */
export interface Citation {
  readonly url: string;
  readonly title: string | null;
  readonly start: number | null;
  readonly end: number | null;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly top: readonly {
    readonly token: string;
    readonly logprob: number;
    readonly bytes: readonly number[] | null;
  }[];
}
