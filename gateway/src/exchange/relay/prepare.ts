import type { RequestFacts } from '#body-work/index.ts';
import { textBound, type Hold } from '#billing/index.ts';
import {
  isPriced,
  resolveModel,
  type CatalogueSnapshot,
  type Model,
  type Route,
} from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { carriesEnvelopes } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { familyOf, usualImageTokens } from '#estimation/index.ts';
import { estimateInputTokens, type WireRequest } from '#protocols/index.ts';
import {
  conversationOf,
  findCandidates,
  servingRoutes,
  startingAt,
  type Conversation,
  type Wish,
} from '#routing/index.ts';
import type { StateHome } from '#upstream-state/index.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { LargeBody } from './large-body.ts';
import type { RelayParts } from './parts.ts';
import { judgeNames, type NameJudgement } from './state/judge-names.ts';
import { termsSent } from './surcharges.ts';

/** A request that may be asked, if it can be paid and somebody can answer it. */
export interface Checked {
  readonly request: WireRequest;
  readonly model: Model;
  /** The catalogue as it was when the request came; all that follows is decided by it. */
  readonly snapshot: CatalogueSnapshot;
  /** Names under which channels may serve the model, the preferred first. */
  readonly servedNames: readonly string[];
  /** What it asks for that changes its price, if an upstream is sent it. */
  readonly terms: readonly string[];
  /** Null for a body that is handled where it is. */
  readonly large: LargeBody | null;
  /** What a thread knows of a request that was not parsed here. */
  readonly facts: RequestFacts | null;
}

/** A checked request and the ways to answer it, found once for all attempts. */
export interface Prepared {
  /** Without its text from `forgetText` on; of one that a thread has read, without the values of its members. */
  request: WireRequest;
  /** Null for a body that is handled where it is, and once its text is forgotten. */
  large: LargeBody | null;
  /** An estimate of its tokens, made when its text was forgotten. */
  inputTokens: number | null;
  readonly model: Model;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** Null when there is only one way, so that nothing depends on it. */
  readonly conversation: Conversation | null;
  /** Where the state lies that it names; null when it names none that is known. */
  readonly home: StateHome | null;
  /** Ids that it names and nobody knows; null when it names none. */
  readonly strange: ReadonlySet<string> | null;
  /** Its history holds reasoning that we sealed. Null until somebody looked: that costs a search through its bytes. */
  isSealed: boolean | null;
}

/**
 * The checks of the body, in the documented order: model named, allowed for the key, enabled, priced; required
 * fields.
 * @param large for what a thread may do of it later.
 * @throws GatewayError
 */
export function checkRequest(
  parts: RelayParts,
  state: ExchangeState,
  large: LargeBody | null,
): Checked {
  const { input } = state;
  const protocol = parts.protocols[input.protocol];
  const path = {
    operation: input.operation,
    model: input.pathModel,
    stream: input.pathStream,
  };
  const opened = protocol.openRequest(input.body, path, input.memory);
  const served = checkModel(parts, state, opened.model);
  return checked(state, served, protocol.readRequest(opened), large, null);
}

/**
 * The same, read in a thread.
 * @throws GatewayError, ClientGone
 */
export async function checkLargeRequest(
  parts: RelayParts,
  state: ExchangeState,
  large: LargeBody,
): Promise<Checked> {
  const { model, read } = await large.open();
  const served = checkModel(parts, state, model);
  const { request, facts } = read();
  return checked(state, served, request, large, facts);
}

type Served = Pick<Checked, 'model' | 'snapshot'> & { readonly id: string };

