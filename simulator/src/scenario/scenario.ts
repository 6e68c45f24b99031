/** The whole response to one request, before a protocol shapes it. */
export interface Scenario {
  readonly model: string;
  readonly identity: string;
  readonly choices: readonly Choice[];
  /** Absent only for a fault without usage. */
  readonly usage: Usage | null;
}

export interface Choice {
  readonly reasoning: Reasoning | null;
  /** The pieces in which the response is streamed. */
  readonly text: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly stop: Stop;
  readonly stopSequence: string | null;
}

export interface Reasoning {
  readonly pieces: readonly string[];
  /** Identifies this reasoning. Signatures are made over it. */
  readonly nonce: string;
}

export interface ToolCall {
  /** Hex, without the vendor's prefix. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'function' | 'custom';
  /** JSON text (free text for a custom tool); invalid JSON when the length limit cut it. */
  readonly pieces: readonly string[];
}

/** `refusal`: the model declines. `filter`: a safety filter stops the request or the response. */
export type Stop = 'end' | 'length' | 'tools' | 'refusal' | 'filter' | 'sequence';

/** Disjoint counts. Each protocol adds them up in its own way. */
export interface Usage {
  readonly freshInput: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** Visible output: text and tool calls. */
  readonly visibleOutput: number;
  readonly reasoning: number;
}

/** How a fault changes the response itself, rather than its delivery. */
export interface Shape {
  /** Stream exactly this many content events. */
  readonly events?: number;
  /** Size of the response's text. */
  readonly textBytes?: number;
  /** Size of one extra-large content event. */
  readonly bigEvent?: number;
  readonly usage?: UsageFault;
  readonly images?: ImageShape;
}

/** How a fault changes pictures and what is said of them. */
export interface ImageShape {
  /** The size of each file, and so of the response. */
  readonly bytes?: number;
  /** Of every picture, whatever was requested; `missing`: no size is stated. */
  readonly size?: Dimensions | 'missing';
  /** The stated number of references. */
  readonly inputImages?: number;
  /** Ends a stream with `[DONE]` although this vendor does not. */
  readonly done?: boolean;
  /** The entries of a decomposition have no `z_index`. */
  readonly noDepth?: boolean;
  /** The name of the last event is `….complete`. */
  readonly literalEvents?: boolean;
  /** The fault of the addresses of pictures, as in a path. */
  readonly urlFault?: string;
}

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

export const usageFaults = ['missing', 'zero', 'absurd', 'negative'] as const;
export type UsageFault = (typeof usageFaults)[number];
