import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Spool } from '#bodies/index.ts';
import { createBodyPace, slowestPace, type SlowestPace } from './body-pace.ts';
import { createBodyParser, holdBackContinue } from './body.ts';
import { allowOrigins } from './cross-origin.ts';
import {
  createErrorResponder,
  type ErrorResponder,
  type UnexpectedErrorListener,
} from './error-response.ts';
import { refuseMalformed } from './malformed-request.ts';
import { boundPipelining } from './pipelining.ts';
import { keepPromises, type PromisedConnections } from './promised-connections.ts';
import { checkHead, transferRefusal } from './request-head.ts';
import { createRequestId } from './request-id.ts';
import { createSurfaces, type Surface, type Surfaces } from './surface.ts';
import { repairTarget } from './surface.ts';
import { tlsSettings } from './tls-files.ts';
import {
  type ClientAddress,
  createClientAddress,
  createIsEncrypted,
  type IsEncrypted,
} from './trusted-proxies.ts';
import { cutOffVanished } from './vanished-clients.ts';

export interface ServerOptions {
  /** Maximum bytes of a request body, after decoding. */
  readonly bodyLimit: number;
  /** Where endpoints that read bodies in pieces keep large ones. Absent: in memory. */
  readonly spool?: Spool;
  /** Origins whose pages may call the client APIs; `*`: every one. */
  readonly corsOrigins: readonly string[];
  /** Addresses and CIDRs whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** PEM file paths. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The address of this gateway for people, used in messages; null: the host of the request. */
  readonly publicUrl: string | null;
  /** Every client API that is served; one of them has the prefix `/`. */
  readonly surfaces: readonly Surface[];
  readonly onUnexpectedError: UnexpectedErrorListener;
  /** Milliseconds; only tests set it lower. */
  readonly headersTimeout?: number;
  /** Milliseconds for a whole request including its body; only tests set it lower. */
  readonly requestTimeout?: number;
  /** Only tests set it. */
  readonly slowestPace?: SlowestPace;
  /** Requests that one connection serves before it closes; only tests set it lower. */
  readonly requestsPerConnection?: number;
  /** Milliseconds; only tests set it lower. */
  readonly writeStall?: number;
  /** Milliseconds between checks for vanished clients; only tests set it lower. */
  readonly vanishedLook?: number;
  /** True once the gateway is stopping: clients are asked to use another connection next time. */
  readonly isDraining?: () => boolean;
  /** While stopping: false if the gateway must stop at once. */
  readonly isPatient?: () => boolean;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Renders any thrown value, for code that has taken over the response. */
    respondWithError: ErrorResponder;
    clientAddress: ClientAddress;
    isEncrypted: IsEncrypted;
    publicUrl: string | null;
    surfaces: Surfaces;
    isDraining: () => boolean;
    promisedConnections: PromisedConnections;
    /** A client that accepts nothing of its response for this many milliseconds is cut off. */
    writeStall: number;
  }
  interface FastifyRequest {
    /** Unix milliseconds of arrival. */
    arrivedAt: number;
    /** `performance.now()` at arrival. */
    startedAt: number;
    /**
     * A check that starts before the body and is decided while the body is read: the refusal, or undefined. Never
     * rejects. Code that refuses the request for another reason reports this refusal first.
     */
    pendingRateCheck: Promise<Error | undefined> | null;
  }
}

/**
 * Longer than the 60 s for which load balancers keep idle connections: the side that reuses a connection must close it
 * first.
 */
const keepAliveTimeout = 75_000;
const headersTimeout = 15_000;
/** Enough for a body at the limit on a slow uplink. */
const requestTimeout = 120_000;
/** Connections do not last forever: load balancers find new workers, and accumulated memory is released. */
const requestsPerConnection = 10_000;
const writeStall = 60_000;
const vanishedLook = 15_000;
/** An agent with many tools and long session headers stays far below this. */
const maxHeaderSize = 32 * 1024;

