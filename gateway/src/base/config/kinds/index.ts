import { adminKey } from './admin-key.ts';
import { alias } from './alias.ts';
import { channel } from './channel.ts';
import { group } from './group.ts';
import { key } from './key.ts';
import type { DeclaredKind, EntryOf, KindName } from './kind.ts';
import { model } from './model.ts';
import { team } from './team.ts';
import { user } from './user.ts';

/** What a file declares, in the order in which it is applied: what others refer to first. */
export const kinds = { group, model, alias, channel, user, team, key } satisfies Record<
  KindName,
  DeclaredKind
>;

export { adminKey };
/** An admin key as somebody asks for it. */
export type RequestedAdminKey = EntryOf<typeof adminKey>;

export type DeclaredGroup = EntryOf<typeof group>;
export type DeclaredModel = EntryOf<typeof model>;
/** Another name for a catalogue model. */
export type DeclaredAlias = EntryOf<typeof alias>;
export type DeclaredChannel = EntryOf<typeof channel>;
export type DeclaredUser = EntryOf<typeof user>;
export type DeclaredTeam = EntryOf<typeof team>;
export type DeclaredKey = EntryOf<typeof key>;

export type { CacheRule, ServedModel, StateRule } from './channel.ts';
export type {
  ColumnsOf,
  DeclaredKind,
  EntryOf,
  Kind,
  KindName,
  Member,
  NamesWith,
  ObjectName,
} from './kind.ts';
export type { ModelType } from './model-type.ts';
export type { Decimal, DeclaredPrice, PromptTier, TokenPrices } from './price.ts';
