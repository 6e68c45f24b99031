import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api/client.ts';
import { createConsoleRouter } from './app/router.tsx';
import { onOtherTabs, sessionQuery } from './app/session.ts';
import { applyTheme } from './app/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import { startWords } from './words/index.ts';

/** Without its database the gateway says so at once, and the banner sees it come back. */
function retriesOf(error: Error): number {
  if (!(error instanceof ApiFailure) || error.status === 0) return 3;
  if (error.status === 503) return 1;
  return error.status >= 500 ? 3 : 0;
}

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The gateway may be on this machine or network, whatever the browser thinks of the rest.
      networkMode: 'always',
      // What a person asked for wrongly stays wrong; a gateway that restarts comes back.
      retry: (failures, error) => failures < retriesOf(error),
      staleTime: 10_000,
    },
  },
});
const router = createConsoleRouter(client);

applyTheme();
onOtherTabs({
  // Nothing of the person stays in memory.
  signedOut: () => location.reload(),
  renewed: () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
});
await startWords();

const element = document.getElementById('root');
if (element !== null) {
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
