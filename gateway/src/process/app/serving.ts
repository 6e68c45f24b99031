import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { hasMoney } from '#billing/index.ts';
import type { Config } from '#config/index.ts';
import { consoleSurface, registerConsole, type ConsoleOptions } from '#console-api/index.ts';
import { registerEndpoints, surfaces, type EndpointOptions } from '#endpoints/index.ts';
import { createServer, listenOn, renewCertificate } from '#http/index.ts';
import { memoryLimit, type Spool } from '#bodies/index.ts';
import type { Logger, ServerReadings } from '#observability/index.ts';
import {
  createConcurrencyGate,
  createPressureReport,
  createRefusalReport,
  watchPressure,
  type PressureCause,
  type Ticker,
} from '#relay/index.ts';
import { consoleAddress } from './addresses.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';

/** Interval at which connections that fall idle while stopping are closed; their clients would keep them open. */
const idleCheckMs = 100;
/** Time for responses that end at the drain time-out to tell their clients so. */
const lastWordsMs = 500;

export interface ServingOptions extends Omit<
  EndpointOptions,
  'gate' | 'keyConcurrency' | 'hasMoney' | 'now' | 'monotonic' | 'health' | 'metricsToken'
> {
  readonly config: Config;
  readonly logger: Logger;
  /** Watches all running exchanges. */
  readonly ticker: Ticker;
  /** Why nothing that costs something can be admitted, but for overload; null: it can. */
  readonly refusalReason: () => 'version' | 'journal' | 'leases' | null;
  /** Degraded components, in words. */
  readonly degraded: () => readonly string[];
  readonly writeStall: number | undefined;
  readonly highLag: number | undefined;
  readonly spool: Spool;
  /** Null: it is switched off. */
  readonly console: Omit<ConsoleOptions, 'now' | 'snapshot'> | null;
}

export interface StopOptions {
  /**
   * Milliseconds for which new connections are still served while `/health` reports draining, so that load balancers
   * notice. Part of the drain time-out.
   */
  readonly keepListening?: number;
  /** Resolves when the drain time-out must end early. */
  readonly hurry?: Promise<void>;
}

/** The side of the gateway that clients see. */
export interface Serving {
  /** The actual port is known once it listens. */
  readonly url: string;
  /** The same for the console; null: it is switched off. */
  readonly consoleUrl: string | null;
  /** The overload of this process, for the operator. */
  readonly pressures: readonly PressureCause[];
  /** Why nothing that costs something is admitted; null: it is. */
  readonly refusalReason: string | null;
  /** Requests under way. */
  readonly inFlight: number;
  /** Of the event loop: milliseconds. */
  readonly lag: number;
  /** For the metrics. */
  readonly readings: ServerReadings;
  /** @throws Error with a message for the operator */
  listen(): Promise<void>;
  /**
   * Reads the files of `server.tls` again, for new connections.
   * @throws Error with a message for the operator; then the former certificate stays.
   */
  renewCertificate(): void;
  /** Lets running responses finish within the drain time-out; then ends them in their protocol and closes the rest. */
  stop(options: StopOptions): Promise<void>;
}

