import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { methodsQuery, ProviderNote } from '../sign-in/provider.tsx';
import { Part } from './part.tsx';
import { useSecondFactor } from './second-factor.tsx';

/** The own account at the provider, if there is one. */
export function Connection() {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const { data } = useQuery(methodsQuery);
  const factor = useSecondFactor();
  const { connected: isConnected, has_password: hasPassword } = factor.data ?? {};
  const failed = useSearch({ from: '/inside/settings/' });
  const { run, isBusy, problem } = useWrite();
  const name = data?.oidc?.name;
  if (name === undefined || isConnected === undefined) return null;
  return (
    <Part title={name} hint={say('settings.connectionHint', { name })}>
      <ProviderNote {...failed} />
      <p>{say(isConnected ? 'settings.connected' : 'settings.notConnected', { name })}</p>
      {!isConnected && (
        <div>
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() =>
              run(async () => {
                const { location: there } = await write<'linkOidc'>('POST', '/me/oidc', {}, token);
                location.assign(there);
              })
            }
          >
            {say('settings.connect', { name })}
          </button>
        </div>
      )}
      {isConnected && hasPassword === true && (
        <div>
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() =>
              run(async () => {
                await write<'unlinkOidc'>('DELETE', '/me/oidc', {}, token);
                await factor.refetch();
              })
            }
          >
            {say('settings.disconnect', { name })}
          </button>
        </div>
      )}
      <p className="problem" role="alert">
        {problem}
      </p>
    </Part>
  );
}
