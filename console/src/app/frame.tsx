import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../pieces/icon.tsx';
import { roleText } from '../pieces/role-text.ts';
import { languages, setLanguage, useLanguage, useWords, type Language } from '../words/index.ts';
import styles from './frame.module.css';
import { LostLink, SignInAgain } from './link-state.tsx';
import { groups, pagesFor, type Page } from './pages.ts';
import { Shortcuts } from './shortcuts.tsx';
import { choose, signOut, useSession } from './session.ts';
import { currentTheme, setTheme, themes, type Theme } from './theme.ts';

/** Pages that a phone's bar has room for; the others are in the account's menu there. */
const inBar: readonly Page['name'][] = ['overview', 'home', 'requests', 'models', 'keys'];

const ignore = () => undefined;

/** The rail with the pages, and the page. */
export function Frame() {
  const say = useWords();
  const session = useSession();
  const seen = pagesFor(session);
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
        <Shortcuts />
        <div className={styles['pages']}>
          {groups.map((group) => {
            const pages = seen.filter((page) => page.group === group);
            if (pages.length === 0) return null;
            return (
              <div key={group} className={styles['group']}>
                {pages.length > 1 && (group === 'run' || group === 'people') && (
                  <small>{say(`app.${group}`)}</small>
                )}
                {pages.map(({ to, name, icon }) => (
                  <Link
                    key={to}
                    to={to}
                    data-folds={!inBar.includes(name)}
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
            );
          })}
        </div>
        <Account more={seen.filter(({ name }) => !inBar.includes(name))} />
      </nav>
      <SignInAgain />
      <main className={styles['main']} id="content">
        <LostLink />
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

function Account({ more }: { readonly more: readonly Page[] }) {
  const say = useWords();
  const session = useSession();
  const language = useLanguage();
  const client = useQueryClient();
  const [theme, chooseTheme] = useState(currentTheme);
  const { user, gateway } = session;

  return (
    <details className={styles['account']}>
      <summary title={say('app.account')}>
        <Icon name="account" />
        <span className={`${styles['cut']} ${styles['person']}`}>{user.name ?? user.email}</span>
        <span className={styles['moreWord']}>{say('app.more')}</span>
        <small>{roleText(user.role, say)}</small>
      </summary>
      <div className={styles['menu']}>
        <div className={styles['more']}>
          {more.map(({ to, name, icon }) => (
            <Link key={to} to={to} className={styles['entry']}>
              <Icon name={icon} />
              {say(`app.${name}`)}
            </Link>
          ))}
        </div>
        <label>
          {say('app.theme')}
          <select
            value={theme}
            onChange={({ target }) => {
              setTheme(target.value as Theme);
              chooseTheme(target.value as Theme);
              // What cannot be kept there is kept in this browser.
              void choose(client, session, { theme: target.value as Theme }).catch(ignore);
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
            onChange={({ target }) => {
              void setLanguage(target.value as Language);
              void choose(client, session, { language: target.value as Language }).catch(ignore);
            }}
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
