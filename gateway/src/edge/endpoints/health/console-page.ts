import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { answer } from '#http/index.ts';

const headers = [
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cache-control',
  'no-cache',
] as const;

/** The console's page. It needs no key: signing in happens on it. */
export function consolePage(scope: FastifyInstance, _options: object, done: () => void): void {
  const page = readFileSync(new URL('../../../../../console/index.html', import.meta.url));
  scope.get('/console', (request, reply) => {
    answer(request, reply, 200, 'text/html; charset=utf-8', page, headers);
  });
  done();
}
