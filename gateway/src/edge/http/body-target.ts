import type { Readable } from 'node:stream';
import {
  type BodyClaim,
  CollectedBody,
  joinInTurns,
  type PieceReader,
  type Spool,
  type SpooledBody,
  type SpoolSpace,
  UploadedBody,
} from '#bodies/index.ts';
import { GatewayError } from '#errors/index.ts';

/** Where a request's body goes as it arrives. */
export interface BodyTarget {
  /** Takes the next bytes. Returns why there is no room for them; null: there is. */
  add(chunk: Buffer): GatewayError | null;
  /** Called when the body is whole, instead of `forget`. Gets no reply if the client has left. */
  end(done: (error: GatewayError | null, body?: Buffer | UploadedBody) => void): void;
  /** Drops what there is of a body that is no longer needed. */
  forget(): void;
}

/** In bytes: copying a larger body at once would hold up everybody else. */
const joinedInTurns = 8 * 1024 * 1024;

/** A body that becomes one buffer. */
export class MemoryTarget implements BodyTarget {
  readonly #claim: BodyClaim | null;
  readonly #limit: number;
  /** Bytes for which memory is claimed. */
  #roomFor: number;
  #body = new CollectedBody();

  constructor(claim: BodyClaim | null, expectedBytes: number, limit: number) {
    this.#claim = claim;
    this.#roomFor = expectedBytes;
    this.#limit = limit;
  }

  add(chunk: Buffer): GatewayError | null {
    this.#body.add(chunk);
    const { length } = this.#body;
    if (length <= this.#roomFor) return null;
    this.#roomFor = Math.min(2 * length, this.#limit);
    // Two bodies that each hold what the other waits for would both wait in vain and block everybody else.
    const claim = this.#claim;
    return claim === null || claim.tryBody(this.#roomFor) ? null : claim.refuse();
  }

  end(done: Parameters<BodyTarget['end']>[0]): void {
    const body = this.#body;
    // Listeners of the request keep this target alive, and would keep the bytes.
    this.#body = new CollectedBody();
    const { length } = body;
    if (length < this.#roomFor) this.#claim?.tryBody(length);
    if (length < joinedInTurns) done(null, body.bytes());
    else void this.#join(body.pieces(), done);
  }

  async #join(pieces: readonly Buffer[], done: Parameters<BodyTarget['end']>[0]): Promise<void> {
    const body = await joinInTurns(pieces);
    // The client has left.
    if (this.#claim?.isReleased !== true) done(null, body);
  }

  forget(): void {
    this.#body = new CollectedBody();
  }
}

/** A body that is read as it arrives, and kept in the spool until its claim is released. */
export class SpoolTarget implements BodyTarget {
  readonly #source: Readable;
  readonly #reader: PieceReader;
  readonly #claim: BodyClaim;
  readonly #space: SpoolSpace;
  readonly #body: SpooledBody;

  /**
   * @param source pauses while its bytes come faster than they can be stored
   * @returns null if the spool has no room for these bytes
   */
  static open(
    source: Readable,
    reader: PieceReader,
    spool: Spool,
    claim: BodyClaim,
    bytes: number,
  ): SpoolTarget | null {
    const space = spool.reserve(bytes, { keyId: claim.key.id, of: 'request' });
    return space === null ? null : new SpoolTarget(source, reader, claim, space);
  }

  private constructor(source: Readable, reader: PieceReader, claim: BodyClaim, space: SpoolSpace) {
    this.#source = source;
    this.#reader = reader;
    this.#claim = claim;
    this.#space = space;
    this.#body = space.open();
    this.#body.onDrain = () => source.resume();
    claim.tie(space);
  }

  add(chunk: Buffer): GatewayError | null {
    this.#reader.add(chunk);
    if (!this.#body.add(chunk)) this.#source.pause();
    return this.#body.failure === null ? null : noRoom();
  }

  end(done: Parameters<BodyTarget['end']>[0]): void {
    this.#claim.tryBody(this.#reader.keptBytes);
    void this.#seal(done);
  }

  async #seal(done: Parameters<BodyTarget['end']>[0]): Promise<void> {
    let failure: unknown = null;
    try {
      await this.#body.seal();
    } catch (cause) {
      failure = cause;
    }
    // The client has left, and its body is gone.
    if (this.#claim.isReleased) return;
    if (failure === null) {
      done(null, new UploadedBody(this.#reader, this.#space, this.#body));
      return;
    }
    this.#claim.release();
    done(noRoom(failure));
  }

  forget(): void {}
}

/** The spool has no room, or its disk cannot be written: both may be over soon. */
export function noRoom(cause?: unknown): GatewayError {
  return new GatewayError('overloaded', { retryAfter: 1, cause });
}
