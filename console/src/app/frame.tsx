import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon, type IconName } from '../pieces/icon.tsx';
import { languages, setLanguage, useLanguage, useWords, type Language } from '../words/index.ts';
import styles from './frame.module.css';
import { signOut, useSession } from './session.ts';
import { currentTheme, setTheme, themes, type Theme } from './theme.ts';

const pages = [
  { to: '/', name: 'overview', icon: 'overview' },
  { to: '/requests', name: 'requests', icon: 'requests' },
  { to: '/usage', name: 'usage', icon: 'usage' },
  { to: '/models', name: 'models', icon: 'models' },
  { to: '/keys', name: 'keys', icon: 'keys' },
] as const satisfies readonly { to: string; name: string; icon: IconName }[];

/** The rail with the pages, and the page. */
export function Frame() {
  const say = useWords();
  const session = useSession();
  return (
    <div className={styles['frame']}>
      <a className={styles['skip']} href="#content">
        {say('app.skip')}
      </a>
      <nav className={styles['rail']} aria-label={say('app.pages')}>
        <div className={styles['brand']}>
          <Icon name="brand" />
          <span>Sluice</span>
        </div>
        <div className={styles['pages']}>
          {pages.map(({ to, name, icon }) => (
            <Link
              key={to}
              to={to}
              className={styles['page']}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
              title={say(`app.${name}`)}
            >
              <Icon name={icon} />
              <span>{say(`app.${name}`)}</span>
            </Link>
          ))}
        </div>
        <Account />
      </nav>
      <main className={styles['main']} id="content">
        {session.insecure && (
          <p className={styles['banner']} role="alert">
            <Icon name="warning" />
            {say('app.insecure')}
          </p>
        )}
        <Outlet />
      </main>
    </div>
  );
}

function Account() {
  const say = useWords();
  const session = useSession();
  const language = useLanguage();
  const [theme, chooseTheme] = useState(currentTheme);
  const { user, gateway } = session;

  return (
    <details className={styles['account']}>
      <summary title={say('app.account')}>
        <Icon name="account" />
        <span className={styles['cut']}>{user.name ?? user.email}</span>
        <small>{user.role}</small>
      </summary>
      <div className={styles['menu']}>
        <label>
          {say('app.theme')}
          <select
            value={theme}
            onChange={({ target }) => {
              setTheme(target.value as Theme);
              chooseTheme(target.value as Theme);
            }}
          >
            {themes.map((name) => (
              <option key={name} value={name}>
                {say(`app.${name}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {say('app.language')}
          <select
            value={language}
            onChange={({ target }) => void setLanguage(target.value as Language)}
          >
            {Object.entries(languages).map(([name, title]) => (
              <option key={name} value={name} lang={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void signOut(session)}>
          {say('app.signOut')}
        </button>
        <small>Sluice {gateway.version}</small>
      </div>
    </details>
  );
}
