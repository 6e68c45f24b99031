import type { ClientResponse } from '../../exchange/client-response.ts';

/** Takes the item of a picture in place of a client. A picture comes in one piece. */
export class CollectedItem implements ClientResponse {
  item: Buffer | null = null;
  headSent = false;
  readonly failedWith = null;
  readonly #client: Pick<ClientResponse, 'disconnected' | 'halfClosed'>;

  /** @param client the one that waits for the whole response */
  constructor(client: Pick<ClientResponse, 'disconnected' | 'halfClosed'>) {
    this.#client = client;
  }

  get disconnected(): boolean {
    return this.#client.disconnected;
  }

  get halfClosed(): boolean {
    return this.#client.halfClosed;
  }

  /** Not called: a picture has no deadline of the client's own. */
  fail(): void {}

  start(): void {
    this.headSent = true;
  }

  write(): boolean {
    throw new TypeError('the item of a picture comes in one piece');
  }

  end(bytes?: Buffer | string): void {
    if (bytes !== undefined) this.item = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  }

  /** Nobody listens: a picture that has been asked for is read to its end. */
  onDisconnect(): void {}

  /** Nothing is ever held up. */
  onDrain(): void {}
}
