import type { onRequestHookHandler } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { baseUrlHint, originOf, pathOf } from '#http/index.ts';

/** A call on a model in the path style of generate-content. */
export interface ModelCall {
  readonly model: string;
  readonly action: ModelAction;
}

const actions = ['generateContent', 'streamGenerateContent', 'countTokens'] as const;
type ModelAction = (typeof actions)[number];

/**
 * Splits the path after `/models/`, decoded once: the action follows the last colon, because model ids may contain
 * slashes and colons. Null if it is not a call.
 */
export function parseModelCall(tail: string): ModelCall | null {
  const colon = tail.lastIndexOf(':');
  const action = actions.find((name) => name === tail.slice(colon + 1));
  return colon < 1 || action === undefined ? null : { model: tail.slice(0, colon), action };
}

/** The methods that exist at `…/models/{tail}`: POST for a call, GET for a model. */
export function methodsOfModelPath(tail: string): readonly string[] {
  if (parseModelCall(tail) !== null) return ['POST'];
  return tail === '' ? [] : ['GET', 'HEAD'];
}

/** A call inside of a path: a client's base URL ends in a whole call. */
const calledBefore = /:(?:generateContent|streamGenerateContent|countTokens)\//;

/**
 * Refuses, before authentication, a method that the path does not have, and calls behind calls. For scopes with
 * `…/models/*` routes.
 */
export const checkModelPath: onRequestHookHandler = (request, _reply, done) => {
  const tail = modelTail(request.params);
  if (tail !== null && calledBefore.test(tail)) {
    const origin = originOf(request.raw, request.server.publicUrl);
    const hint = baseUrlHint(origin, request.server.surfaces.baseOf(pathOf(request.url)));
    done(new GatewayError('not_found_hint', { values: { hint } }));
    return;
  }
  done(tail === null ? undefined : wrongModelPath(request.method, tail));
};

/** The `*` of a `…/models/*` route; null elsewhere. */
export function modelTail(params: unknown): string | null {
  if (typeof params !== 'object' || params === null || !('*' in params)) return null;
  return typeof params['*'] === 'string' ? params['*'] : null;
}

function wrongModelPath(method: string, tail: string): GatewayError | undefined {
  const methods = methodsOfModelPath(tail);
  if (methods.includes(method)) return undefined;
  // An unknown action is not an endpoint; a model's own address is one, for reading.
  if (methods.length === 0 || (method === 'POST' && tail.includes(':'))) {
    return new GatewayError('not_found');
  }
  return new GatewayError('method_not_allowed', { headers: { allow: methods.join(', ') } });
}
