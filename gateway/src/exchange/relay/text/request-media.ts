import { fetchWanted, type FoundMedia, type WantedMedia } from '#conversion/index.ts';
import { askedMedia, fetchingMedia } from '../attempts/fetch-media.ts';
import type { TextInput } from './input.ts';
import type { TextParts } from './parts.ts';

/** The media of one request that some of its upstreams take only as bytes; fetched once for all of them. */
export class RequestMedia {
  /** Empty while a thread has them. */
  found: FoundMedia = new Map();
  /** Of all that were fetched. */
  bytes = 0;
  readonly #parts: Pick<TextParts, 'fetchMedia' | 'codecs' | 'ticker'>;
  readonly #input: TextInput;

  constructor(parts: Pick<TextParts, 'fetchMedia' | 'codecs' | 'ticker'>, input: TextInput) {
    this.#parts = parts;
    this.#input = input;
  }

  /** @throws GatewayError, ClientGone */
  async fetch(wanted: readonly WantedMedia[]): Promise<void> {
    const { fieldName } = this.#parts.codecs[this.#input.protocol];
    const fetched = await fetchingMedia(this.#parts, this.#input, askedMedia, (fetchMedia) =>
      fetchWanted(wanted, this.bytes, fetchMedia, fieldName),
    );
    for (const { bytes } of fetched.values()) this.bytes += bytes.length;
    this.found = new Map([...this.found, ...fetched]);
  }

  forget(): void {
    this.found = new Map();
  }
}