function checkModel(parts: RelayParts, state: ExchangeState, name: string): Served {
  const { caller } = state.input;
  state.model = name;
  const snapshot = parts.snapshot();
  const resolved = resolveModel(snapshot, name);
  state.catalogueModel = resolved?.model ?? null;
  const values = { model: name };
  if (
    caller.models !== null &&
    !caller.models.has(name) &&
    (resolved === null || !caller.models.has(resolved.id))
  ) {
    throw new GatewayError('model_not_allowed', { values, param: 'model' });
  }
  if (resolved === null || resolved.model.type !== 'chat') {
    throw new GatewayError('model_not_available', { values, param: 'model' });
  }
  const { model, id } = resolved;
  if (!model.enabled) throw new GatewayError('model_disabled', { values, param: 'model' });
  if (!isPriced(model)) throw new GatewayError('model_unpriced', { values, param: 'model' });
  return { model, id, snapshot };
}

function checked(
  state: ExchangeState,
  { model, id, snapshot }: Served,
  request: WireRequest,
  large: LargeBody | null,
  facts: RequestFacts | null,
): Checked {
  const { input } = state;
  const { caller } = input;
  state.stream = request.stream;
  state.choices = request.choices;
  const servedNames = id === request.model ? [id] : [request.model, id];
  const routes = () => routesOf(snapshot, caller.group, servedNames);
  const terms = termsSent(request, model, input, routes);
  state.terms = terms;
  return { request, model, snapshot, servedNames, terms, large, facts };
}

/** Every way that a group has to a model by these names. */
function routesOf(snapshot: CatalogueSnapshot, group: string, names: readonly string[]): Route[] {
  return names.flatMap((name) => snapshot.routes.get(group)?.get(name) ?? []);
}

/** After its last deadline an exchange is settled well within this, or its process is gone and its hold is void. */
const settleMs = 60_000;

const longest = new WeakMap<CatalogueSnapshot, number>();

/** The most time that any channel gives an answer: which one it will be is not known when money is held. */
function longestTotal(snapshot: CatalogueSnapshot, { total }: Timeouts): number {
  let milliseconds = longest.get(snapshot);
  if (milliseconds === undefined) {
    milliseconds = Math.max(total, ...snapshot.channels.map(({ timeouts }) => timeouts.total ?? 0));
    longest.set(snapshot, milliseconds);
  }
  return milliseconds;
}

/** The most that an image takes of any model that may answer, by the names they have at the upstreams. */
function mostImageTokens(
  { caller, protocol }: ExchangeInput,
  { request, model, snapshot, servedNames }: Checked,
): number {
  if (request.extent.images === 0) return 0;
  const routes = routesOf(snapshot, caller.group, servedNames);
  const names = new Set(routes.map(({ upstreamModel }) => upstreamModel));
  if (names.size === 0) names.add(model.id);
  return Math.max(...names.values().map((name) => familyOf({ model: name, protocol }).image.most));
}

/** Everything else costs something, whatever is added to it. */
function isFree(operation: ExchangeInput['operation']): boolean {
  return operation === 'count-tokens';
}

/**
 * Sets aside what the request may cost. Counting tokens costs nothing. What costs something needs a journal that can
 * take its row; what does not is served without one.
 * @throws GatewayError when nothing can be recorded, or something is used up.
 */
export function holdMoney(
  parts: RelayParts,
  { input }: ExchangeState,
  checked: Checked,
): Hold | null | Promise<Hold | null> {
  const { request, model, snapshot } = checked;
  const { caller } = input;
  const group = snapshot.groups.get(caller.group);
  // A key of a group that is gone: nothing will serve it, as the search for channels is about to say.
  if (group === undefined || isFree(input.operation)) return null;
  if (!parts.journal.usable && !parts.billing.isFree(model, group)) {
    throw new GatewayError('unavailable');
  }
  return parts.billing.hold({
    id: input.id,
    caller,
    model,
    group,
    bound: (rates) =>
      textBound(rates, model, {
        bodyBytes: input.body.length,
        outputLimit: request.maxOutputTokens,
        choices: request.choices,
        terms: checked.terms,
        ...(request.webSearches !== undefined && { webSearches: request.webSearches }),
        extent: { ...request.extent, imageTokens: mostImageTokens(input, checked) },
      }),
    expiresAt: parts.clock.now() + longestTotal(snapshot, parts.timeouts) + settleMs,
  });
}

