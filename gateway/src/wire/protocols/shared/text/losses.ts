import {
  type Extension,
  type Extensions,
  type GenerationRequest,
  LossList,
  type LossName,
  type TextProtocolName,
  Unconvertible,
  type KnownLoss,
} from '#canonical/index.ts';

/** Advice for members that cannot simply be left out. */
const adviceFor: Readonly<Record<string, string | undefined>> = {
  // What the AI SDK sends in the second step, unless its `store` is false.
  item_reference: 'please send the item itself, as clients do with store: false',
};

/** Settings of a request that are one value, by the name of their loss. */
const settings = Object.freeze({
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  seed: 'seed',
  verbosity: 'verbosity',
  cache_key: 'cacheKey',
  user: 'endUser',
} satisfies Partial<Record<LossName, keyof GenerationRequest>>);

/** Collects what is lost while one request is encoded, each loss once. */
export class Losses extends LossList {
  readonly #protocol: TextProtocolName;

  /** @param protocol the upstream's: extensions of its own clients are not lost */
  constructor(protocol: TextProtocolName) {
    super();
    this.#protocol = protocol;
  }

  /** Drops those of the named settings that the request has. */
  withoutSettings(request: GenerationRequest, ...names: readonly (keyof typeof settings)[]): void {
    for (const name of names) if (request[settings[name]] !== null) this.dropped(name);
  }

  /**
   * Notes the extensions of other protocols' clients.
   * @throws Unconvertible for an extension without which the response would be a different one
   */
  foreign(extensions: Extensions | undefined): void {
    if (extensions === undefined) return;
    for (const { protocol, name, ifForeign } of extensions) {
      if (protocol !== this.#protocol) this.ofClient(name, ifForeign);
    }
  }

  /** Notes an extension of another protocol's client. @throws Unconvertible */
  ofClient(name: string, ifForeign: Extension['ifForeign']): void {
    if (ifForeign === 'refuse') {
      throw Unconvertible.ofClient(name, unavailable(`'${name}'`, adviceFor[name]));
    }
    if (ifForeign === 'drop') this.add(name, 'dropped');
    if (ifForeign === 'approximate') this.add(name, 'approximated');
  }
}

export function notAvailable(what: LossName, thing: string): Unconvertible {
  return new Unconvertible(what, unavailable(thing));
}

function unavailable(thing: string, advice = 'please leave it out'): string {
  return `${thing} is not available with this model, ${advice}`;
}

/** The name of each possible loss for clients of one protocol: the member that they would have to change. */
type FieldNames = Readonly<Record<KnownLoss, string>>;

/**
 * @param otherwise names losses outside the table: a hosted tool (`tools.web_search`), or a member that only the
 *   client's own protocol has and that already goes by the client's name
 */
export function createFieldName(
  names: FieldNames,
  otherwise: (what: string) => string = (what) => what,
): (what: string) => string {
  return (what) => (Object.hasOwn(names, what) ? names[what as KnownLoss] : otherwise(what));
}
