import { ownerOf } from '#identity/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { StateKind, StateName } from '#protocols/index.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';

/** What can be named only if the upstream was to keep the answer; the others it keeps in any case. */
const ofKeptAnswers: ReadonlySet<StateKind> = new Set(['response', 'item']);

/** Takes what an answer names that its upstream keeps, before the client sees it. */
export type TakeGiven = (names: readonly StateName[]) => void;

/**
 * Remembers, for one attempt, whom its answer gives which ids: in this process at once, everywhere with the usage row.
 * @param secret the credential that it is asked with
 */
export function createTakeGiven(
  { upstreamState, clock, keepStateFor }: RelayParts,
  state: ExchangeState,
  { request, strange }: Pick<Prepared, 'request' | 'strange'>,
  { channel }: Route,
  secret: string | null,
): TakeGiven {
  // Of an attempt before, nothing was shown.
  state.upstreamState = null;
  const { isKept = false } = request;
  return function takeGiven(names) {
    const owner = upstreamState.digest('owner', ownerOf(state.input.caller));
    const credential = secret === null ? null : upstreamState.digest('credential', secret);
    const expiresAt = clock.now() + keepStateFor;
    const ids: string[] = [];
    for (const { kind, id } of names) {
      if (strange?.has(id) === true || (!isKept && ofKeptAnswers.has(kind))) continue;
      const digest = upstreamState.digest('id', id);
      upstreamState.note({ id: digest, owner, channel: channel.id, credential, expiresAt });
      ids.push(digest, kind);
    }
    if (ids.length === 0) return;
    state.upstreamState = {
      owner,
      channel: channel.id,
      credential,
      expiresAt,
      ids: [...(state.upstreamState?.ids ?? []), ...ids],
    };
  };
}