/** The HTTP server without its routes: limits, request ids, errors, bodies. Call `listen` after adding the routes. */
export function createServer(options: ServerOptions): FastifyInstance {
  const surfaces = createSurfaces(options.surfaces);
  const respondWithError = createErrorResponder(surfaces, options.onUnexpectedError);
  const pace = createBodyPace(options.slowestPace ?? slowestPace, () => performance.now());
  const settings: FastifyServerOptions = {
    logger: false,
    trustProxy: false,
    serverFactory(listener) {
      const { corsOrigins: origins } = options;
      const crossOriginListener = allowOrigins(listener, { origins, bases: surfaces.bases });
      return createNodeServer(boundPipelining(checkHead(crossOriginListener)), options);
    },
    clientErrorHandler: refuseMalformed,
    frameworkErrors: respondWithError,
    genReqId: createRequestId,
    requestIdHeader: false,
    rewriteUrl({ url = '' }) {
      const repairedUrl = repairTarget(url, surfaces.bases);
      return repairedUrl !== url && surfaces.isExact(repairedUrl) ? url : repairedUrl;
    },
    // Other code decides whether to serve while stopping, instead of the framework's own 503.
    return503OnClosing: false,
    exposeHeadRoutes: true,
    routerOptions: {
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      maxParamLength: maxHeaderSize,
    },
  };
  const server: FastifyInstance = fastify(settings);

  server.decorate('respondWithError', respondWithError);
  server.decorate('clientAddress', createClientAddress(options.trustedProxies));
  server.decorate('isEncrypted', createIsEncrypted(options.trustedProxies));
  server.decorate('publicUrl', options.publicUrl);
  server.decorate('surfaces', surfaces);
  server.decorate('isDraining', options.isDraining ?? (() => false));
  server.decorate(
    'promisedConnections',
    keepPromises(server.server, options.isPatient ?? (() => false)),
  );
  server.decorate('writeStall', options.writeStall ?? writeStall);
  server.decorateRequest('arrivedAt', 0);
  server.decorateRequest('startedAt', 0);
  server.decorateRequest('pendingRateCheck', null);
  server.decorateRequest('bodyClaim', null);
  server.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = Date.now();
    request.startedAt = performance.now();
    done(transferRefusal(request.raw));
  });
  // For responses sent through the framework; direct ones use `ownHeaders`.
  server.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  server.setErrorHandler((error, request, reply) => {
    respondWithError(error, request, reply);
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    '*',
    createBodyParser({ limit: options.bodyLimit, pace, spool: options.spool ?? null }),
  );
  return server;
}

function createNodeServer(listener: RequestListener, options: ServerOptions): Server {
  const settings = {
    keepAliveTimeout,
    headersTimeout: options.headersTimeout ?? headersTimeout,
    requestTimeout: options.requestTimeout ?? requestTimeout,
    connectionsCheckingInterval: Math.min(
      5_000,
      options.headersTimeout ?? 5_000,
      options.requestTimeout ?? 5_000,
    ),
    maxHeaderSize,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    insecureHTTPParser: false,
    // `checkHead` checks it.
    requireHostHeader: false,
  };
  const server =
    options.tls === null
      ? createHttpServer(settings, listener)
      : // The secure server is the same server on another socket, which its type does not say.
        (createHttpsServer(
          { ...settings, ...tlsSettings(options.tls) },
          listener,
        ) as unknown as Server);
  server.maxRequestsPerSocket = options.requestsPerConnection ?? requestsPerConnection;
  allowHalfOpen(server);
  cutOffVanished(server, options.vanishedLook ?? vanishedLook);
  holdBackContinue(server);
  return server;
}

/**
 * A client may close its sending side after its request and still expects the whole response. Node supports that but
 * ends the connection by default, for TLS on each socket, and its types know only the socket's option.
 */
function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.prependListener('secureConnection', (socket: Socket) => {
    socket.allowHalfOpen = true;
  });
}
