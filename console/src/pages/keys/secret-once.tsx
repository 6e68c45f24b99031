import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../../api/client.ts';
import { ClientTabs } from '../../pieces/client-tabs.tsx';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { Secret } from '../../pieces/secret.tsx';
import type { ClientName } from '../../snippets/clients.ts';
import { useWords } from '../../words/index.ts';
import { modelsQuery, type Model } from '../models/query.ts';
import type { IssuedKey, Key } from './page.tsx';
import { TestKey } from './test-key.tsx';

interface Props {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** The secret of a key, this once, and how its clients take it. */
export function SecretOnce({ issued, onClose }: Props) {
  const say = useWords();
  const { name, key: secret } = issued;
  const list = useQuery(modelsQuery);
  const models = list.data?.data ?? [];
  // A key that was rotated has been used before.
  const used = useQuery({
    queryKey: ['models-of-key', name],
    queryFn: ({ signal }) => read<'readFacets'>('/usage/facets', { key: name, limit: '1' }, signal),
  }).data?.model[0]?.value;
  const [client, setClient] = useState<ClientName>('Claude Code');
  if (secret === undefined) return <SecretLost name={name} onClose={onClose} />;
  const usable = modelsOf(issued, models);
  return (
    <Dialog title={say('keys.ready', { name })} onClose={onClose} isWide>
      <p>{say('keys.once')}</p>
      <Secret id="secret" text={secret} copy={say('keys.copySecret')} />
      {list.isSuccess && <TestKey id={issued.id} secret={secret} models={usable} />}
      <ClientTabs open={client} onOpen={setClient} models={usable} used={used} secret={secret} />
      <DialogEnd word={say('keys.done')} onClose={onClose} />
    </Dialog>
  );
}

/** Those that the key may use. */
export function modelsOf({ group, models: allowed }: Key, models: readonly Model[]): Model[] {
  return models.filter(
    ({ id, aliases, groups }) =>
      groups.includes(group) &&
      (allowed.length === 0 || [id, ...aliases].some((name) => allowed.includes(name))),
  );
}

/** The response with the secret did not arrive, and the call was sent again. */
function SecretLost({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const say = useWords();
  return (
    <Dialog title={say('keys.ready', { name })} onClose={onClose}>
      <p>{say('keys.lost')}</p>
      <DialogEnd word={say('keys.close')} onClose={onClose} />
    </Dialog>
  );
}
