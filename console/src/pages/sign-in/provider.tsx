import { queryOptions, useQuery } from '@tanstack/react-query';
import { read, searchText } from '../../api/client.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

export const methodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }) => read<'readMethods'>('/auth/methods', {}, signal),
  staleTime: 60_000,
});

/** Leads to the provider, if there is one. @param to the page that follows, below `/console` */
export function ProviderButton({ to }: { readonly to: string | undefined }) {
  const say = useWords();
  const { data } = useQuery(methodsQuery);
  const oidc = data?.oidc ?? null;
  if (oidc === null) return null;
  const search = searchText({ to: to === undefined ? undefined : `/console${to}` });
  return (
    <div className={styles['provider']}>
      <a className="button" href={search === '' ? oidc.start : `${oidc.start}?${search}`}>
        {say('signIn.with', { name: oidc.name })}
      </a>
      <p className="hint">
        {say(data?.password === 'one' ? 'signIn.onlyProvider' : 'signIn.orPassword')}
      </p>
    </div>
  );
}

/** Why the provider did not let somebody in; other words mean that something else went wrong. */
const problems = {
  'provider-away': 'providerAway',
  denied: 'denied',
  'not-proven': 'notProven',
  'not-begun': 'notBegun',
  repeated: 'notBegun',
  'no-email': 'noEmail',
  'email-not-verified': 'emailNotVerified',
  'other-domain': 'otherDomain',
  'unknown-person': 'unknownPerson',
  disabled: 'disabled',
  'link-first': 'linkFirst',
  'other-identity': 'otherIdentity',
  'linked-elsewhere': 'linkedElsewhere',
  'too-many': 'tooMany',
  'not-safe': 'notSafe',
} as const;

/** What the gateway puts into the address when a sign-in at the provider fails. */
export interface ProviderProblem {
  readonly problem?: string;
  readonly request?: string;
}

export function readProviderProblem(search: Record<string, unknown>): ProviderProblem {
  const { problem, request } = search;
  if (typeof problem !== 'string') return {};
  const isId = typeof request === 'string' && /^[\w-]{1,64}$/.test(request);
  return { problem: problem.slice(0, 40), ...(isId && { request }) };
}

/** Says in words why somebody did not get in, with the id under which the gateway's log has it. */
export function ProviderNote({ problem, request }: ProviderProblem) {
  const say = useWords();
  const { data } = useQuery(methodsQuery);
  if (problem === undefined) return null;
  const word = Object.hasOwn(problems, problem)
    ? problems[problem as keyof typeof problems]
    : 'failed';
  return (
    <div className="problem" role="alert">
      <p>{say(`signIn.problems.${word}`, { name: data?.oidc?.name ?? say('signIn.provider') })}</p>
      {request !== undefined && <p className="hint">{say('signIn.request', { id: request })}</p>}
    </div>
  );
}
