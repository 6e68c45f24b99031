import { Outlet, useMatchRoute, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { Tabs } from '../../pieces/tabs.tsx';
import { useWords } from '../../words/index.ts';
import { tabsFor } from './tabs.ts';

/** What people set for themselves, and, as far as they may read it, what is set for the gateway. Each tab is a route. */
export function SettingsPage() {
  const say = useWords();
  const navigate = useNavigate();
  const matches = useMatchRoute();
  const tabs = tabsFor(useSession());
  const open = tabs.find(({ to }) => matches({ to }) !== false);
  return (
    <>
      <header className="top">
        <h1>{say('settings.title')}</h1>
      </header>
      <div className="body">
        {open === undefined ? (
          <p className="state">{say('states.forbidden')}</p>
        ) : (
          <Tabs
            label={say('settings.title')}
            tabs={tabs.map(({ name }) => ({ name, title: say(`settings.tabs.${name}`) }))}
            open={open.name}
            onOpen={(name) => {
              const next = tabs.find((tab) => tab.name === name);
              if (next !== undefined) void navigate({ to: next.to });
            }}
          >
            <Outlet />
          </Tabs>
        )}
      </div>
    </>
  );
}
