import {
  keepPreviousData,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState, type KeyboardEvent } from 'react';
import { read } from '../api/client.ts';
import { modelsQuery } from '../pages/models/query.ts';
import { download, exportOf } from '../pages/requests/export.ts';
import { Dialog } from '../pieces/dialog.tsx';
import { ErrorState, Skeleton } from '../pieces/states.tsx';
import { viewLink } from '../pieces/views.ts';
import { useSettled } from '../pieces/use-settled.ts';
import { languages, setLanguage, useWords, type Language } from '../words/index.ts';
import { pagesFor } from './pages.ts';
import styles from './palette.module.css';
import { choose, signOut, useSession } from './session.ts';
import { setTheme, themes } from './theme.ts';

interface Entry {
  readonly id: string;
  /** What it is, in a word: a page, a model. */
  readonly kind: string;
  readonly text: string;
  readonly run: () => unknown;
}

type List = Pick<UseQueryResult, 'isError' | 'isPending' | 'isSuccess' | 'error' | 'refetch'>;

/** So many fit without making anybody read: a longer word finds less. */
const most = 40;

/** Of people, and of teams. */
const mostHolders = '20';

/** The ids of requests, as rows and responses show them. */
const requestId = /^req_[\w-]{6,80}$/;

const ignore = () => undefined;

/** Finds pages, models, people, teams, keys and requests, and what a person may do everywhere. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const say = useWords();
  const list = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const { entries, lists } = useEntries(typed.trim());
  const failed = lists.find(({ isError }) => isError);
  const found = entries.slice(0, most);
  const current = Math.min(at, found.length - 1);

  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      const next = (current + step + found.length) % found.length;
      setAt(next);
      document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      run(found[current]);
    }
  };
  return (
    <Dialog title={say('palette.title')} onClose={onClose}>
      <input
        className="input"
        type="text"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-activedescendant={found.length === 0 ? undefined : `${list}-${current}`}
        aria-label={say('palette.title')}
        placeholder={say('palette.hint')}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        autoFocus
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul className={styles['list']} id={list} role="listbox" aria-label={say('palette.found')}>
        {found.map((entry, index) => (
          // The keyboard reaches it through the field above, as comboboxes do.
          <li
            key={entry.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === current}
            className={styles['entry']}
            onPointerMove={() => setAt(index)}
            onClick={() => run(entry)}
          >
            <span className={styles['text']}>{entry.text}</span>
            <small>{entry.kind}</small>
          </li>
        ))}
      </ul>
      {failed !== undefined && (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      )}
      {found.length === 0 && lists.some(({ isPending }) => isPending) && <Skeleton rows={1} />}
      {found.length === 0 && lists.every(({ isSuccess }) => isSuccess) && (
        <p role="status">{say('palette.nothing')}</p>
      )}
    </Dialog>
  );
}

/** What the typed words find: each has to occur. And the lists that it is found in. */
function useEntries(typed: string) {
  const say = useWords();
  const session = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  // Range and filter of the page behind: what is exported is what it shows.
  const shown = useSearch({ strict: false });
  const exported = exportOf(shown, shown.filter ?? '');
  const models = useQuery(modelsQuery);
  const keys = useQuery({
    queryKey: ['palette', 'keys'],
    queryFn: ({ signal }) => read<'listKeys'>('/keys', { limit: '200' }, signal),
    staleTime: 60_000,
  });
  // Beyond the first page the gateway searches, for the longest word: the others are looked for in what it finds.
  const words = typed.toLowerCase().split(/\s+/);
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
  const searched = useSettled(longest).slice(0, 64);
  const isCut = keys.data?.next != null;
  const others = useQuery({
    queryKey: ['palette', 'keys', searched],
    queryFn: ({ signal }) => read<'listKeys'>('/keys', { limit: '200', q: searched }, signal),
    enabled: isCut && searched !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const pages = pagesFor(session);
  // There may be ten thousand people: the gateway searches.
  const holders = { limit: mostHolders, q: searched };
  const mayFind = (page: string) => searched !== '' && pages.some(({ name }) => name === page);
  const people = useQuery({
    queryKey: ['palette', 'people', searched],
    queryFn: ({ signal }) => read<'listUsers'>('/users', holders, signal),
    enabled: mayFind('people'),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const teams = useQuery({
    queryKey: ['palette', 'teams', searched],
    queryFn: ({ signal }) => read<'listTeams'>('/teams', holders, signal),
    enabled: mayFind('teams'),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const lists: readonly List[] = [
    models,
    keys,
    ...(isCut && searched !== '' ? [others] : []),
    ...(mayFind('people') ? [people] : []),
    ...(mayFind('teams') ? [teams] : []),
  ];
  const known = new Map(
    [...(keys.data?.data ?? []), ...(others.data?.data ?? [])].map(({ id, name }) => [id, name]),
  );

  const entries: Entry[] = [
    ...pages.map(({ to, name }) => ({
      id: to,
      kind: say('palette.page'),
      text: say(`app.${name}`),
      run: () => navigate({ to }),
    })),
    {
      id: 'new key',
      kind: say('app.keys'),
      text: say('keys.new'),
      run: () => navigate({ to: '/keys', search: { make: true } }),
    },
    {
      id: 'export',
      kind: say('app.requests'),
      text: say('palette.export'),
      run: () => download(exported),
    },
    ...(session.preferences.views ?? []).map((view) => ({
      id: `view ${view.name}`,
      kind: say('lists.view'),
      text: view.name,
      run: () => navigate(viewLink(view)),
    })),
    ...themes.map((theme) => ({
      id: `theme ${theme}`,
      kind: say('app.theme'),
      text: say(`app.${theme}`),
      run() {
        setTheme(theme);
        void choose(client, session, { theme }).catch(ignore);
      },
    })),
    ...(Object.entries(languages) as [Language, string][]).map(([language, title]) => ({
      id: `language ${language}`,
      kind: say('app.language'),
      text: title,
      run() {
        void setLanguage(language);
        void choose(client, session, { language }).catch(ignore);
      },
    })),
    {
      id: 'sign out',
      kind: say('app.account'),
      text: say('app.signOut'),
      run: () => signOut(session),
    },
    ...(models.data?.data ?? []).map(({ id }) => ({
      id: `model ${id}`,
      kind: say('palette.model'),
      text: id,
      run: () => navigate({ to: '/models/$id', params: { id } }),
    })),
    ...(searched === '' ? [] : (people.data?.data ?? [])).map(({ id, name, email }) => ({
      id: `person ${id}`,
      kind: say('palette.person'),
      text: name === null ? email : `${name}, ${email}`,
      run: () => navigate({ to: '/people/$id', params: { id } }),
    })),
    ...(searched === '' ? [] : (teams.data?.data ?? [])).map(({ id, name }) => ({
      id: `team ${id}`,
      kind: say('palette.team'),
      text: name,
      run: () => navigate({ to: '/teams/$id', params: { id } }),
    })),
    ...Array.from(known, ([id, name]) => ({
      id: `key ${id}`,
      kind: say('palette.requestsOfKey'),
      text: name,
      run: () => navigate({ to: '/requests', search: { filter: `key:${id}` } }),
    })),
  ];
  if (requestId.test(typed)) {
    const run = () => navigate({ to: '/requests/$id', params: { id: typed } });
    const entry: Entry = { id: typed, kind: say('palette.request'), text: typed, run };
    return { entries: [entry], lists };
  }
  const found = entries.filter(({ text, kind }) => {
    const searched = `${text} ${kind}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  return { entries: found, lists };
}
