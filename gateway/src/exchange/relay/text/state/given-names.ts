import { ownerOf } from '#identity/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { StateKind, StateName } from '#protocols/index.ts';
import type { TextInput } from '../input.ts';
import type { TextParts } from '../parts.ts';
import type { PreparedText } from '../prepared.ts';
import type { TextSent } from '../text-sent.ts';

/** What can be named only if the upstream was to keep the response; the others it keeps in any case. */
const ofKeptResponses: ReadonlySet<StateKind> = new Set(['response', 'item']);

/** Takes what a response names that its upstream keeps, before the client sees it. */
export type TakeGiven = (names: readonly StateName[]) => void;

/**
 * Remembers, for one attempt, whom its response gives which ids: in this process at once, everywhere with the usage row.
 * @param secret the credential that it is asked with.
 * @param sent gets them.
 */
export function createTakeGiven(
  { upstreamState, clock, keepStateFor }: TextParts,
  { caller }: Pick<TextInput, 'caller'>,
  { request, strange }: Pick<PreparedText, 'request' | 'strange'>,
  { channel }: Route,
  secret: string | null,
  sent: TextSent,
): TakeGiven {
  const { isKept = false } = request;
  return function takeGiven(names) {
    const owner = upstreamState.digest('owner', ownerOf(caller));
    const credential = secret === null ? null : upstreamState.digest('credential', secret);
    const expiresAt = clock.now() + keepStateFor;
    const ids: string[] = [];
    for (const { kind, id } of names) {
      if (strange?.has(id) === true || (!isKept && ofKeptResponses.has(kind))) continue;
      const digest = upstreamState.digest('id', id);
      upstreamState.note({ id: digest, owner, channel: channel.id, credential, expiresAt });
      ids.push(digest, kind);
    }
    if (ids.length === 0) return;
    sent.upstreamState = {
      owner,
      channel: channel.id,
      credential,
      expiresAt,
      ids: [...(sent.upstreamState?.ids ?? []), ...ids],
    };
  };
}
