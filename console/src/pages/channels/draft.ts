import { queryOptions } from '@tanstack/react-query';
import { read, type Body, type Result } from '../../api/client.ts';
import { mergeMembers, same } from '../../pieces/merge.ts';
import { readEvery } from './list.ts';

export type ChannelDetail = Result<'readChannel'>;
export type ChannelForm = Result<'readChannelForm'>;
export type Member = ChannelForm['members'][number];
export type Vendor = ChannelForm['vendors'][number];

/** A secret that the gateway has, as it shows it. */
export interface Hint {
  readonly hint: string;
}

/** A key that the gateway has. */
export type StoredKey = ChannelDetail['api_keys'][number];

export interface ServedModel {
  readonly name: string;
  /** At the upstream; empty: the same. */
  readonly upstream: string;
}

/** Members of a channel as they are edited: as the API has them, with every model in one form. */
export interface Draft {
  readonly name: string;
  readonly provider: string;
  readonly base_url: string | null;
  readonly protocols: readonly string[];
  /** Stored ones by their hints, new ones as they were typed. */
  readonly api_keys: readonly (string | StoredKey)[];
  /** By name; the same. */
  readonly headers: Readonly<Record<string, string | Hint>>;
  readonly models: readonly ServedModel[];
  readonly timeouts: Readonly<Record<string, string>>;
  /** Every other member of the kind. */
  readonly [member: string]: unknown;
}

export const channelFormQuery = queryOptions({
  queryKey: ['channel-form'],
  queryFn: ({ signal }) => read<'readChannelForm'>('/forms/channel', {}, signal),
  staleTime: 60_000,
});

/** @param id or the name */
export const channelQuery = (id: string) =>
  queryOptions({
    queryKey: ['channels', id],
    queryFn: ({ signal }) => read<'readChannel'>(`/channels/${encodeURIComponent(id)}`, {}, signal),
    // The form takes it over unless something is typed there: then a save shows both.
    refetchInterval: readEvery,
  });

/** A channel as it is. */
export function draftOf(channel: ChannelDetail, { members }: ChannelForm): Draft {
  const values: Readonly<Record<string, unknown>> = channel;
  const own = Object.fromEntries(members.map(({ name }) => [name, values[name] ?? null]));
  const models = channel.models.map((model) =>
    typeof model === 'string' ? { name: model, upstream: '' } : model,
  );
  return { ...own, models } as unknown as Draft;
}

/** A channel of which nothing is known. */
export function emptyDraft({ members }: ChannelForm): Draft {
  const usual = Object.fromEntries(members.map(({ name, usual: value }) => [name, value]));
  return { ...usual, name: '', provider: '', models: [] } as unknown as Draft;
}

/** Another channel like this one. Secrets stay where they are. */
export function cloneOf(channel: ChannelDetail, form: ChannelForm, all: Named): Draft {
  const like = draftOf(channel, form);
  return { ...like, name: freeName(like, form, all), api_keys: [], headers: {}, proxy: null };
}

/** What a body says so that what was before becomes the draft; `null` stands for none. */
export function bodyOf(before: Draft, draft: Draft): Body<'changeChannel'> {
  const changed = Object.keys(draft).filter((name) => !same(before[name], draft[name]));
  return Object.fromEntries(changed.map((name) => [name, givenOf(name, before, draft)]));
}

/** A member as the API takes it. */
function givenOf(name: string, before: Draft, draft: Draft): unknown {
  if (name === 'models') {
    return draft.models.map((model) =>
      model.upstream === '' || model.upstream === model.name ? model.name : { ...model },
    );
  }
  if (name === 'headers') {
    const gone = Object.keys(before.headers).filter((each) => !(each in draft.headers));
    const typed = Object.entries(draft.headers).filter(([, value]) => typeof value === 'string');
    return Object.fromEntries([...gone.map((each) => [each, null]), ...typed]);
  }
  return draft[name] === '' ? null : draft[name];
}

