import type { onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import { callerOf } from './caller-of.ts';

/** Bytes of a body that is not large, if it is not compressed. */
const largeBody = 1024 * 1024;

/**
 * The hook that has a key without money send one large body at a time. It is not refused: the model may cost nothing,
 * and only the body names it. After the rates.
 */
export function createOneLargeBodyHook(
  hasMoney: (caller: Caller) => boolean | Promise<boolean>,
): onRequestHookHandler {
  return function limitLargeBodies(request, _reply, done) {
    const { headers } = request.raw;
    if (
      headers['content-encoding'] === undefined &&
      Number(headers['content-length']) <= largeBody
    ) {
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
    // Nobody knows now; the request's hold will.
    else has.then(decide, () => decide(true));
  };
}
