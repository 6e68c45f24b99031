/** A request as it is about to be sent. */
export interface UnsignedRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces may be read once more for the sending. */
  readonly body: Buffer | { readonly length: number; read(): AsyncIterable<Buffer> } | null;
}

/** What a secret is exchanged for. */
export interface Token {
  readonly value: string;
  /** Unix milliseconds; it is renewed a little earlier. */
  readonly expiresAt: number;
}

/** A token is not used any more when it is about to expire: the request has to arrive in time. */
const marginMs = 30_000;

/** Tokens of one vendor, by secret. All requests that need a new one at the same time wait for one renewal. */
export class Tokens {
  readonly #renewals = new Map<string, Promise<Token>>();

  /**
   * The token of a secret.
   * @param renew exchanges the secret for a new token
   * @throws what `renew` throws, to everyone who waits for it; the next request tries again
   */
  async of(secret: string, renew: (secret: string) => Promise<Token>): Promise<string> {
    const earlier = this.#renewals.get(secret);
    if (earlier !== undefined) {
      const token = await earlier;
      if (token.expiresAt - marginMs > Date.now()) return token.value;
      // Another request may have begun to renew it meanwhile.
      if (this.#renewals.get(secret) === earlier) this.#renewals.delete(secret);
      return this.of(secret, renew);
    }
    const renewal = renew(secret);
    this.#renewals.set(secret, renewal);
    try {
      return (await renewal).value;
    } catch (error) {
      if (this.#renewals.get(secret) === renewal) this.#renewals.delete(secret);
      throw error;
    }
  }

  /** The next request gets a new token: the upstream has refused this one. */
  forget(secret: string): void {
    this.#renewals.delete(secret);
  }
}

/** How a vendor signs requests whose headers cannot be written at once. */
export interface Signing {
  /**
   * Headers that depend on the whole request, or on a token that must be fetched first. They replace those of the same name.
   * Absent: the request is sent at once, with the headers of the credential.
   * @throws Error if the request cannot be signed: it is not sent, and another channel may be tried
   */
  sign?(
    request: UnsignedRequest,
    secret: string | null,
    tokens: Tokens,
  ): Promise<Readonly<Record<string, string>>>;
  /** Sees the status of each response to a signed request: it may forget a token that was refused. Absent: it need not. */
  onResponse?(status: number, secret: string | null, tokens: Tokens): void;
}

/** The same for one credential. */
export interface Signer {
  sign(request: UnsignedRequest): Promise<Readonly<Record<string, string>>>;
  onResponse(status: number): void;
}

/** By vendor: channels with one secret share its tokens. */
const tokensOf = new WeakMap<Signing, Tokens>();

/** Undefined for a vendor that does not sign. */
export function signerOf(vendor: Signing, secret: string | null): Signer | undefined {
  if (vendor.sign === undefined) return undefined;
  const tokens = tokensOf.get(vendor) ?? new Tokens();
  tokensOf.set(vendor, tokens);
  return {
    sign: (request) => vendor.sign!(request, secret, tokens),
    onResponse: (status) => vendor.onResponse?.(status, secret, tokens),
  };
}