/** With every model under its name, as they are changed. */
const byPart = (draft: Draft) => ({
  ...draft,
  models: Object.fromEntries(draft.models.map(({ name, upstream }) => [name, upstream || name])),
});

/** What two people have made of one channel: each change, and the channel with the changes of both. */
export function mergeDrafts(before: Draft, theirs: Draft, yours: Draft) {
  const { merged, changes } = mergeMembers(byPart(before), byPart(theirs), byPart(yours), [
    'models',
    'headers',
    'timeouts',
  ]);
  const models = Object.entries(merged['models'] as Readonly<Record<string, string>>).map(
    ([name, upstream]) => ({ name, upstream: upstream === name ? '' : upstream }),
  );
  return { merged: { ...merged, models } as unknown as Draft, changes };
}

/** The vendors whose keys look like this one: those with the longest beginning. None: it could be anybody's. */
export function vendorsOfKey(key: string, vendors: readonly Vendor[]): readonly Vendor[] {
  const lengthOf = ({ key_beginnings: beginnings }: Vendor) =>
    Math.max(0, ...beginnings.filter((each) => key.startsWith(each)).map(({ length }) => length));
  const longest = Math.max(0, ...vendors.map(lengthOf));
  return longest === 0 ? [] : vendors.filter((vendor) => lengthOf(vendor) === longest);
}

/** The last key that was typed or pasted; empty: none. */
export const typedKey = (keys: Draft['api_keys'] = []): string =>
  keys.findLast((key) => typeof key === 'string') ?? '';

/** With the address and the protocols of another vendor. */
export const withVendor = (draft: Draft, { provider, base_url, protocols }: Vendor): Draft => ({
  ...draft,
  provider,
  base_url,
  protocols,
});

/** The vendor of the draft: a known server by its address, else its provider. */
export function vendorOf(draft: Draft, vendors: readonly Vendor[]): Vendor | undefined {
  const own = vendors.filter(({ provider }) => provider === draft.provider);
  return (
    own.find(({ name, base_url: url }) => name !== draft.provider && url === draft.base_url) ??
    own.find(({ name }) => name === draft.provider)
  );
}

type Named = readonly { readonly name: string }[];

/** A name for a new channel that no other has: its vendor's, with a number behind it. Empty: there is no vendor. */
export function freeName(draft: Draft, { vendors }: ChannelForm, all: Named): string {
  const wanted = vendorOf(draft, vendors)?.name ?? '';
  const taken = new Set(all.map(({ name }) => name));
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}-${count}`;
  return name;
}

/** A draft that waits in the tab, with what it was made from. */
export interface KeptDraft {
  readonly before: Draft;
  readonly revision: number;
  readonly draft: Draft;
  /** Whether something was typed that must not wait there. */
  readonly hadSecrets: boolean;
}

const hasCredentials = (value: unknown) => typeof value === 'string' && /\/\/[^/]*@/.test(value);

/** The draft without what was typed of keys, values of headers, and addresses with a password. */
export function withoutSecrets(
  before: Draft,
  draft: Draft,
): Pick<KeptDraft, 'draft' | 'hadSecrets'> {
  const api_keys = draft.api_keys.filter((key) => typeof key !== 'string');
  const isTyped = (value: unknown) => typeof value === 'string' && value !== '';
  const headers = Object.entries(draft.headers).map(
    ([name, value]) => [name, typeof value === 'string' ? '' : value] as const,
  );
  const addresses = ['proxy', 'base_url'].filter((name) => hasCredentials(draft[name]));
  return {
    draft: {
      ...draft,
      api_keys,
      headers: Object.fromEntries(headers),
      ...Object.fromEntries(addresses.map((name) => [name, before[name]])),
    },
    hadSecrets:
      api_keys.length < draft.api_keys.length ||
      Object.values(draft.headers).some(isTyped) ||
      addresses.length > 0,
  };
}
