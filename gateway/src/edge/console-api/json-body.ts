import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.ts';

/** Bytes: far more than any form of the console. */
const limit = 256 * 1024;

/** Reads JSON only: a form of another site cannot send it. */
export function readJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: limit },
    (_request, text, done) => {
      try {
        done(null, text === '' ? {} : JSON.parse(String(text)));
      } catch (cause) {
        done(new ApiError('invalid', 'the body is not valid JSON', { cause }));
      }
    },
  );
}
