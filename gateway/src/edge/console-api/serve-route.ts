import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { respond } from '#http/index.ts';
import type { RouteContract } from './contract/index.ts';
import { ApiError, apiHeaders, encodeApiError, type FieldProblem, base } from './errors.ts';
import { type Caller, requirePerson, type SignedInCaller } from './sessions/caller.ts';
import { assertOwnOrigin } from './sessions/guard.ts';

/** What a route works with, checked. */
export interface ApiCall<Route extends RouteContract> {
  readonly request: FastifyRequest;
  readonly parameters: z.output<Route['parameters']>;
  readonly query: z.output<Route['query']>;
  readonly body: z.output<Route['body']>;
  /** Null on routes that need no session. */
  readonly caller: CallerFor<Route>;
}

type CallerFor<Route extends RouteContract> = Route['permission'] extends 'nobody'
  ? null
  : 'people' extends Route['callers']
    ? SignedInCaller
    : Caller;

/** What a route returns. Members that its contract does not declare stay here. */
export interface ApiReply<Route extends RouteContract> {
  readonly body: z.input<Route['response']>;
  /** What is sent instead of the body: YAML for the configuration file. */
  readonly yaml?: string;
  /** Values of `set-cookie`. */
  readonly cookies?: readonly string[];
  /** Of the object, for `if-match`. */
  readonly revision?: number;
  /** Where the browser goes instead. */
  readonly location?: string;
}

export type Handler<Route extends RouteContract> = (
  call: ApiCall<Route>,
) => Promise<ApiReply<Route>>;

export interface ServeOptions {
  /** @throws ApiError `unauthenticated` */
  readonly callerFor: (request: FastifyRequest) => Promise<Caller>;
}

const mostProblems = 20;

/** Serves a route of the contract: session, permission, origin, values, and a response of declared members only. */
export function serveRoute<Route extends RouteContract>(
  scope: FastifyInstance,
  route: Route,
  options: ServeOptions,
  handler: Handler<Route>,
): void {
  serveChecked(scope, route, options, async (call, request, reply) => {
    const { body, yaml, cookies = [], revision, location } = await handler(call);
    const text = yaml ?? JSON.stringify(route.response.parse(body));
    const type = yaml === undefined ? 'application/json' : 'application/yaml';
    const etag = revision === undefined ? [] : ['etag', `"${revision}"`];
    const leading = location === undefined ? [] : ['location', location];
    const extra = [...cookies.flatMap((value) => ['set-cookie', value]), ...etag, ...leading];
    respond(request, reply, route.status ?? 200, type, text, [...apiHeaders, ...extra]);
  });
}

/** Serves a route whose response is sent in parts. What the handler throws before it has begun one is a refusal. */
export function serveStream<Route extends RouteContract>(
  scope: FastifyInstance,
  route: Route,
  options: ServeOptions,
  handler: (
    call: ApiCall<Route>,
    begin: (contentType: string, extra?: readonly string[]) => ServerResponse,
  ) => Promise<void>,
): void {
  serveChecked(scope, route, options, (call, request, reply) =>
    handler(call, (contentType, extra = []) => {
      reply.hijack();
      const own = ['x-request-id', request.id, 'content-type', contentType];
      reply.raw.writeHead(200, [...own, ...apiHeaders, ...extra]);
      return reply.raw;
    }),
  );
}

function serveChecked<Route extends RouteContract>(
  scope: FastifyInstance,
  route: Route,
  { callerFor }: ServeOptions,
  respond: (call: ApiCall<Route>, request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const isWrite = route.method !== 'GET';

  scope.route({
    method: route.method,
    url: base + route.path,
    // Before the body is read.
    async onRequest(request) {
      if (route.permission === 'nobody') {
        if (isWrite) assertOwnOrigin(request);
        return;
      }
      const caller = await callerFor(request);
      if (!caller.permissions.includes(route.permission)) {
        throw new ApiError('forbidden', 'your role does not allow this');
      }
      if (route.callers === 'people') requirePerson(caller);
      callers.set(request, caller);
    },
    async handler(request, reply) {
      const call = {
        request,
        parameters: parseInput(route.parameters, request.params, 'path'),
        query: parseInput(route.query, request.query, 'query'),
        body: parseInput(route.body, isWrite ? (request.body ?? {}) : {}, 'body'),
        caller: callers.get(request) ?? null,
      } as ApiCall<Route>;
      await respond(call, request, reply);
    },
  });
}

/** Shows refusals in the API's own shape; everything else goes to the gateway's responder. */
export function answerApiErrors(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ApiError)) {
      request.server.respondWithError(error, request, reply);
      return;
    }
    const { retryAfter, status } = error;
    const wait = retryAfter === null ? [] : ['retry-after', String(retryAfter)];
    const text = encodeApiError(error, request.id);
    respond(request, reply, status, 'application/json', text, [...apiHeaders, ...wait]);
  });
}

/** @throws ApiError `invalid` with all problems at once */
function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: 'path' | 'query' | 'body',
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const twice = place === 'query' ? namesGivenTwice(value) : noNames;
  const fields = result.error.issues
    .slice(0, mostProblems)
    .flatMap(problemsOf)
    .map((each) => (twice.has(each.path) ? { ...each, message: 'expected one value' } : each));
  const [first] = fields;
  const more = fields.length > 1 ? `, and ${fields.length - 1} more` : '';
  throw new ApiError(
    place === 'path' ? 'not_found' : 'invalid',
    place === 'path'
      ? 'not found'
      : `${first === undefined || first.path === '' ? place : first.path}: ${first?.message ?? 'invalid'}${more}`,
    place === 'path' ? {} : { fields },
  );
}

const noNames: ReadonlySet<string> = new Set();

/** A query names these several times. */
function namesGivenTwice(query: unknown): ReadonlySet<string> {
  const entries = Object.entries(query as Readonly<Record<string, unknown>>);
  return new Set(entries.filter(([, value]) => Array.isArray(value)).map(([name]) => name));
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, shorten(key)]),
      message: 'unknown',
    }));
  }
  return [{ path: pathOf(issue.path), message: issue.message }];
}

function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    text += typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${String(step)}`;
  }
  return text;
}

const shorten = (text: string) => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