/**
 * May the caller name what the request names? Null when it names nothing, and when no channel would get the names.
 * @throws GatewayError as `judgeNames` says.
 */
export function checkNames(
  parts: RelayParts,
  state: ExchangeState,
  checked: Checked,
): Promise<NameJudgement> | null {
  const { named } = checked.request;
  if (named === undefined) return null;
  const { input } = state;
  const routes = servingRoutes(checked.snapshot, wishOf(input, checked));
  const channels = routes.map(({ channel }) => channel);
  const reached = channels.filter(({ protocols }) => protocols.includes(input.protocol));
  return reached.length === 0 ? null : judgeNames(parts, state, named, reached);
}

function wishOf(
  { caller, headers, protocol }: ExchangeInput,
  { request, servedNames }: Checked,
): Wish {
  const userAgent = headers['user-agent'];
  return {
    group: caller.group,
    clientModel: request.model,
    servedNames,
    protocol,
    userAgent: typeof userAgent === 'string' ? userAgent : '',
  };
}

/**
 * The ways to answer, in the order to try them.
 * @param names null when the request names nothing
 * @throws GatewayError when there is none.
 */
export function findWays(
  parts: RelayParts,
  { input }: ExchangeState,
  checked: Checked,
  names: NameJudgement | null,
): Prepared {
  const { request, model, snapshot, large, facts } = checked;
  const { caller } = input;
  const found = findCandidates(snapshot, wishOf(input, checked), parts.random);
  const routes =
    names === null || names.refusing.size === 0
      ? found
      : found.filter(({ channel }) => !names.refusing.has(channel));
  const prepared = {
    request,
    large,
    inputTokens: null,
    model,
    routes,
    conversation: null,
    home: names?.home ?? null,
    strange: names?.strange ?? null,
    isSealed: null,
  };
  if (routes.length === 1) return prepared;
  const speaks = ({ channel }: Route) => channel.protocols.includes(input.protocol);
  const isMixed = routes.some(speaks) && !routes.every(speaks);
  const isSealed = isMixed
    ? (facts?.isSealed ?? carriesEnvelopes(request.body, input.protocol))
    : null;
  const conversation =
    facts?.conversation ??
    conversationOf({
      keyId: caller.keyId,
      model: request.model,
      headers: input.headers,
      json: request.json,
    });
  const now = parts.clock.monotonic();
  // A warm cache is no reason to convert what a channel of the client's own protocol could answer; thoughts that only
  // the other channel can read are.
  const ranksFirst = isSealed === false ? speaks : undefined;
  const preferred =
    prepared.home === null
      ? parts.affinity.prefer(routes, conversation, now, ranksFirst)
      : startingAt(routes, prepared.home.channel);
  return { ...prepared, routes: preferred, conversation, isSealed };
}

const noText = Object.freeze({ body: Buffer.alloc(0), json: Object.freeze({}) });

/**
 * Lets go of the request's text. Nobody is sent it again once the client has seen some of an answer; an agent's
 * request is hundreds of kilobytes, more than that when parsed, and its answer may take minutes.
 */
export function forgetText({ input }: ExchangeState, prepared: Prepared): void {
  prepared.inputTokens = inputTokensOf(prepared);
  prepared.large = null;
  prepared.request = { ...prepared.request, ...noText };
  input.body = noText.body;
  input.memory?.release();
}

/** An estimate of the request's tokens, for when nobody says how many there were. */
export function inputTokensOf({
  inputTokens,
  request,
  model,
  routes,
}: Pick<Prepared, 'inputTokens' | 'request' | 'model' | 'routes'>): number {
  if (inputTokens !== null) return inputTokens;
  if (request.extent.images === 0) return estimateInputTokens(request);
  // Every channel of a model has the same one, whatever they call it.
  const target = { model: routes[0]?.upstreamModel ?? model.id, protocol: 'chat' } as const;
  return estimateInputTokens(request, usualImageTokens(target));
}
