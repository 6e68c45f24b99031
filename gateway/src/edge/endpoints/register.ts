import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller, KeyDirectory } from '#identity/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import { createMemoryRates, type Money, type Rates } from '#limits/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Metrics } from '#observability/index.ts';
import type { Relay } from '#relay/index.ts';
import { type AdmissionOptions, createAdmissionHook, createOneLargeBodyHook } from './admission.ts';
import { anthropicRoutes } from './anthropic/routes.ts';
import { createAuthentication } from './authentication.ts';
import type { EndpointContext, OwnTasks } from './context.ts';
import { earlyRefusalOf } from './early-refusals.ts';
import { geminiRoutes, geminiV1Routes } from './gemini/routes.ts';
import { healthRoutes, type Health } from './health/routes.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { createModelLists } from './model-lists.ts';
import { modelRoutes, openaiRoutes, websocketRefusal } from './openai/routes.ts';
import { resultsRoute } from './results/routes.ts';
import { usageRoute, type UsageSource } from './usage/routes.ts';
import { createRateHooks, type RefusalGuard } from './rates.ts';
import { createExchangeRunner } from './run-exchange.ts';
import { answerUnknownPaths } from './unknown-path.ts';
import { videoContentsRoutes } from './video-contents/routes.ts';
import { videoSynthesisRoutes } from './video-synthesis/routes.ts';

export interface EndpointOptions extends AdmissionOptions {
  readonly relay: Relay;
  /** Whether a caller could pay for anything now. */
  readonly hasMoney: (caller: Caller) => boolean | Promise<boolean>;
  readonly rates: Rates;
  readonly money: Pick<Money, 'read'>;
  readonly refusals: RefusalGuard;
  readonly usage: UsageSource;
  readonly tasks: OwnTasks;
  readonly keys: KeyDirectory;
  /** The current catalogue; called for every model list. */
  readonly snapshot: () => CatalogueSnapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly health: () => Health;
  readonly metrics: Metrics;
  /** The token that a scraper must present; null: only callers on this machine may scrape. */
  readonly metricsToken: string | null;
  readonly onUnexpectedError: (error: unknown, requestId: string) => void;
}

/**
 * Registers every client surface in a separate scope, so that no surface can loosen another's checks.
 * @param servers share what is counted and bounded
 */
export function registerEndpoints(
  servers: readonly FastifyInstance[],
  options: EndpointOptions,
): void {
  const context: EndpointContext = {
    authenticate: createAuthentication(options.keys, options.now),
    admit: createAdmissionHook(options),
    countRates: createRateHooks({
      rates: options.rates,
      guards: createMemoryRates({ monotonic: options.monotonic, liveNodes: () => 1 }),
      refusals: options.refusals,
      onLateRefusal: (refusal, request) => countRefusal(options, request, refusal),
    }),
    limitLargeBodies: createOneLargeBodyHook(options.hasMoney),
    run: createExchangeRunner(options.relay, options.onUnexpectedError),
    lists: createModelLists(options.snapshot),
    tasks: options.tasks,
  };
  for (const server of servers) registerAt(server, context, options);
}

function registerAt(
  server: FastifyInstance,
  context: EndpointContext,
  options: EndpointOptions,
): void {
  const { metrics } = options;
  server.decorateRequest('caller', null);
  server.decorateRequest('refusedCaller', null);
  server.decorateRequest('slot', null);
  answerUnknownPaths(server);
  countRefusals(server, options);
  server.register(healthRoutes(options.health));
  server.register(metricsRoutes(metrics, { token: options.metricsToken }));
  server.register(websocketRefusal);
  server.register(openaiRoutes(context));
  server.register(modelRoutes(context));
  server.register(usageRoute(context, options));
  server.register(anthropicRoutes(context));
  server.register(geminiRoutes(context));
  server.register(geminiV1Routes(context));
  server.register(videoSynthesisRoutes(context));
  server.register(videoContentsRoutes(context));
  server.register(resultsRoute(options.tasks));
}

type RefusalCounts = Pick<EndpointOptions, 'metrics' | 'refusals'>;

/** Counts refusals before the relay; the relay reports the later ones itself. */
function countRefusals(server: FastifyInstance, counts: RefusalCounts): void {
  server.addHook('onError', (request, _reply, error, done) => {
    const { pendingRateCheck } = request;
    if (pendingRateCheck === null) countRefusal(counts, request, error);
    else void countUnlessRefused(counts, request, pendingRateCheck, error);
    done();
  });
}

/** A request refused by its rates is counted as that, even if more is wrong with it. */
async function countUnlessRefused(
  counts: RefusalCounts,
  request: FastifyRequest,
  pendingRateCheck: Promise<Error | undefined>,
  error: Error,
): Promise<void> {
  if ((await pendingRateCheck) === undefined) countRefusal(counts, request, error);
}

function countRefusal(
  { metrics, refusals }: RefusalCounts,
  request: FastifyRequest,
  error: Error,
): void {
  metrics.countRefusal(error instanceof GatewayError ? error.errorName : 'other');
  const record = earlyRefusalOf(request, error);
  if (record !== null) refusals.note(record);
}
