import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { RequestsSearch } from '../../app/router.tsx';
import { choose, useSession, type Session } from '../../app/session.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Menu } from '../../pieces/menu.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { textOf } from '../../pieces/form-values.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { readView, viewText } from './view.ts';

type View = NonNullable<Session['preferences']['views']>[number];

/** Lists of requests that the person has given a name; the present one can be added. */
export function ViewsMenu({ search }: { readonly search: RequestsSearch }) {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const writing = useWrite();
  const views = session.preferences.views ?? [];
  const present = viewText(search);
  const keep = (next: readonly View[], after?: () => void) =>
    writing.run(async () => {
      await choose(client, session, { views: next });
      after?.();
    });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const name = textOf(new FormData(form), 'name');
    if (name === null) return;
    // A name that is taken gets the present list.
    const view = { name, search: present };
    const isKnown = views.some((each) => each.name === name);
    const next = views.map((each) => (each.name === name ? view : each));
    keep(isKnown ? next : [...views, view], () => form.reset());
  }

  return (
    <Menu word={say('lists.views')}>
      {(close) => (
        <>
          {views.length === 0 && <p className="hint">{say('lists.noViews')}</p>}
          <ul className={styles['views']}>
            {views.map((view) => (
              <li key={view.name}>
                <Link
                  className="link"
                  to="/requests"
                  search={readView(view.search)}
                  activeProps={{}}
                  aria-current={view.search === present ? 'true' : undefined}
                  onClick={close}
                >
                  {view.name}
                </Link>
                <button
                  type="button"
                  className="button bare"
                  aria-label={say('lists.removeView', { name: view.name })}
                  disabled={writing.isBusy}
                  onClick={({ currentTarget }) => {
                    // The button goes away with its line; the focus stays in the menu.
                    currentTarget.closest<HTMLElement>('[role=group]')?.focus();
                    keep(views.filter((each) => each !== view));
                  }}
                >
                  <Icon name="close" />
                </button>
              </li>
            ))}
          </ul>
          <form className={styles['keep']} onSubmit={submit}>
            <input
              className="input"
              name="name"
              required
              maxLength={64}
              autoComplete="off"
              aria-label={say('lists.viewName')}
              placeholder={say('lists.viewName')}
            />
            <button type="submit" className="button" disabled={writing.isBusy}>
              {say('lists.keepView')}
            </button>
          </form>
          <p className="problem" role="alert">
            {writing.problem}
          </p>
        </>
      )}
    </Menu>
  );
}
