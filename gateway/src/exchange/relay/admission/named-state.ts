import { setTimeout as wait } from 'node:timers/promises';
import type { Channel } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import type { NamedState, StateKind } from '#protocols/index.ts';
import { isNative, servingRoutes } from '#routing/index.ts';
import {
  isShared,
  type Standing,
  type StateDirectory,
  type StateLocation,
} from '#upstream-state/index.ts';
import type { Exchange, ExchangeInput } from '../exchange.ts';
import { routeQueryOf } from './find-model.ts';
import type { CheckedRequest } from '../operation.ts';

/** What the ids in a request mean for its routes. */
export interface NameJudgement {
  /** Channels that must not get these ids. */
  readonly refusing: ReadonlySet<Channel>;
  /** Where the conversation was so far; null when the ids do not tell. */
  readonly stateLocation: StateLocation | null;
  /** Ids of unknown owners. If the response repeats them, it has not given them out. */
  readonly unownedIds: ReadonlySet<string>;
}

/**
 * Waiting times in milliseconds. Together they are the longest time that rows of other nodes are on their way:
 * committed to a journal, gathered and applied.
 */
const waits = [100, 200, 300, 400, 500, 500];

interface Judged extends NamedState {
  readonly digest: string;
  standing: Standing;
}

/**
 * Judges whether the caller may name these ids, for each channel that would get them.
 * @param channels those of the client's protocol; others get no ids
 * @throws GatewayError `previous_response_not_found` or `state_not_found` when no channel takes the ids. The words are
 * the same for ids of other owners and for unknown ids, and so is the time if unknown ids are refused. `unavailable`
 * when the database does not respond.
 */
export async function judgeNames(
  parts: StateParts,
  input: Pick<ExchangeInput, 'id' | 'caller' | 'client'>,
  namedStates: readonly NamedState[],
  channels: readonly Channel[],
): Promise<NameJudgement> {
  const { upstreamState } = parts;
  const owner = upstreamState.digest('owner', ownerOf(input.caller));
  const judgedNames = namedStates.map((name): Judged => {
    const digest = upstreamState.digest('id', name.id);
    return { ...name, digest, standing: upstreamState.recall(owner, digest) };
  });

  async function lookUp(): Promise<void> {
    const unownedNames = judgedNames.filter(({ standing }) => standing.is !== 'own');
    const foundStates = await upstreamState.find(
      owner,
      unownedNames.map(({ digest }) => digest),
    );
    for (const name of unownedNames) name.standing = foundStates.get(name.digest) ?? name.standing;
  }

  const isOpen = () => judgedNames.some(({ standing }) => standing.is !== 'own');
  if (channels.some(({ state: rule }) => rule !== 'any')) {
    if (isOpen()) await lookUp();
    // The refusal takes the same time, whether the ids have another owner or none.
    if (channels.some(({ state: rule }) => rule === 'owned')) {
      for (const milliseconds of waits) {
        if (takers(channels, judgedNames).length > 0 || input.client.disconnected) break;
        await wait(milliseconds);
        await lookUp();
      }
    }
  } else if (isOpen() && hasChoice(channels)) {
    // No channel needs a check. The look-up only tells where the conversation was, and without it other channels can be
    // asked.
    await lookUp().catch(() => {});
  }

  const taking = new Set(takers(channels, judgedNames));
  const refusing = new Set(channels.filter((channel) => !taking.has(channel)));
  for (const channel of refusing) report(parts, input, channel, judgedNames);
  if (taking.size === 0) throw refusalOf(channels, judgedNames);
  return {
    refusing,
    stateLocation: locationOf(judgedNames),
    unownedIds: new Set(
      judgedNames.filter(({ standing }) => standing.is !== 'own').map(({ id }) => id),
    ),
  };
}

function takers(channels: readonly Channel[], judgedNames: readonly Judged[]): readonly Channel[] {
  return channels.filter((channel) => refusedBy(channel, judgedNames) === undefined);
}

