import type { onRequestHookHandler } from 'fastify';
import type { Caller } from '#identity/index.ts';
import { callerOf } from './caller-of.ts';

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
    // The check failed; the request's hold decides instead.
    else has.then(decide, () => decide(true));
  };
}
