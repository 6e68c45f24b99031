/**
 * The parts of a price per token: the name of each in code, and its name in files, receipts and APIs. The order is that
 * of stored prices, whose text decides their identity, so a new part goes at the end.
 */
export const tokenParts = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  output: 'output',
  inputImage: 'input_image',
  outputImage: 'output_image',
  inputAudio: 'input_audio',
  cacheReadAudio: 'cache_read_audio',
  outputAudio: 'output_audio',
  cacheReadImage: 'cache_read_image',
} as const;

export type TokenPart = keyof typeof tokenParts;

export const tokenPartNames = Object.keys(tokenParts) as readonly TokenPart[];

/** The parts for tokens that are not text. */
export const apartParts = [
  'inputImage',
  'inputAudio',
  'cacheReadImage',
  'cacheReadAudio',
  'outputImage',
  'outputAudio',
] as const satisfies readonly TokenPart[];

export type ApartPart = (typeof apartParts)[number];

/**
 * Token counts in normal form: the parts are disjoint, so a price can be applied to each and nothing is
 * counted twice. All are integers ≥ 0.
 *
 * - `input` excludes everything read from or written to a prompt cache.
 * - `output` includes `reasoning`, which is named beside it for information only.
 */
export interface TokenCounts {
  readonly input: number;
  readonly cacheRead: number;
  /** Written with the short lifetime (5 or 30 minutes), or with a lifetime the provider does not name. */
  readonly cacheWrite: number;
  /** Written with the long lifetime: one hour in messages, twelve in responses. */
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noTokens: TokenCounts = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
});

/** Token counts, and what of them is not text. */
export interface TokenUsage extends TokenCounts, ApartTokens {}

/**
 * Tokens that are not text, where an upstream counts them apart. Each is a part of the count with the beginning of its
 * name: `inputAudio` of `input`, `cacheReadAudio` of `cacheRead`. Absent: none.
 */
export type ApartTokens = { readonly [Part in ApartPart]?: number };

/** Usage as an upstream reported it; `null` where it reported none. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  /** Some counts are larger than any response's. */
  readonly implausible: boolean;
  /** What the upstream did not report, or not as counts: `tokens` has no more than a part of it. Absent: nothing. */
  readonly missingSide?: 'input' | 'output' | 'both';
  /**
   * Something else than a count was in the place of one, or an earlier report was larger, and `tokens` has that one.
   * Absent: no.
   */
  readonly isDoubtful?: boolean;
  /** What the upstream's total counts beyond all parts that it named. Absent: nothing. */
  readonly unnamed?: number;
  /** Absent: nothing that affects a price was reported. */
  readonly surcharges?: Surcharges;
  /** The samplings whose sum `tokens` is, where the upstream reports them apart. Absent: it does not. */
  readonly iterations?: readonly Iteration[];
  /** Counters that nothing reads, by the paths of their members. Absent: none. */
  readonly unread?: readonly string[];
}

/** Whether a report has nothing but counters that nothing reads. */
export function saysNothing({
  tokens,
  missingSide,
  isDoubtful,
  implausible,
}: ReportedUsage): boolean {
  return (
    missingSide === 'both' &&
    isDoubtful !== true &&
    !implausible &&
    Object.values(tokens).every((count) => count === 0)
  );
}

/** One sampling of a response that has several: between server tools, of a compaction, by another model. */
export interface Iteration {
  readonly tokens: TokenUsage;
  /** Another model than the requested one made it, by a name that a receipt can have. Absent: the requested one. */
  readonly model?: string;
}

/** Whether a side of the usage is missing, or a part of it. */
export function lacks({ missingSide }: ReportedUsage, side: 'input' | 'output'): boolean {
  return missingSide === side || missingSide === 'both';
}

/** What a response reports besides tokens that affects its price. */
export interface Surcharges {
  /**
   * Terms the response was served on, each a field and its value: `service_tier.priority`, `speed.fast`,
   * `inference_geo.us`. Lower case, one per field.
   */
  readonly reported: readonly string[];
  /** Searches that the provider made. */
  readonly webSearches: number;
  /** Tokens that the provider's image tool used beside those of the model. Absent: none. */
  readonly imageTokens?: number;
}

/** All tokens that a request took, from wherever they were read. */
export function inputSum({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}