/** The first id that the channel must not get. */
function refusedBy(
  { state, sharedState }: Channel,
  judgedNames: readonly Judged[],
): Judged | undefined {
  if (state === 'any') return undefined;
  return judgedNames.find(({ id, standing: { is } }) => {
    const isTaken = is === 'own' || (is === 'unknown' && state === 'guarded');
    return !isTaken && !isShared(sharedState, id);
  });
}

function refusalOf(channels: readonly Channel[], judgedNames: readonly Judged[]): GatewayError {
  const refusedName = channels.map((channel) => refusedBy(channel, judgedNames)).find(Boolean);
  return stateNotFound(refusedName ?? { kind: 'item', param: 'input' });
}

/** Reports a refusal to the operator, who may have to share the state; the owner is never named. */
function report(
  { onRefusedState }: Pick<StateParts, 'onRefusedState'>,
  { id }: Pick<ExchangeInput, 'id'>,
  channel: Channel,
  judgedNames: readonly Judged[],
): void {
  const refusedName = refusedBy(channel, judgedNames);
  if (refusedName === undefined) return;
  onRefusedState({
    requestId: id,
    channel: channel.name,
    kind: refusedName.kind,
    digest: refusedName.digest,
  });
}

/** A response continues where it is, whatever else the request names. */
function locationOf(judgedNames: readonly Judged[]): StateLocation | null {
  let location: StateLocation | null = null;
  for (const { kind, standing } of judgedNames) {
    if (standing.is !== 'own') continue;
    if (kind === 'response' || kind === 'conversation') return standing.location;
    location ??= standing.location;
  }
  return location;
}

function hasChoice(channels: readonly Channel[]): boolean {
  return channels.length > 1 || (channels[0]?.credentials.length ?? 0) > 1;
}

/** What it takes to judge who may name the ids of upstream state. */
export interface StateParts {
  readonly upstreamState: StateDirectory;
  /** Called when an id was refused for a channel: the operator may have to share the state that it names. */
  readonly onRefusedState: (refusedState: RefusedState) => void;
}

/** It does not reveal whose id it is. */
export interface RefusedState {
  readonly requestId: string;
  /** The channel's name. */
  readonly channel: string;
  readonly kind: StateKind;
  /** The digest of the id. */
  readonly digest: string;
}

/** The error for a request that names state that does not exist or is not the caller's; both in the same words. */
export function stateNotFound({ kind, param }: Pick<NamedState, 'kind' | 'param'>): GatewayError {
  if (param === 'previous_response_id' && kind === 'response') {
    return new GatewayError('previous_response_not_found', { param });
  }
  // With this the SDK sends the whole conversation instead.
  const details = param.endsWith('previous_message_id') ? { error_code: 'thread_not_found' } : null;
  return new GatewayError('state_not_found', {
    values: { param },
    param,
    ...(details !== null && { details }),
  });
}

/** A request that may name ids of upstream state. */
export interface NamingRequest extends CheckedRequest {
  /** The ids that it names; undefined: none. */
  readonly namedStates: readonly NamedState[] | undefined;
  /** Null when the request names none, or no upstream would get them. */
  readonly names: NameJudgement | null;
}

/**
 * Judges whether the caller may name the ids of upstream state in the request. Null when there are none. Nothing is
 * checked when no channel would get the ids.
 */
export function authorizeNames<Checked extends NamingRequest>(
  parts: StateParts,
  { input }: Pick<Exchange, 'input'>,
  checkedRequest: Checked,
): Promise<Checked> | null {
  const { namedStates } = checkedRequest;
  return namedStates === undefined ? null : authorize(parts, input, checkedRequest, namedStates);
}

async function authorize<Checked extends NamingRequest>(
  parts: StateParts,
  input: ExchangeInput,
  checkedRequest: Checked,
  namedStates: readonly NamedState[],
): Promise<Checked> {
  const { resolvedModel } = checkedRequest;
  const routes = servingRoutes(resolvedModel.snapshot, routeQueryOf(input, resolvedModel));
  const native = routes.filter((route) => isNative(route, input.protocol));
  const reachedChannels = native.map(({ channel }) => channel);
  if (reachedChannels.length === 0) return checkedRequest;
  return { ...checkedRequest, names: await judgeNames(parts, input, namedStates, reachedChannels) };
}
