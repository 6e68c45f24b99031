import type { FastifyInstance } from 'fastify';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { consolePages } from './pages.ts';
import { readJsonBodies } from './json-body.ts';
import { answerApiErrors } from './serve-route.ts';
import { callerFor } from './sessions/guard.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { createReads } from './reads.ts';
import { keyRoutes } from './keys/routes.ts';
import { usageRoutes } from './usage/routes.ts';

export interface ConsoleOptions {
  readonly database: OpenDatabase;
  /** Opens the connection that pages read with, at the first of them. */
  readonly reading: () => OpenDatabase;
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly version: string;
  /** The folder with the built console. */
  readonly files: URL;
  /** Whether people may sign in although others could read their password on its way. */
  readonly allowInsecure: boolean;
}

/** Adds the console's pages and the API that they use. Keys of clients open nothing here. */
export function registerConsole(server: FastifyInstance, options: ConsoleOptions): void {
  const { database, reading, now, files } = options;
  server.register(consolePages(files));
  server.register((scope, _options, done) => {
    readJsonBodies(scope);
    answerApiErrors(scope);
    const routes = {
      ...options,
      reads: createReads(reading),
      callerFor: (request: Parameters<typeof callerFor>[0]) => callerFor(request, database, now()),
    };
    sessionRoutes(scope, routes);
    usageRoutes(scope, routes);
    keyRoutes(scope, routes);
    done();
  });
}
