import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useWords } from '../../words/index.ts';
import { methodsQuery, ProviderNote } from '../sign-in/provider.tsx';
import { Part } from './part.tsx';
import { ProofForm } from './proof-form.tsx';
import { useSecondFactor } from './second-factor.tsx';

/** The own account at the provider, if there is one. */
export function Connection() {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const { data } = useQuery(methodsQuery);
  const factor = useSecondFactor();
  const { connected: isConnected, has_password: hasPassword } = factor.data ?? {};
  const failed = useSearch({ from: '/inside/settings/' });
  const name = data?.oidc?.name;
  if (name === undefined || isConnected === undefined) return null;
  return (
    <Part title={name} hint={say('settings.connectionHint', { name })}>
      <ProviderNote {...failed} />
      <p>{say(isConnected ? 'settings.connected' : 'settings.notConnected', { name })}</p>
      {!isConnected && (
        <ProofForm
          submit={say('settings.connect', { name })}
          hasPassword={hasPassword === true}
          onSend={async (proof) => {
            const { location: there } = await write<'linkOidc'>('POST', '/me/oidc', proof, token);
            location.assign(there);
          }}
        />
      )}
      {isConnected && hasPassword === true && (
        <ProofForm
          submit={say('settings.disconnect', { name })}
          hasPassword
          onSend={async (proof) => {
            await write<'unlinkOidc'>('DELETE', '/me/oidc', proof, token);
            await factor.refetch();
          }}
        />
      )}
    </Part>
  );
}
