import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Admission } from '../relay/index.ts';

/** A request's place among those under way: kept until its answer is out and all that holds it has let go. */
export class Place {
  readonly #admission: Admission;
  #holders = 1;
  #onLeave: (() => void) | null = null;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Nothing happens when it has been given back: its client was gone before. */
  hold(): void {
    if (this.#holders > 0) this.#holders += 1;
  }

  release(): void {
    if (this.#holders === 0) return;
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#admission.leave();
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
export function createAdmissionHook(admission: Admission): onRequestHookHandler {
  return function admit(request, reply, done) {
    if (admission.tryEnter()) {
      takePlace(admission, request, reply);
      done();
      return;
    }
    const { raw } = reply;
    const { socket } = request.raw;
    // Perhaps only its sending side is closed. It is told to come again rather than given an upstream's work
    // that nobody may want any more: what waits is not worth finding out about.
    const giveUp = (): void => waiting.giveUp();
    const waiting = admission.wait((refusal) => {
      raw.off('close', giveUp);
      socket.off('end', giveUp);
      if (refusal === null) takePlace(admission, request, reply);
      done(refusal ?? undefined);
    });
    raw.once('close', giveUp);
    socket.once('end', giveUp);
  };
}

function takePlace(admission: Admission, request: FastifyRequest, reply: FastifyReply): void {
  const place = new Place(admission);
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
  if (raw.socket === null) socket.once('close', leave);
  if (raw.destroyed || socket.destroyed) leave();
}
