import type { z } from 'zod';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import { kinds } from '#config/index.ts';
import { knownServers, providerNames, vendorFacts } from '#vendors/index.ts';
import type { contract } from '../contract/index.ts';

type ChannelForm = z.input<typeof contract.readChannelForm.response>;

/** What a form for channels needs, from the description of the kind and of the vendors. */
export function channelForm({ groups, models, aliases }: CatalogueSnapshot): ChannelForm {
  return {
    members,
    vendors,
    groups: [...groups.keys()].toSorted(),
    models: [...models.keys(), ...aliases.keys()].toSorted(),
  };
}

const members: ChannelForm['members'] = kinds.channel.list.map(
  ({ name, form, choices, usualValue, stored }) => ({
    name,
    form: form as ChannelForm['members'][number]['form'],
    choices: choices === undefined ? null : [...choices],
    usual: usualValue ?? null,
    secret: stored === 'sealed',
  }),
);

const vendors: ChannelForm['vendors'] = [
  ...providerNames.map((name) => ({ ...vendorFacts[name], provider: name })),
  // What is known by its address alone speaks as any server of its kind.
  ...knownServers.map((server) => ({
    ...vendorFacts['openai-compatible'],
    ...server,
    provider: 'openai-compatible',
  })),
].map(({ name, provider, baseUrl, protocols, alsoSpeaks = [], keyBeginnings = [] }) => ({
  name,
  provider,
  base_url: baseUrl,
  protocols: [...protocols],
  also_speaks: [...alsoSpeaks],
  key_beginnings: [...keyBeginnings],
}));