/** Adds the endpoints to a server that does not listen yet. */
export function createServing(options: ServingOptions, closing: Closing): Serving {
  const {
    config,
    logger,
    ticker,
    refusalReason,
    degraded,
    writeStall,
    highLag,
    spool,
    ...endpoints
  } = options;
  const { server: settings } = config;
  const gate = createConcurrencyGate({
    ...config.limits,
    pressure: (isLarge) => pressure.refusal(isLarge),
  });
  const pressure = closing.add(
    watchPressure({
      monotonic: clock.monotonic,
      memoryLimit: memoryLimit() / settings.workers,
      isIdle: () => gate.inFlight === 0,
      highLag,
      onSample(causes, now) {
        reportPressure(causes, now);
        const reason = reasonNow();
        reportRefusals(reason === null ? [] : [reason], now);
      },
    }),
  );
  const reportPressure = createPressureReport(logger, gate.refused);
  const reportRefusals = createRefusalReport(logger);
  const reasonNow = () => refusalReason() ?? pressure.refusal(false);
  const { rates } = options;
  let draining = false;
  let patient = false;
  const newServer = (withConsole: boolean): FastifyInstance =>
    createServer({
      ...settings,
      spool,
      surfaces: withConsole ? [...surfaces, consoleSurface] : surfaces,
      onUnexpectedError: options.onUnexpectedError,
      isDraining: () => draining,
      isPatient: () => patient,
      ...(writeStall === undefined ? {} : { writeStall }),
    });
  const ownAddress = options.console === null ? null : config.console.listen;
  const server = newServer(options.console !== null && ownAddress === null);
  // It serves the models too: the playground and the steps for clients use the page's own address.
  const consoleServer = ownAddress === null ? server : newServer(true);
  const servers = ownAddress === null ? [server] : [server, consoleServer];
  registerEndpoints(servers, {
    ...endpoints,
    gate,
    keyConcurrency: config.limits.keyConcurrency,
    hasMoney: (caller) => hasMoney(options.money, caller, clock.now()),
    now: clock.now,
    monotonic: clock.monotonic,
    health() {
      const reason = draining ? null : reasonNow();
      return {
        status: draining ? 'draining' : reason === null ? 'ok' : 'unavailable',
        ...(reason !== null && { reason }),
        degraded: degraded(),
        ...(rates.server !== null && { redis: rates.server }),
      };
    },
    metricsToken: config.metrics.token,
  });
  if (options.console !== null) {
    registerConsole(consoleServer, {
      ...options.console,
      now: clock.now,
      snapshot: options.snapshot,
    });
  }
  return {
    get url() {
      return urlOf(server, settings.host, config);
    },
    get consoleUrl() {
      return options.console === null
        ? null
        : urlOf(consoleServer, (ownAddress ?? settings).host, config);
    },
    get pressures() {
      return pressure.causes;
    },
    get refusalReason() {
      return reasonNow();
    },
    get inFlight() {
      return gate.inFlight;
    },
    get lag() {
      return pressure.lag;
    },
    readings: {
      async openConnections() {
        const counts = await Promise.all(servers.map((each) => connectionsOf(each)));
        return counts.reduce((sum, count) => sum + count, 0);
      },
      get waiting() {
        return gate.waiting;
      },
      overloadRefusals: gate.refused,
    },
    async listen() {
      const { host, port } = settings;
      await listenOn(settings, () => server.listen({ host, port }));
      if (ownAddress !== null) {
        const address = { ...ownAddress, setting: consoleAddress };
        await listenOn(address, () => consoleServer.listen({ ...ownAddress }));
      }
    },
    renewCertificate() {
      const { tls } = settings;
      if (tls !== null) for (const each of servers) renewCertificate(each, tls);
    },
    async stop({ keepListening = 0, hurry }) {
      draining = true;
      patient = keepListening > 0;
      const drainEnd = Promise.withResolvers<void>();
      const end = setTimeout(drainEnd.resolve, settings.drainTimeout);
      void hurry?.then(drainEnd.resolve);
      let cut: NodeJS.Timeout | undefined;
      let over = false;
      void drainEnd.promise.then(() => {
        if (over) return;
        patient = false;
        ticker.endAll();
        gate.refuseWaiting();
        cut = setTimeout(() => {
          for (const each of servers) each.server.closeAllConnections();
        }, lastWordsMs);
      });
      if (patient)
        await Promise.race([wait(keepListening, undefined, { ref: false }), drainEnd.promise]);
      const idle = setInterval(() => {
        for (const each of servers) each.server.closeIdleConnections();
      }, idleCheckMs);
      try {
        await Promise.all(servers.map((each) => each.close()));
      } finally {
        over = true;
        clearInterval(idle);
        clearTimeout(end);
        clearTimeout(cut);
      }
    },
  };
}

function connectionsOf(server: FastifyInstance): Promise<number> {
  return new Promise((resolve) => {
    server.server.getConnections((_error, count) => resolve(count ?? 0));
  });
}

function urlOf(server: FastifyInstance, host: string, { server: { tls } }: Config): string {
  const { port } = server.server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${shownHost}:${port}`;
}
