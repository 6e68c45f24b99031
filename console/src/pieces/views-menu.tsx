import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { choose, useSession, type Session } from '../app/session.ts';
import { useWords } from '../words/index.ts';
import { textOf } from './form-values.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';
import { useWrite } from './use-write.ts';
import styles from './views-menu.module.css';
import { viewLink, viewText, type ViewPage } from './views.ts';

type View = NonNullable<Session['preferences']['views']>[number];

interface Props {
  readonly page: ViewPage;
  /** Of the page, as it is. */
  readonly search: object;
}

/** Views of a page that the person has given a name; the present one can be added. */
export function ViewsMenu({ page, search }: Props) {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const writing = useWrite();
  const views = session.preferences.views ?? [];
  const ofPage = views.filter((each) => (each.page ?? 'requests') === page);
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
    const view = { name, page, search: present };
    const isKnown = views.some((each) => each.name === name);
    const next = views.map((each) => (each.name === name ? view : each));
    keep(isKnown ? next : [...views, view], () => form.reset());
  }

  return (
    <Menu word={say('lists.views')}>
      {(close) => (
        <>
          {ofPage.length === 0 && <p className="hint">{say('lists.noViews')}</p>}
          <ul className={styles['views']}>
            {ofPage.map((view) => (
              <li key={view.name}>
                <Link
                  className="link"
                  {...viewLink(view)}
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
