import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { readModelsSearch } from '../pages/models/search.ts';
import { readPeopleSearch } from '../pages/people/search.ts';
import { readTeamsSearch } from '../pages/teams/search.ts';
import { readRecordsSearch } from '../pages/records/search.ts';
import { readChannelsSearch } from '../pages/channels/search.ts';
import { readExplainSearch } from '../pages/explain/search.ts';
import { readKeysSearch } from '../pages/keys/search.ts';
import { OverviewPage } from '../pages/overview/page.tsx';
import { readOverviewSearch } from '../pages/overview/search.ts';
import { RequestPage } from '../pages/requests/request-page.tsx';
import { RequestsPage } from '../pages/requests/page.tsx';
import { readUsageSearch } from '../pages/usage/search.ts';
import { SignInPage } from '../pages/sign-in/page.tsx';
import { readProviderProblem, type ProviderProblem } from '../pages/sign-in/provider.tsx';
import { isClientName, type ClientName } from '../snippets/clients.ts';
import { NotFound, Skeleton } from '../pieces/states.tsx';
import { Frame } from './frame.tsx';
import { lazyPage, PageFailed } from './lazy-page.tsx';
import { NotOpened } from './not-opened.tsx';
import { readRangeSearch, readZone, type RangeSearch } from './range.ts';
import { sessionQuery } from './session.ts';

interface Context {
  readonly client: QueryClient;
}

/** What every page keeps in its address. */
export type PageSearch = RangeSearch;

export interface RequestsSearch extends PageSearch {
  /** The filter line as it was typed. */
  readonly filter?: string;
  /** The request in the panel. */
  readonly open?: string;
  /** Shows requests as they happen. */
  readonly live?: true;
}

export interface ModelSearch {
  /** The protocol whose line is shown. */
  readonly speak?: string;
  /** The client whose steps are shown. */
  readonly client?: ClientName;
}

const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: NotOpened,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): ProviderProblem & { to?: string } => {
    const { to } = search;
    const isPage = typeof to === 'string' && to.startsWith('/') && !to.startsWith('//');
    return { ...readProviderProblem(search), ...(isPage && { to }) };
  },
  component: SignInPage,
});

/** Where an invitation leads. */
const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  component: lazyPage(() => import('../pages/invite/page.tsx'), 'InvitePage'),
});

/** Everything behind the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  // Without a session there is no frame that an error could stand in.
  errorComponent: NotOpened,
  // The zone that was chosen stays from page to page.
  validateSearch: ({ tz }: Record<string, unknown>): Pick<RangeSearch, 'tz'> => {
    const zone = readZone(tz);
    return zone === undefined ? {} : { tz: zone };
  },
  search: { middlewares: [retainSearchParams(['tz'])] },
  async beforeLoad({ context: { client }, location, cause }) {
    const session = await client.ensureQueryData(sessionQuery);
    if (session === null) {
      // oxlint-disable-next-line typescript/only-throw-error -- how the router redirects
      throw redirect({ to: '/sign-in', search: { to: location.href } });
    }
    // Whoever goes there from another page wants the overview.
    if (cause === 'enter' && session.welcome && location.pathname === '/') {
      // oxlint-disable-next-line typescript/only-throw-error -- how the router redirects
      throw redirect({ to: '/welcome' });
    }
  },
  pendingComponent: () => <Skeleton rows={8} />,
  pendingMs: 500,
  component: Frame,
});

const withRange = readRangeSearch;

/**
 * What a page does not read in its address is not there for it: the router would hand it on as it is written, such as
 * an unknown name of a tab. The zone is read above.
 */
const only =
  <Search extends object>(read: (search: Record<string, unknown>) => Search) =>
  (search: Record<string, unknown>): Search => {
    const unread = Object.keys(search).filter((name) => name !== 'tz');
    return { ...Object.fromEntries(unread.map((name) => [name, undefined])), ...read(search) };
  };

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: only(readOverviewSearch),
  component: OverviewPage,
});

const requests = createRoute({
  getParentRoute: () => inside,
  path: '/requests',
  validateSearch: (search: Record<string, unknown>): RequestsSearch => ({
    ...withRange(search),
    ...(typeof search['filter'] === 'string' && { filter: search['filter'].slice(0, 400) }),
    ...(typeof search['open'] === 'string' && { open: search['open'].slice(0, 100) }),
    ...(search['live'] === true && { live: true }),
  }),
  component: RequestsPage,
});

const usage = createRoute({
  getParentRoute: () => inside,
  path: '/usage',
  validateSearch: only(readUsageSearch),
  component: lazyPage(() => import('../pages/usage/page.tsx'), 'UsagePage'),
});

const request = createRoute({
  getParentRoute: () => inside,
  path: '/requests/$id',
  component: RequestPage,
});

const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  validateSearch: only(readKeysSearch),
  component: lazyPage(() => import('../pages/keys/page.tsx'), 'KeysPage'),
});

const channels = createRoute({
  getParentRoute: () => inside,
  path: '/channels',
  validateSearch: only(readChannelsSearch),
  component: lazyPage(() => import('../pages/channels/page.tsx'), 'ChannelsPage'),
});

