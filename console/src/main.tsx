import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api/client.ts';
import { createConsoleRouter } from './app/router.tsx';
import { onSignedOutElsewhere } from './app/session.ts';
import { applyTheme } from './app/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import { startWords } from './words/index.ts';

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      if (error instanceof ApiFailure && error.status === 401) leave();
    },
  }),
  defaultOptions: {
    queries: {
      // What a person asked for wrongly stays wrong; a gateway that restarts comes back.
      retry: (failures, error) =>
        failures < 3 &&
        (!(error instanceof ApiFailure) || error.status >= 500 || error.status === 0),
      staleTime: 10_000,
    },
  },
});
const router = createConsoleRouter(client);

/** The session is over: this address leads to the sign-in, and back. */
function leave(): void {
  location.reload();
}

applyTheme();
onSignedOutElsewhere(leave);
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
