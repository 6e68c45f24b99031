import { queryOptions, useSuspenseQuery, type QueryClient } from '@tanstack/react-query';
import { ApiFailure, read, write, type Result } from '../api/client.ts';

export type Session = Result<'readSession'>;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  /** Null: nobody is signed in. */
  async queryFn({ signal }): Promise<Session | null> {
    try {
      return await read<'readSession'>('/session', {}, signal);
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** The signed-in person; only below a route that has checked that there is one. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new ApiFailure('unauthenticated', '', { status: 401 });
  return data;
}

export async function signIn(
  client: QueryClient,
  credentials: { readonly email: string; readonly password: string },
): Promise<void> {
  const session = await write<'login'>('POST', '/auth/login', credentials, null);
  client.setQueryData(sessionQuery.queryKey, session);
}

/** Ends the session here and in every other tab. Pages load anew, so that nothing of a person stays in memory. */
export async function signOut({ csrf_token }: Session): Promise<void> {
  await write<'logout'>('POST', '/auth/logout', {}, csrf_token);
  tabs.postMessage('signed-out');
  location.assign('/console/sign-in');
}

const tabs = new BroadcastChannel('sluice-session');

/** Calls back when another tab signs out. */
export function onSignedOutElsewhere(listener: () => void): void {
  tabs.addEventListener('message', listener);
}
