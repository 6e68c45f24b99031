import { useNavigate, useSearch } from '@tanstack/react-router';
import { defaultRange } from '../../app/range.ts';
import { useSession } from '../../app/session.ts';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { Tabs } from '../../pieces/tabs.tsx';
import { ViewsMenu } from '../../pieces/views-menu.tsx';
import { useWords } from '../../words/index.ts';
import { Audit } from './audit.tsx';
import { Books } from './books.tsx';
import { tabsFor, type RecordsSearch, type RecordsTab } from './search.ts';
import { Tasks } from './tasks.tsx';

/** What was put on record, as far as the person may read it. */
export function RecordsPage() {
  const say = useWords();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/records' });
  const tabs = tabsFor(useSession());
  const open = tabs.find((name) => name === search.tab) ?? tabs[0];
  const { range = defaultRange } = search;
  return (
    <>
      <header className="top">
        <h1>{say('records.title')}</h1>
        {(open === 'audit' || open === 'books') && <RangeSegments range={range} />}
        {open !== undefined && <ViewsMenu page="records" search={{ ...search, tab: open }} />}
      </header>
      <div className="body">
        {open === undefined ? (
          <p className="state">{say('states.forbidden')}</p>
        ) : (
          <Tabs
            label={say('records.title')}
            tabs={tabs.map((name) => ({ name, title: say(`records.tabs.${name}`) }))}
            open={open}
            onOpen={(tab) => void navigate({ to: '/records', search: ofTab(search, tab) })}
          >
            {open === 'books' && <Books />}
            {open === 'tasks' && <Tasks />}
            {open === 'audit' && <Audit />}
          </Tabs>
        )}
      </div>
    </>
  );
}

/** What is searched for belongs to its tab; the range is that of all. */
function ofTab({ range, from, to, tz }: RecordsSearch, tab: RecordsTab): RecordsSearch {
  return {
    tab,
    ...(range !== undefined && { range }),
    ...(from !== undefined && to !== undefined && { from, to }),
    ...(tz !== undefined && { tz }),
  };
}
