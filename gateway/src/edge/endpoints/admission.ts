import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { BodyClaim, BodyMemory } from '#bodies/index.ts';
import type { Admission, Waiting } from '#relay/index.ts';
import { callerOf } from './caller-of.ts';
import type { KeyPlaces } from './key-places.ts';

/** What a request takes of this process before its body is read. */
export interface AdmissionParts {
  readonly admission: Admission;
  readonly keyPlaces: KeyPlaces;
  readonly memory: BodyMemory;
}

/**
 * A request's place among those under way, with the memory for its body: kept until its answer is out and all that holds
 * it has let go.
 */
export class Place {
  readonly #parts: AdmissionParts;
  /** Null for one that `keyPlaces` does not count. */
  readonly #keyId: string | null;
  readonly #claim: BodyClaim;
  #holders = 1;
  #onLeave: (() => void) | null = null;

  constructor(parts: AdmissionParts, keyId: string | null, claim: BodyClaim) {
    this.#parts = parts;
    this.#keyId = keyId;
    this.#claim = claim;
  }

  /** Nothing happens when it has been given back: its client was gone before. */
  hold(): void {
    if (this.#holders > 0) this.#holders += 1;
  }

  release(): void {
    if (this.#holders === 0) return;
    this.#holders -= 1;
    if (this.#holders > 0) return;
    const { admission, keyPlaces } = this.#parts;
    this.#claim.release();
    if (this.#keyId !== null) keyPlaces.leave(this.#keyId);
    admission.leave();
    this.#onLeave?.();
  }

  /** At most one listener; called once, also when the place has been given back already. */
  onLeave(listener: () => void): void {
    if (this.#holders === 0) listener();
    else this.#onLeave = listener;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on endpoints whose requests are not counted. */
    place: Place | null;
  }
}

/**
 * The hook that lets a request in, lets it wait or refuses it, before anything of its body is read. For the
 * endpoints that ask an upstream, after authentication.
 */
export function createAdmissionHook(parts: AdmissionParts): onRequestHookHandler {
  const { admission, keyPlaces } = parts;
  return function admit(request, reply, done) {
    const caller = callerOf(request);
    const keyId = boundedKeyOf(caller);
    // Before the queue, which no key may fill either.
    if (keyId !== null && !keyPlaces.tryEnter(keyId)) {
      done(new GatewayError('rate_limited', { retryAfter: 1 }));
      return;
    }
    const isLarge = mayBeLarge(request.raw.headers);
    if (admission.tryEnter(isLarge)) {
      takePlace(parts, keyId, request, reply);
      done();
      return;
    }
    const { raw } = reply;
    const { socket } = request.raw;
    // Perhaps only its sending side is closed. It is told to come again rather than given an upstream's work
    // that nobody may want any more: what waits is not worth finding out about.
    const giveUp = (): void => waiting.giveUp();
    const told = (refusal: GatewayError | null): void => {
      raw.off('close', giveUp);
      socket.off('end', giveUp);
      if (refusal === null) takePlace(parts, keyId, request, reply);
      else if (keyId !== null) keyPlaces.leave(keyId);
      done(refusal ?? undefined);
    };
    let waiting: Waiting;
    try {
      waiting = admission.wait(isLarge, told);
    } catch (error) {
      if (keyId !== null) keyPlaces.leave(keyId);
      throw error;
    }
    raw.once('close', giveUp);
    socket.once('end', giveUp);
  };
}

/** Bytes. From here on a body may be converted in a thread, which competes with this one for the machine. */
const largeBody = 256 * 1024;

/** What a body becomes is not known before it is read, unless it declares its length and comes as it is. */
function mayBeLarge(headers: IncomingHttpHeaders): boolean {
  const length = Number(headers['content-length']);
  return !(length < largeBody) || (headers['content-encoding'] ?? 'identity') !== 'identity';
}

/** Null for a key with a bound of its own, be it larger. */
function boundedKeyOf({ keyId, maxConcurrency }: Caller): string | null {
  return maxConcurrency === null ? keyId : null;
}

function takePlace(
  parts: AdmissionParts,
  keyId: string | null,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const claim = parts.memory.open(callerOf(request).keyId);
  const place = new Place(parts, keyId, claim);
  request.bodyClaim = claim;
  request.place = place;
  const { raw } = reply;
  const { socket } = request.raw;
  let isOut = false;
  const leave = (): void => {
    if (!isOut) place.release();
    isOut = true;
  };
  raw.on('close', leave);
  // An answer that waits behind another one on its connection hears nothing of the connection's end.
  if (raw.socket === null) {
    socket.once('close', leave);
    raw.once('close', () => socket.off('close', leave));
  }
  if (raw.destroyed || socket.destroyed) leave();
}
