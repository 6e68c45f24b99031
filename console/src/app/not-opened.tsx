import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiFailure } from '../api/client.ts';
import { ErrorState } from '../pieces/states.tsx';
import { lookEvery } from './link-state.tsx';

/** The console could not be opened. It opens by itself once the gateway and its database answer. */
export function NotOpened({ error }: { readonly error: unknown }) {
  const router = useRouter();
  const isAway = error instanceof ApiFailure && (error.status === 503 || error.status === 0);
  const open = () => void router.invalidate();

  useEffect(() => {
    if (!isAway) return undefined;
    const timer = setInterval(open, lookEvery);
    return () => clearInterval(timer);
  });

  return (
    <main>
      <ErrorState error={error} onRetry={open} />
    </main>
  );
}
