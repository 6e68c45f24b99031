import { queryOptions, useSuspenseQuery, type QueryClient } from '@tanstack/react-query';
import { ApiFailure, read, write, type Body, type Result } from '../api/client.ts';
import { linkBack, sessionOver, sessionRenewed } from '../api/link.ts';
import { isLanguage, setLanguage } from '../words/index.ts';
import { isTheme, setTheme } from './theme.ts';

export type Session = Result<'readSession'>;

const sessionKey = ['session'] as const;

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  /** Null: nobody is signed in. */
  async queryFn({ signal, client }): Promise<Session | null> {
    try {
      const session = await read<'readSession'>('/session', {}, signal);
      // It is read from the database.
      linkBack();
      await applyPreferences(session);
      return session;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
      // Somebody who was signed in stays on the page, and signs in again in front of it.
      const before = client.getQueryData<Session | null>(sessionKey) ?? null;
      if (before !== null) sessionOver();
      return before;
    }
  },
  staleTime: 60_000,
});

/** What the person has chosen in another browser holds here too. */
async function applyPreferences({ preferences: { language, theme } }: Session): Promise<void> {
  if (isTheme(theme)) setTheme(theme);
  if (isLanguage(language)) await setLanguage(language);
}

/** The signed-in person; only below a route that has checked that there is one. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new ApiFailure('unauthenticated', '', { status: 401 });
  return data;
}

export async function signIn(client: QueryClient, credentials: Body<'login'>): Promise<void> {
  const session = await write<'login'>('POST', '/auth/login', credentials, null);
  await applyPreferences(session);
  keep(client, session);
}

/** Sets a first password with the token of an invitation, and signs in. */
export async function acceptInvitation(
  client: QueryClient,
  body: Body<'acceptInvitation'>,
): Promise<void> {
  const session = await write<'acceptInvitation'>('POST', '/auth/invite', body, null);
  await applyPreferences(session);
  keep(client, session);
}

/** Keeps a choice with the account, so that it holds in every browser. */
export async function choose(
  client: QueryClient,
  { csrf_token }: Session,
  choice: Body<'changeMe'>,
): Promise<void> {
  keep(client, await write<'changeMe'>('PATCH', '/me', choice, csrf_token));
}

/** Takes over a session that the gateway has renewed, here and in every other tab. */
export function keep(client: QueryClient, session: Session): void {
  const before = client.getQueryData(sessionQuery.queryKey);
  client.setQueryData(sessionQuery.queryKey, session);
  sessionRenewed();
  if (before != null && before.csrf_token !== session.csrf_token) tabs.postMessage('renewed');
}

/** Ends the session here and in every other tab. Pages load anew, so that nothing of a person stays in memory. */
export async function signOut({ csrf_token }: Session): Promise<void> {
  await write<'logout'>('POST', '/auth/logout', {}, csrf_token);
  tabs.postMessage('signed-out');
  sessionStorage.clear();
  location.assign('/console/sign-in');
}

const tabs = new BroadcastChannel('sluice-session');

/** Calls back when another tab signs out, or has got a new session for the browser. */
export function onOtherTabs(listeners: {
  readonly signedOut: () => void;
  readonly renewed: () => void;
}): void {
  tabs.addEventListener('message', ({ data }) => {
    if (data === 'renewed') listeners.renewed();
    else {
      sessionStorage.clear();
      listeners.signedOut();
    }
  });
}
