import type { TextProtocolName } from './protocol-name.ts';

/**
 * Something that only one protocol understands. An upstream of the same protocol gets it unchanged; every other one
 * reports it as a loss.
 */
export interface Extension {
  /** Whose it is. An encoder reads its own and reports the others. */
  readonly protocol: TextProtocolName;
  /** Its name as a client of that protocol writes it, from the object it sits in: `logit_bias`, `cachedContent`. */
  readonly name: string;
  readonly value: unknown;
  /**
   * What another protocol does with it. `drop`: leaves out something the caller may have meant and reports the loss.
   * `approximate`: carries its meaning in another way, and reports that.
   * `ignore`: leaves out something the response does not depend on, without a report. `refuse`: leaving it out would
   * change the response materially.
   */
  readonly ifForeign: 'drop' | 'approximate' | 'ignore' | 'refuse';
}

export type Extensions = readonly Extension[];

export const noExtensions: Extensions = Object.freeze([]);

/**
 * Pieces of a conversation. A block of a type that a codec does not know is carried as `opaque`; no codec throws on it.
 * All of this is plain data that nobody mutates: passes copy what they change.
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
   * Opaque state that the vendor requires back on this very block: generate-content's `thoughtSignature`, which may sit
   * on a text, a call or an empty thought.
   */
  readonly state?: NativeState | undefined;
  readonly extensions?: Extensions | undefined;
}

export interface TextBlock extends Base {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[] | undefined;
  /** The text also cites something that only its vendor can resolve, such as a file of the request. */
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
  | {
      readonly kind: 'data';
      readonly mime: string;
      readonly base64: string;
      /** The client wrote it in another form: in lines, or as a data URL where base64 belongs. */
      readonly repaired?: true | undefined;
    }
  | { readonly kind: 'url'; readonly url: string; readonly mime: string | null }
  /** A file stored by one provider; no other provider can read it. */
  | { readonly kind: 'file-id'; readonly protocol: TextProtocolName; readonly id: string };

export interface ReasoningBlock extends Base {
  readonly type: 'reasoning';
  /** The text that may be shown; empty when the block holds only state. */
  readonly text: string;
  /** A summary of the reasoning rather than the reasoning itself, where the protocol distinguishes the two. */
  readonly summary?: boolean | undefined;
}

/** Reasoning state that must return unchanged to the vendor that issued it; opaque to everybody else. */
export interface NativeState {
  readonly protocol: TextProtocolName;
  /**
   * `signature`, `redacted` (messages), `encrypted` (responses), `thought-signature` (generate-content), `reasoning-content`
   * (chat: the text itself is the state, as its maker wrote it), `envelope`: ours.
   */
  readonly kind:
    | 'signature'
    | 'redacted'
    | 'encrypted'
    | 'thought-signature'
    | 'reasoning-content'
    | 'envelope';
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
  /** The text that the model produced. If the protocol carries an object, its JSON in the same order. */
  readonly arguments: string;
  /** As in `FunctionTool`. */
  readonly item?: ClientItem | undefined;
}

export interface ToolResultBlock extends Base {
  readonly type: 'tool-result';
  /** The call it answers; null where the protocol matches by name and order. */
  readonly id: string | null;
  /** Null where the protocol does not repeat it. */
  readonly name: string | null;
  /** The kind of call it answers, if the protocol names it. */
  readonly kind?: 'function' | 'custom' | undefined;
  readonly content: readonly Block[];
  /** The result as an object, if the protocol carried one (generate-content). */
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
  /** A text that another protocol can be given instead. */
  readonly text?: string | undefined;
}

/** A web page that supports the text. Offsets count UTF-16 units in the block's text. */
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

/** The kind of item as which a client of Responses reads the calls of a tool with a type of its own. */
export type ClientItem =
  | 'shell_call'
  | 'local_shell_call'
  | 'apply_patch_call'
  | 'computer_call'
  | 'tool_search_call';

/** Whether a block is an image, a file or a recording. */
export function isMedia({ type }: Block): boolean {
  return type === 'image' || type === 'file' || type === 'audio' || type === 'video';
}
