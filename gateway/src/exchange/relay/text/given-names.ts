import type { Route } from '#catalogue/index.ts';
import { ownerOf } from '#identity/index.ts';
import type { StateKind, StateName } from '#protocols/index.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import type { PreparedText } from './prepared.ts';

/** Ids that can be used only if the upstream was told to keep the response; it keeps the others in any case. */
const ofKeptResponses: ReadonlySet<StateKind> = new Set(['response', 'item']);

/** Records the ids that a response gives out and its upstream keeps, before the client sees them. */
export type TakeGiven = (names: readonly StateName[]) => void;

/**
 * Records, for one attempt, who is given which ids: in this process at once, on other nodes with the usage row.
 * @param secret the credential of the attempt.
 * @param sent gets the ids.
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
  const isRecorded = ({ kind, id }: StateName): boolean =>
    strange?.has(id) !== true && (isKept || !ofKeptResponses.has(kind));
  return function takeGiven(all) {
    const names = all.filter(isRecorded);
    if (names.length === 0) return;
    const owner = upstreamState.digest('owner', ownerOf(caller));
    const credential = secret === null ? null : upstreamState.digest('credential', secret);
    const expiresAt = clock.now() + keepStateFor;
    const ids: string[] = [];
    for (const { kind, id } of names) {
      const digest = upstreamState.digest('id', id);
      upstreamState.note({ id: digest, owner, channel: channel.id, credential, expiresAt });
      ids.push(digest, kind);
    }
    sent.upstreamState = {
      owner,
      channel: channel.id,
      credential,
      expiresAt,
      ids: [...(sent.upstreamState?.ids ?? []), ...ids],
    };
  };
}
