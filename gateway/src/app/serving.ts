import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.ts';
import { registerEndpoints, type EndpointOptions } from '../endpoints/index.ts';
import { createServer, listenOn } from '../http/index.ts';
import { textProtocols } from '../protocols/index.ts';
import { createAdmission, watchPressure, type Watch } from '../relay/index.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';

/** Connections that fall idle while stopping are closed this often: their clients would keep them open. */
const idleCheckMs = 100;
/** Answers that are ended at the drain time-out get so long to say so to their clients. */
const lastWordsMs = 500;

export interface ServingOptions extends Omit<
  EndpointOptions,
  'admission' | 'now' | 'health' | 'metricsToken'
> {
  readonly config: Config;
  /** Over all running exchanges. */
  readonly watch: Watch;
  /** May anything be admitted? */
  readonly isUsable: () => boolean;
  /** What works with less than usual, in words. */
  readonly degraded: () => readonly string[];
  readonly writeStall: number | undefined;
}

/** The side that clients see. */
export interface Serving {
  /** With the port it really got, once it listens. */
  readonly url: string;
  openConnections(): Promise<number>;
  /** @throws Error with a sentence for the operator */
  listen(): Promise<void>;
  /**
   * Lets running answers end, for the drain time-out; then ends them in their protocol, and closes what is left.
   * @param keepListening milliseconds of that time for which new connections are still served.
   */
  stop(keepListening: number): Promise<void>;
}

/** Puts the endpoints on a server that does not listen yet. */
export function createServing(options: ServingOptions, closing: Closing): Serving {
  const { config, watch, isUsable, degraded, writeStall, ...endpoints } = options;
  const { server: settings } = config;
  const pressure = closing.add(watchPressure(clock.monotonic));
  const admission = createAdmission({ ...config.limits, isOverloaded: () => pressure.isHigh });
  let draining = false;
  let patient = false;
  const server = createServer({
    ...settings,
    encoders: textProtocols,
    onUnexpectedError: options.onUnexpectedError,
    isDraining: () => draining,
    isPatient: () => patient,
    ...(writeStall === undefined ? {} : { writeStall }),
  });
  registerEndpoints(server, {
    ...endpoints,
    admission,
    now: clock.now,
    health: () => ({
      status: draining ? 'draining' : isUsable() ? 'ok' : 'unavailable',
      degraded: degraded(),
    }),
    metricsToken: config.metrics.token,
  });
  return {
    get url() {
      return urlOf(server, config);
    },
    openConnections: () =>
      new Promise((resolve) => {
        server.server.getConnections((_error, count) => resolve(count ?? 0));
      }),
    async listen() {
      const { host, port } = settings;
      await listenOn(settings, () => server.listen({ host, port }));
    },
    async stop(keepListening) {
      draining = true;
      patient = keepListening > 0;
      const { drainTimeout } = settings;
      const end = setTimeout(() => {
        watch.endAll();
        admission.refuseWaiting();
      }, drainTimeout);
      const cut = setTimeout(() => server.server.closeAllConnections(), drainTimeout + lastWordsMs);
      if (patient) await wait(Math.min(keepListening, drainTimeout));
      const idle = setInterval(() => server.server.closeIdleConnections(), idleCheckMs);
      try {
        await server.close();
      } finally {
        clearInterval(idle);
        clearTimeout(end);
        clearTimeout(cut);
      }
    },
  };
}

function urlOf(server: FastifyInstance, { server: { host, tls } }: Config): string {
  const { port } = server.server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${shown}:${port}`;
}