const channel = createRoute({
  getParentRoute: () => inside,
  path: '/channels/$id',
  validateSearch: ({ test }: Record<string, unknown>): { test?: true } =>
    test === true ? { test } : {},
  component: lazyPage(() => import('../pages/channels/channel-page.tsx'), 'ChannelPage'),
});

const explain = createRoute({
  getParentRoute: () => inside,
  path: '/explain',
  validateSearch: only(readExplainSearch),
  component: lazyPage(() => import('../pages/explain/page.tsx'), 'ExplainPage'),
});

const newChannel = createRoute({
  getParentRoute: () => inside,
  path: '/channels/new',
  /** `from`: the channel that it begins as. */
  validateSearch: ({ from }: Record<string, unknown>): { from?: string } =>
    typeof from === 'string' ? { from: from.slice(0, 200) } : {},
  component: lazyPage(() => import('../pages/channels/channel-page.tsx'), 'NewChannelPage'),
});

/** Pages that load when they are opened. */
const models = createRoute({
  getParentRoute: () => inside,
  path: '/models',
  validateSearch: only(readModelsSearch),
  component: lazyPage(() => import('../pages/models/page.tsx'), 'ModelsPage'),
});

const model = createRoute({
  getParentRoute: () => inside,
  path: '/models/$id',
  validateSearch: ({ speak, client }: Record<string, unknown>): ModelSearch => ({
    ...(typeof speak === 'string' && { speak: speak.slice(0, 40) }),
    ...(isClientName(client) && { client }),
  }),
  component: lazyPage(() => import('../pages/models/model-page.tsx'), 'ModelPage'),
});

const playground = createRoute({
  getParentRoute: () => inside,
  path: '/playground',
  /** `ask`: what is asked, as `messages:demo-chat`. */
  validateSearch: ({ ask }: Record<string, unknown>): { ask?: readonly string[] } =>
    Array.isArray(ask) ? { ask: ask.filter((each) => typeof each === 'string').slice(0, 3) } : {},
  component: lazyPage(() => import('../pages/playground/page.tsx'), 'PlaygroundPage'),
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyPage(() => import('../pages/settings/page.tsx'), 'SettingsPage'),
});

const account = createRoute({
  getParentRoute: () => settings,
  path: '/',
  validateSearch: readProviderProblem,
  component: lazyPage(() => import('../pages/settings/account.tsx'), 'Account'),
});

const adminKeys = createRoute({
  getParentRoute: () => settings,
  path: '/admin-keys',
  component: lazyPage(() => import('../pages/settings/admin-keys.tsx'), 'AdminKeys'),
});

const signInMethods = createRoute({
  getParentRoute: () => settings,
  path: '/sign-in',
  component: lazyPage(() => import('../pages/settings/sign-in-methods.tsx'), 'SignInMethods'),
});

const welcome = createRoute({
  getParentRoute: () => inside,
  path: '/welcome',
  component: lazyPage(() => import('../pages/welcome/page.tsx'), 'WelcomePage'),
});

const health = createRoute({
  getParentRoute: () => inside,
  path: '/health',
  component: lazyPage(() => import('../pages/health/page.tsx'), 'HealthPage'),
});

const people = createRoute({
  getParentRoute: () => inside,
  path: '/people',
  validateSearch: only(readPeopleSearch),
  component: lazyPage(() => import('../pages/people/page.tsx'), 'PeoplePage'),
});

const person = createRoute({
  getParentRoute: () => inside,
  path: '/people/$id',
  component: lazyPage(() => import('../pages/people/person-page.tsx'), 'PersonPage'),
});

const teams = createRoute({
  getParentRoute: () => inside,
  path: '/teams',
  validateSearch: only(readTeamsSearch),
  component: lazyPage(() => import('../pages/teams/page.tsx'), 'TeamsPage'),
});

const team = createRoute({
  getParentRoute: () => inside,
  path: '/teams/$id',
  component: lazyPage(() => import('../pages/teams/team-page.tsx'), 'TeamPage'),
});

const records = createRoute({
  getParentRoute: () => inside,
  path: '/records',
  validateSearch: only(readRecordsSearch),
  component: lazyPage(() => import('../pages/records/page.tsx'), 'RecordsPage'),
});

const gatewaySettings = createRoute({
  getParentRoute: () => settings,
  path: '/gateway',
  component: lazyPage(() => import('../pages/settings/gateway.tsx'), 'Gateway'),
});

export function createConsoleRouter(client: QueryClient) {
  return createRouter({
    basepath: '/console',
    routeTree: root.addChildren([
      signIn,
      invite,
      inside.addChildren([
        overview,
        requests,
        usage,
        request,
        keys,
        channels,
        channel,
        newChannel,
        explain,
        models,
        model,
        playground,
        settings.addChildren([account, gatewaySettings, signInMethods, adminKeys]),
        welcome,
        health,
        people,
        person,
        teams,
        team,
        records,
      ]),
    ]),
    context: { client },
    defaultErrorComponent: PageFailed,
    defaultPreload: false,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
