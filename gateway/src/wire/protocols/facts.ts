/** What others have to know of a protocol of text. Its own folder states it, so that nobody asks for its name. */
export interface TextFacts {
  /** Where a request has the limit of its output. */
  readonly outputLimit: {
    /** The members, the usual one first. */
    readonly names: readonly string[];
    /** The members of the request that may hold them, the usual one first. Empty: the request itself. */
    readonly holders: readonly string[];
  };
  /** The member with the number in a token count: `{"input_tokens":7}`. */
  readonly countMember: string;
  /** A complete response may come without its usage. */
  readonly usageIsOptional: boolean;
  /** A response may end in a pause, which the client continues. */
  readonly hasPauses: boolean;
  /** What responses can express besides text, reasoning and calls. */
  readonly expresses: {
    readonly citations: boolean;
    readonly logprobs: boolean;
    readonly candidates: boolean;
    /** If false, Markdown shows the image. */
    readonly image: boolean;
    readonly media: boolean;
  };
  readonly state: {
    /** Clients keep opaque state as bytes, and return them as Base64 of either alphabet. */
    readonly isBytes: boolean;
    /** Models put state on their texts. */
    readonly signsTexts: boolean;
    /** A signature of reasoning goes back only with the exact text that it signs. */
    readonly signsReasoning: boolean;
    /** Where a response without a signature gets an empty one. Null: nowhere. */
    readonly emptySignature: 'thought' | 'first call' | null;
    /** Upstreams look up an item of reasoning by its id if it comes without its state. */
    readonly isLookedUp: boolean;
  };
  /** Later requests may name the items of a response, which the gateway remembers of converted ones. */
  readonly hasItems: boolean;
  /** Service tiers, caches and storage have the names that other protocols of its vendor use. */
  readonly sharesTiers: boolean;
  /** Headers that upstreams require, for clients that sent none of that name. */
  readonly requiredHeaders: Readonly<Record<string, string>>;
  /** JSON mode is refused unless a message contains the word. */
  readonly wantsJsonWord: boolean;
  /** Instructions may come without a conversation. */
  readonly takesLoneInstructions: boolean;
  /** The encoder of requests knows where instructions between the turns go. */
  readonly placesSystemTurns: boolean;
  /** Small faults of requests are repaired, also in converted ones. */
  readonly isRepaired: boolean;
  /** Clients that enable reasoning see it unless they opt out. */
  readonly showsReasoning: boolean;
  /** Clients put the session into the end user's name, and have no key of a cache. */
  readonly namesSessions: boolean;
}
