import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Logger } from '#observability/index.ts';
import { recordAudit } from '#administration/index.ts';
import { createEntryWriter } from './entries.ts';
import { consolePages } from './pages.ts';
import { contract } from './contract/index.ts';
import { openApiDocument } from './openapi.ts';
import { answerApiErrors, serveRoute } from './serve-route.ts';
import { createProgramFinder } from './sessions/admin-key.ts';
import { createFailedSignIns } from './sessions/failed-sign-ins.ts';
import { callerFor } from './sessions/guard.ts';
import { createSignInThrottle } from './sessions/throttle.ts';
import { createLookUp, createReads } from './from-database.ts';
import { sessionRoutes } from './sessions/routes.ts';
import type { LiveFeed } from './live/feed.ts';
import { liveRoutes } from './live/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { adminKeyRoutes } from './admin-keys/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { accountRoutes } from './accounts/routes.ts';
import { teamRoutes } from './teams/routes.ts';
import { userRoutes } from './users/routes.ts';
import type { Held } from './limits.ts';
import { channelRoutes, type ChannelTrial, type ModelSearch } from './channels/routes.ts';
import { configurationRoutes, type ConfigurationRoutesOptions } from './configuration/routes.ts';
import { bookRoutes } from './books/routes.ts';
import { type RouteExplainer, routingRoutes } from './routing/routes.ts';
import { healthRoutes } from './health/routes.ts';
import type { HealthSource } from './health/source.ts';
import { keyRoutes } from './keys/routes.ts';
import { catalogueRoutes } from './models/catalogue.ts';
import { previewRoutes } from './models/preview.ts';
import { modelRoutes } from './models/routes.ts';
import type { ConsoleMembers } from './contract/permissions.ts';
import type { OidcSettings } from './oidc/provider.ts';
import type { PlaceInFile } from './writes.ts';
import { playgroundRoutes } from './playground/routes.ts';
import { base, ApiError } from './errors.ts';
import { taskRoutes } from './tasks/routes.ts';
import { ownLimitRoutes } from './own-limits.ts';
import { usageRoutes } from './usage/routes.ts';

export interface ConsoleOptions {
  readonly database: OpenDatabase;
  /** Opens the connection that pages read with, at the first of them. */
  readonly reading: () => OpenDatabase;
  /** Opens a connection for a comparison of the books alone. */
  readonly openForReconciling: () => OpenDatabase;
  readonly secrets: Secrets;
  readonly health: HealthSource;
  /** What requests do at this moment. */
  readonly feed: LiveFeed;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly version: string;
  /** The folder with the built console. */
  readonly files: URL;
  /** Whether people may sign in although others could read their password on its way. */
  readonly allowInsecure: boolean;
  readonly tryChannel: ChannelTrial;
  readonly findModels: ModelSearch;
  readonly explain: RouteExplainer;
  readonly held: Held;
  readonly members: ConsoleMembers;
  readonly configuration: ConfigurationRoutesOptions['configuration'];
  /** Where people sign in without a password; null: nowhere. */
  readonly oidc: OidcSettings | null;
  readonly log: Pick<Logger, 'warn'>;
  readonly placeInFile: PlaceInFile;
  readonly bringIntoForce: () => Promise<void>;
}

/** Adds the console's pages and the API that they use. Keys of clients open nothing here. */
export function registerConsole(server: FastifyInstance, options: ConsoleOptions): void {
  const { reading, files } = options;
  server.register(consolePages(files));
  server.register((scope, _options, done) => {
    refuseOtherSpellings(scope);
    readJsonBodies(scope);
    answerApiErrors(scope);
    const { database, secrets, now } = options;
    const lookUp = createLookUp();
    const throttle = createSignInThrottle();
    const failures = createFailedSignIns({ ...options, kind: 'admin_key' });
    scope.addHook('onClose', () => failures.close());
    const findProgram = createProgramFinder({
      ...options,
      lookUp,
      throttle,
      onFailure: failures.count,
    });
    const source = { ...options, lookUp, findProgram };
    const administration = { database, secrets, audit: recordAudit, now };
    const routes = {
      ...source,
      throttle,
      reads: createReads(reading),
      administration,
      writerOf: createEntryWriter({ ...options, administration }),
      callerFor: (request: FastifyRequest) => callerFor(request, source),
    };
    // Made at the first read: it takes some 40 ms, which every start would pay.
    let document: Record<string, unknown> | null = null;
    serveRoute(scope, contract.readDocument, routes, async () => ({
      body: (document ??= openApiDocument(options.version)),
    }));
    sessionRoutes(scope, routes);
    usageRoutes(scope, routes);
    liveRoutes(scope, routes);
    overviewRoutes(scope, routes);
    keyRoutes(scope, routes);
    modelRoutes(scope, routes);
    catalogueRoutes(scope, routes);
    previewRoutes(scope, routes);
    playgroundRoutes(scope, routes);
    healthRoutes(scope, routes);
    channelRoutes(scope, routes);
    routingRoutes(scope, routes);
    auditRoutes(scope, routes);
    configurationRoutes(scope, routes);
    bookRoutes(scope, routes);
    taskRoutes(scope, routes);
    adminKeyRoutes(scope, routes);
    userRoutes(scope, routes);
    teamRoutes(scope, routes);
    accountRoutes(scope, routes);
    ownLimitRoutes(scope, routes);
    done();
  });
}

/**
 * Clients' wrong base URLs are repaired; an address of the API is taken as it is. A proxy that shuts off `/admin` would
 * let `//admin` and `/%61dmin` through.
 */
function refuseOtherSpellings(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.originalUrl.startsWith(`${base}/`)) done();
    else done(new GatewayError('not_found'));
  });
}

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
