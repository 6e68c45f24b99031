import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { baseUrlHint, originOf, pathOf, withoutBase } from '#http/index.ts';
import { methodsOfModelPath, parseModelCall } from './model-path.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Not an endpoint: gives a special response and is not listed by `Allow`. */
    isUnlisted?: boolean;
  }
}

/**
 * Responds to paths without a route, before any authentication and without reading a body: 405 if the path exists for
 * another method, otherwise 404, with the right base URL if the path ends like an endpoint. Add it before the routes,
 * because it records them as they are added.
 */
export function answerUnknownPaths(server: FastifyInstance): void {
  const methodsByPath = new Map<string, Set<string>>();
  const patterns: { readonly pattern: RegExp; readonly methods: ReadonlySet<string> }[] = [];

  server.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isUnlisted === true || url.includes('*')) return;
    let methods = methodsByPath.get(url);
    if (methods === undefined) {
      methods = new Set();
      methodsByPath.set(url, methods);
      if (url.includes(':')) patterns.push({ pattern: patternOf(url), methods });
    }
    for (const name of [method].flat()) methods.add(name);
  });

  const methodsAt = (path: string): readonly string[] => {
    const models = /^\/(?:v1|v1beta)\/models\/(.+)$/s.exec(path);
    if (models !== null) return methodsOfModelPath(models[1] ?? '');
    const methods =
      methodsByPath.get(path) ?? patterns.find(({ pattern }) => pattern.test(path))?.methods;
    return methods === undefined ? [] : [...methods];
  };

  const baseFor = (path: string): string | null => {
    const call = /\/models\/(.+)/s.exec(path);
    if (call !== null && parseModelCall(call[1] ?? '') !== null) return '/v1beta';
    const { surfaces } = server;
    for (const knownPath of methodsByPath.keys()) {
      const bare = withoutBase(knownPath, surfaces.bases);
      if (bare !== null && path.endsWith(bare)) return surfaces.baseOf(knownPath);
    }
    return null;
  };

  const refusal = (request: FastifyRequest): GatewayError => {
    const path = pathOf(request.url);
    const methods = methodsAt(path);
    if (methods.length > 0) {
      return new GatewayError('method_not_allowed', { headers: { allow: methods.join(', ') } });
    }
    const base = path.startsWith('/console') ? null : baseFor(path);
    if (base === null) return new GatewayError('not_found');
    const hint = baseUrlHint(originOf(request.raw, server.publicUrl), base);
    return new GatewayError('not_found_hint', { values: { hint } });
  };

  server.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(refusal(request));
    else done();
  });
  server.setNotFoundHandler((request) => {
    throw refusal(request);
  });
}

/** A route's path with `:parameters` as an expression over decoded paths. */
function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : RegExp.escape(segment)))
    .join('/');
  // oxlint-disable-next-line sluice/linear-expression -- of our routes: what repeats is parted by slashes it cannot take
  return new RegExp(`^${source}$`);
}
