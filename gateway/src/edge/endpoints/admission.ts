import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { BodyClaim, BodyMemory } from '#bodies/index.ts';
import type { ConcurrencyGate, Waiting } from '#relay/index.ts';
import { callerOf } from './authentication.ts';

/** The resources of this process that a request takes before its body is read. */
export interface AdmissionOptions {
  readonly gate: ConcurrencyGate;
  readonly memory: BodyMemory;
  /** Concurrent requests of a key without its own limit. */
  readonly keyConcurrency: number;
}

interface AdmissionParts {
  readonly gate: ConcurrencyGate;
  readonly memory: BodyMemory;
  readonly keySlots: KeySlots;
}

/**
 * A request's slot among those in flight, with the memory for its body. It is kept until the response is sent and
 * everything that holds it has released it.
 */
export class InFlightSlot {
  readonly #parts: AdmissionParts;
  /** Null for a key that `keySlots` does not count. */
  readonly #keyId: string | null;
  readonly #claim: BodyClaim;
  #holders = 1;
  #onDisconnect: (() => void) | null = null;

  constructor(parts: AdmissionParts, keyId: string | null, claim: BodyClaim) {
    this.#parts = parts;
    this.#keyId = keyId;
    this.#claim = claim;
  }

  /** Does nothing if the slot was already released because the client disconnected. */
  hold(): void {
    if (this.#holders > 0) this.#holders += 1;
  }

  release(): void {
    if (this.#holders === 0) return;
    this.#holders -= 1;
    if (this.#holders > 0) return;
    const { gate, keySlots } = this.#parts;
    this.#claim.release();
    if (this.#keyId !== null) keySlots.leave(this.#keyId);
    gate.leave();
    this.#onDisconnect?.();
  }

  /** At most one listener; called once, at once if the slot is already released. */
  onDisconnect(listener: () => void): void {
    if (this.#holders === 0) listener();
    else this.#onDisconnect = listener;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on endpoints whose requests are not counted. */
    slot: InFlightSlot | null;
  }
}

/**
 * The hook that admits, queues or refuses a request before anything of its body is read. For endpoints that call an
 * upstream, after authentication.
 */
export function createAdmissionHook(options: AdmissionOptions): onRequestHookHandler {
  const { gate, memory, keyConcurrency } = options;
  const keySlots = createKeySlots(keyConcurrency);
  const parts: AdmissionParts = { gate, memory, keySlots };
  return function admit(request, reply, done) {
    const caller = callerOf(request);
    // Not for a key with its own limit, even a larger one.
    const keyId = caller.maxConcurrency === null ? caller.keyId : null;
    // Before the queue, because no key may fill the queue either.
    if (keyId !== null && !keySlots.tryEnter(keyId)) {
      done(new GatewayError('rate_limited', { retryAfter: 1 }));
      return;
    }
    const isLarge = mayReach(request.raw.headers, heavyBody);
    if (gate.tryEnter(isLarge)) {
      takeSlot(parts, keyId, request, reply);
      done();
      return;
    }
    const { raw } = reply;
    const { socket } = request.raw;
    // Perhaps only the sending side is closed. The client is asked to retry rather than given an upstream call that
    // may no longer be wanted; a queued request is not worth probing.
    const giveUp = (): void => waiting.giveUp();
    const onDecision = (refusal: GatewayError | null): void => {
      raw.off('close', giveUp);
      socket.off('end', giveUp);
      if (refusal === null) takeSlot(parts, keyId, request, reply);
      else if (keyId !== null) keySlots.leave(keyId);
      done(refusal ?? undefined);
    };
    let waiting: Waiting;
    try {
      waiting = gate.wait(isLarge, onDecision);
    } catch (error) {
      if (keyId !== null) keySlots.leave(keyId);
      throw error;
    }
    raw.once('close', giveUp);
    socket.once('end', giveUp);
  };
}

/** Bytes. From this size on a body may be converted in a thread, which competes with this one for the machine. */
const heavyBody = 256 * 1024;

/** The size of a body is unknown before it is read, unless it declares its length and is not compressed. */
function mayReach(headers: IncomingHttpHeaders, bytes: number): boolean {
  const length = Number(headers['content-length']);
  return !(length < bytes) || (headers['content-encoding'] ?? 'identity') !== 'identity';
}

function takeSlot(
  parts: AdmissionParts,
  keyId: string | null,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const claim = parts.memory.open(callerOf(request).keyId);
  const slot = new InFlightSlot(parts, keyId, claim);
  request.bodyClaim = claim;
  request.slot = slot;
  const { raw } = reply;
  const { socket } = request.raw;
  let isOut = false;
  const leave = (): void => {
    if (!isOut) slot.release();
    isOut = true;
  };
  raw.on('close', leave);
  // A pipelined response behind another one is not informed of the connection's end.
  if (raw.socket === null) {
    socket.once('close', leave);
    raw.once('close', () => socket.off('close', leave));
  }
  if (raw.destroyed || socket.destroyed) leave();
}

/**
 * Counts the requests of each key in flight in this process, so that no key takes every slot. For keys without a
 * `max_concurrency` of their own, which is counted for all nodes together.
 */
interface KeySlots {
  /** False if the key has reached its limit. `leave` releases one slot, once. */
  tryEnter(keyId: string): boolean;
  leave(keyId: string): void;
}

/** @param limit per key */
function createKeySlots(limit: number): KeySlots {
  const countByKey = new Map<string, number>();
  return {
    tryEnter(keyId) {
      const count = countByKey.get(keyId) ?? 0;
      if (count >= limit) return false;
      countByKey.set(keyId, count + 1);
      return true;
    },
    leave(keyId) {
      const count = countByKey.get(keyId) ?? 0;
      if (count > 1) countByKey.set(keyId, count - 1);
      else countByKey.delete(keyId);
    },
  };
}

/** Below this many uncompressed bytes a body is not large. */
const largeBody = 1024 * 1024;

/**
 * The hook that limits a key without money to one large body at a time. It does not refuse such a key, because the
 * model may be free, and only the body names it. Runs after the rates.
 */
export function createOneLargeBodyHook(
  hasMoney: (caller: Caller) => boolean | Promise<boolean>,
): onRequestHookHandler {
  return function limitLargeBodies(request, _reply, done) {
    if (!mayReach(request.raw.headers, largeBody)) {
      done();
      return;
    }
    const { bodyClaim } = request;
    const decide = (has: boolean): void => {
      if (bodyClaim !== null) bodyClaim.isOnly = !has;
      done();
    };
    const has = hasMoney(callerOf(request));
    if (typeof has === 'boolean') decide(has);
    // The check failed; the request's hold decides instead.
    else has.then(decide, () => decide(true));
  };
}
