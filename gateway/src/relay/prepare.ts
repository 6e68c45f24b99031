import type { Hold } from '../billing/index.ts';
import {
  isPriced,
  resolveModel,
  type CatalogueSnapshot,
  type Model,
  type Route,
} from '../catalogue/index.ts';
import type { Timeouts } from '../config/index.ts';
import { carriesEnvelopes } from '../conversion/index.ts';
import { GatewayError } from '../errors/index.ts';
import { familyOf } from '../estimation/index.ts';
import { estimateInputTokens, type WireRequest } from '../protocols/index.ts';
import { conversationOf, findCandidates, type Conversation } from '../routing/index.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { RelayParts } from './parts.ts';

/** A request that may be asked, if it can be paid and somebody can answer it. */
export interface Checked {
  readonly request: WireRequest;
  readonly model: Model;
  /** The catalogue as it was when the request came; all that follows is decided by it. */
  readonly snapshot: CatalogueSnapshot;
  /** Names under which channels may serve the model, the preferred first. */
  readonly servedNames: readonly string[];
}

/** A checked request and the ways to answer it, found once for all attempts. */
export interface Prepared {
  /** Without its text from `forgetText` on. */
  request: WireRequest;
  /** An estimate of its tokens, made when its text was forgotten. */
  inputTokens: number | null;
  readonly model: Model;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** Null when there is only one way, so that nothing depends on it. */
  readonly conversation: Conversation | null;
  /** Its history holds reasoning that we sealed. Null until somebody looked: that costs a search through its bytes. */
  isSealed: boolean | null;
}

/**
 * The checks of the body, in the documented order: model named, allowed for the key, enabled, priced; required
 * fields.
 * @throws GatewayError
 */
export function checkRequest(parts: RelayParts, state: ExchangeState): Checked {
  const { input } = state;
  const { caller } = input;
  const protocol = parts.protocols[input.protocol];
  const opened = protocol.openRequest(input.body, {
    operation: input.operation,
    model: input.pathModel,
    stream: input.pathStream,
  });
  state.model = opened.model;

  const snapshot = parts.snapshot();
  const resolved = resolveModel(snapshot, opened.model);
  state.catalogueModel = resolved?.model ?? null;
  const values = { model: opened.model };
  if (
    caller.models !== null &&
    !caller.models.has(opened.model) &&
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
  const request = protocol.readRequest(opened);
  state.stream = request.stream;
  state.choices = request.choices;
  const servedNames = id === request.model ? [id] : [request.model, id];
  return { request, model, snapshot, servedNames };
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
  const routes = servedNames.flatMap((name) => snapshot.routes.get(caller.group)?.get(name) ?? []);
  const names = new Set(routes.map(({ upstreamModel }) => upstreamModel));
  if (names.size === 0) names.add(model.id);
  return Math.max(...names.values().map((name) => familyOf({ model: name, protocol }).image.most));
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
  if (group === undefined || input.operation !== 'generate') return null;
  if (!parts.journal.usable && !parts.billing.isFree(model, group)) {
    throw new GatewayError('unavailable');
  }
  return parts.billing.hold({
    id: input.id,
    caller,
    model,
    group,
    bodyBytes: input.body.length,
    outputLimit: request.maxOutputTokens,
    choices: request.choices,
    extent: { ...request.extent, imageTokens: mostImageTokens(input, checked) },
    expiresAt: parts.clock.now() + longestTotal(snapshot, parts.timeouts) + settleMs,
  });
}

/**
 * The ways to answer, in the order to try them.
 * @throws GatewayError when there is none.
 */
export function findWays(
  parts: RelayParts,
  { input }: ExchangeState,
  { request, model, snapshot, servedNames }: Checked,
): Prepared {
  const { caller } = input;
  const userAgent = input.headers['user-agent'];
  const routes = findCandidates(
    snapshot,
    {
      group: caller.group,
      clientModel: request.model,
      servedNames,
      protocol: input.protocol,
      userAgent: typeof userAgent === 'string' ? userAgent : '',
    },
    parts.random,
  );
  const prepared = {
    request,
    inputTokens: null,
    model,
    routes,
    conversation: null,
    isSealed: null,
  };
  if (routes.length === 1) return prepared;
  const speaks = ({ channel }: Route) => channel.protocols.includes(input.protocol);
  const isMixed = routes.some(speaks) && !routes.every(speaks);
  const isSealed = isMixed ? carriesEnvelopes(request.body, input.protocol) : null;
  const conversation = conversationOf({
    keyId: caller.keyId,
    model: request.model,
    headers: input.headers,
    json: request.json,
    namesAnswers: input.protocol === 'responses',
  });
  const now = parts.clock.monotonic();
  // A warm cache is no reason to convert what a channel of the client's own protocol could answer; thoughts that only
  // the other channel can read are.
  const ranksFirst = isSealed === false ? speaks : undefined;
  const preferred = parts.affinity.prefer(routes, conversation, now, ranksFirst);
  return { ...prepared, routes: preferred, conversation, isSealed };
}

const noText = Object.freeze({ body: Buffer.alloc(0), json: Object.freeze({}) });

/**
 * Lets go of the request's text. Nobody is sent it again once the client has seen some of an answer; an agent's
 * request is hundreds of kilobytes, more than that when parsed, and its answer may take minutes.
 */
export function forgetText({ input }: ExchangeState, prepared: Prepared): void {
  prepared.inputTokens = estimateInputTokens(prepared.request);
  prepared.request = { ...prepared.request, ...noText };
  input.body = noText.body;
}

/** An estimate of the request's tokens, for when nobody says how many there were. */
export function inputTokensOf({
  inputTokens,
  request,
}: Pick<Prepared, 'inputTokens' | 'request'>): number {
  return inputTokens ?? estimateInputTokens(request);
}
