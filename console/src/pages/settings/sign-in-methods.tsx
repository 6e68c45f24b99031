import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { read, type Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { Part } from './part.tsx';

type Methods = Result<'readSignInSettings'>;

/** How people sign in at this gateway: what the file says, and how many people have what. */
export function SignInMethods() {
  const methods = useQuery({
    queryKey: ['sign-in-settings'],
    queryFn: ({ signal }) => read<'readSignInSettings'>('/sign-in', {}, signal),
  });
  if (methods.isPending) return <Skeleton rows={6} />;
  if (methods.isError) {
    return <ErrorState error={methods.error} onRetry={() => void methods.refetch()} />;
  }
  return <Shown methods={methods.data} />;
}

function Shown({ methods: { password, oidc, people } }: { readonly methods: Methods }) {
  const say = useWords();
  const formats = useFormats();
  const of = (count: number) =>
    say('settings.methods.people', { some: formats.count(count), all: formats.count(people.all) });
  return (
    <>
      <Part title={say('signIn.password')} hint={of(people.password)}>
        <p>{say(`settings.methods.${password}`)}</p>
      </Part>
      <Part title={say('settings.factor.title')} hint={of(people.second_factor)}>
        <p>{say('settings.methods.factor')}</p>
      </Part>
      <Part
        title={oidc?.name ?? 'OpenID Connect'}
        hint={oidc === null ? say('settings.methods.off') : of(people.oidc)}
      >
        {oidc === null ? (
          <p>
            {say('settings.methods.none')} <code>oidc</code>
          </p>
        ) : (
          <Provider of={oidc} />
        )}
      </Part>
    </>
  );
}

function Provider({ of: oidc }: { readonly of: NonNullable<Methods['oidc']> }) {
  const say = useWords();
  const roles = Object.entries(oidc.role_map);
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [say('settings.methods.issuer'), <code key="issuer">{oidc.issuer}</code>],
    [say('settings.methods.client'), <code key="client">{oidc.client_id}</code>],
    [say('settings.methods.redirect'), <code key="redirect">{oidc.redirect_uri}</code>],
    [say('settings.methods.scopes'), oidc.scopes.join(' ')],
    [
      say('settings.methods.domains'),
      oidc.domains.length === 0 ? say('settings.methods.allDomains') : oidc.domains.join(', '),
    ],
    [
      say('settings.methods.newPeople'),
      oidc.create
        ? say('settings.methods.created', { role: oidc.role })
        : say('settings.methods.notCreated'),
    ],
    [
      say('settings.methods.roles'),
      oidc.role_claim === null ? (
        say('settings.methods.noClaim')
      ) : (
        <>
          {say('settings.methods.claim', { claim: oidc.role_claim, role: oidc.role })}
          <ul className={styles['codes']}>
            {roles.map(([group, role]) => (
              <li key={group}>
                <code>{group}</code>: {role}
              </li>
            ))}
          </ul>
        </>
      ),
    ],
  ];
  return (
    <dl className={styles['facts']}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
