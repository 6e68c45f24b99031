import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { read, write } from '../../api/client.ts';
import { choose, keep, useSession } from '../../app/session.ts';
import { currentTheme, setTheme, themes, type Theme } from '../../app/theme.ts';
import { useFormats } from '../../format/numbers.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { roleText } from '../../pieces/role-text.ts';
import { languages, setLanguage, useLanguage, useWords, type Language } from '../../words/index.ts';
import { agentName } from './agent-name.ts';
import styles from './page.module.css';
import { NameForm } from './name-form.tsx';
import { Part } from './part.tsx';
import { Connection } from './connection.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactor } from './second-factor.tsx';

/** What people see and change of themselves. */
export function Account() {
  const say = useWords();
  const { user, gateway } = useSession();
  return (
    <>
      <Part
        title={say('settings.account')}
        hint={say(user.editable ? 'settings.accountHint' : 'settings.accountOfFile')}
      >
        <dl className={styles['facts']}>
          {!user.editable && user.name !== null && (
            <>
              <dt>{say('settings.name')}</dt>
              <dd>{user.name}</dd>
            </>
          )}
          <dt>{say('signIn.email')}</dt>
          <dd>{user.email}</dd>
          <dt>{say('settings.role')}</dt>
          <dd>{roleText(user.role, say)}</dd>
          <dt>{say('settings.gateway')}</dt>
          <dd>
            Sluice {gateway.version}, {gateway.url}
          </dd>
        </dl>
        {user.editable && <NameForm />}
      </Part>
      <Part title={say('settings.look')} hint={say('settings.lookHint')}>
        <Look />
      </Part>
      <Part title={say('signIn.password')} hint={say('settings.passwordHint')}>
        <Password />
      </Part>
      <Part title={say('settings.factor.title')} hint={say('settings.factor.hint')}>
        <SecondFactor />
      </Part>
      <Connection />
      <Part title={say('settings.sessions')} hint={say('settings.sessionsHint')}>
        <Sessions />
      </Part>
    </>
  );
}

function Look() {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const language = useLanguage();
  const [theme, chooseTheme] = useState(currentTheme);
  const { run, problem } = useWrite();
  return (
    <div className={styles['pair']}>
      <div className="field">
        <label htmlFor="settings-theme">{say('app.theme')}</label>
        <select
          className="input"
          id="settings-theme"
          value={theme}
          onChange={({ target }) => {
            const next = target.value as Theme;
            setTheme(next);
            chooseTheme(next);
            run(() => choose(client, session, { theme: next }));
          }}
        >
          {themes.map((name) => (
            <option key={name} value={name}>
              {say(`app.${name}`)}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="settings-language">{say('app.language')}</label>
        <select
          className="input"
          id="settings-language"
          value={language}
          onChange={({ target }) => {
            const next = target.value as Language;
            void setLanguage(next);
            run(() => choose(client, session, { language: next }));
          }}
        >
          {Object.entries(languages).map(([name, title]) => (
            <option key={name} value={name} lang={name}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <p className="problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

function Password() {
  const say = useWords();
  const client = useQueryClient();
  const [isDone, setDone] = useState(false);
  return (
    <>
      <PasswordForm
        onChanged={(session) => {
          keep(client, session);
          setDone(true);
          void client.invalidateQueries({ queryKey: ['my-sessions'] });
        }}
      />
      <p role="status">{isDone && say('settings.passwordDone')}</p>
    </>
  );
}

function Sessions() {
  const say = useWords();
  const formats = useFormats();
  const { csrf_token: token } = useSession();
  const list = useQuery({
    queryKey: ['my-sessions'],
    queryFn: ({ signal }) => read<'listMySessions'>('/me/sessions', {}, signal),
  });
  const { run, isBusy, problem } = useWrite();
  const end = (event: FormEvent, id: string) => {
    event.preventDefault();
    run(async () => {
      await write<'endMySession'>('DELETE', `/me/sessions/${id}`, {}, token);
      await list.refetch();
    });
  };
  if (list.isPending) return <Skeleton rows={3} />;
  if (list.isError) {
    return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  }
  return (
    <>
      <Table
        label={say('settings.sessions')}
        heads={[
          say('settings.browser'),
          [say('settings.address'), 'less'],
          [say('settings.since'), 'less'],
          say('settings.seen'),
          <th key="actions" scope="col">
            <span className="hidden">{say('keys.columns.actions')}</span>
          </th>,
        ]}
      >
        {list.data.data.map((session) => (
          <tr key={session.id}>
            <td title={session.user_agent ?? ''}>{agentName(session.user_agent, say)}</td>
            <td className="less">{session.address ?? '–'}</td>
            <td className="less">{formats.time(session.created)}</td>
            <td>{formats.time(session.seen)}</td>
            <td className="number">
              {session.current ? (
                <span className="quiet">{say('settings.thisOne')}</span>
              ) : (
                <button
                  type="button"
                  className="button bare"
                  disabled={isBusy}
                  onClick={(event) => end(event, session.id)}
                >
                  {say('app.signOut')}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <p className="problem" role="alert">
        {problem}
      </p>
    </>
  );
}
