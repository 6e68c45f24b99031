import { Popover } from '@base-ui/react/popover';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type RefObject } from 'react';
import { addDays, dayOf, monthOf, ownTimeZone, startOfDay, weekOf, type Day } from '../app/days.ts';
import { calendarRanges, spanOf, type RangeSearch } from '../app/range.ts';
import { useLanguage, useWords } from '../words/index.ts';
import styles from './calendar.module.css';
import { Icon } from './icon.tsx';
import menu from './menu.module.css';

interface Props {
  readonly anchor: RefObject<HTMLButtonElement | null>;
  readonly onClose: () => void;
}

type Search = Record<string, unknown>;

/** Days to choose: usual ones, or any first and last one of two months; and the zone in which they begin. */
export function Calendar({ anchor, onClose }: Props) {
  const say = useWords();
  const navigate = useNavigate();
  const search: RangeSearch = useSearch({ strict: false });
  const zone = search.tz ?? ownTimeZone;
  const today = dayOf(Date.now(), zone);
  const shown = spanOf(search);
  const end = shown.to === undefined ? today : dayOf(Date.parse(shown.to) - 1, zone);
  const [first, setFirst] = useState<Day>(dayOf(Date.parse(shown.from), zone));
  const [last, setLast] = useState<Day | null>(end);
  const [month, setMonth] = useState(monthOf(end, -1));

  const go = (next: RangeSearch & { readonly tz?: string | undefined }) => {
    void navigate({
      to: '.',
      search: (({ range: _range, from: _from, to: _to, open: _open, ...rest }: Search) => ({
        ...rest,
        ...next,
      })) as never,
    });
  };
  const pick = (day: Day) => {
    if (last !== null) {
      setFirst(day);
      setLast(null);
      return;
    }
    const [from, to] = day < first ? [day, first] : [first, day];
    setFirst(from);
    setLast(to);
    const at = (each: Day) => new Date(startOfDay(each, zone)).toISOString();
    go({ from: at(from), to: at(addDays(to, 1)) });
    onClose();
  };

  return (
    <Popover.Root
      open
      onOpenChange={(isOpen, details) => {
        // The button closes it by itself.
        const { target } = details.event;
        if (target instanceof Node && anchor.current?.contains(target) === true) details.cancel();
        else if (!isOpen) onClose();
      }}
    >
      <Popover.Portal>
        <Popover.Positioner
          className={menu['place']}
          anchor={anchor}
          align="end"
          sideOffset={4}
          collisionPadding={8}
        >
          <Popover.Popup
            className={styles['calendar']}
            aria-label={say('range.label')}
            finalFocus={anchor}
          >
            <ul className={styles['usual']}>
              {calendarRanges.map((name) => (
                <li key={name}>
                  <button
                    type="button"
                    aria-current={search.range === name ? 'true' : undefined}
                    onClick={() => {
                      go({ range: name });
                      onClose();
                    }}
                  >
                    {say(`range.${name}`)}
                  </button>
                </li>
              ))}
            </ul>
            <div className={styles['months']}>
              <button
                type="button"
                className="button bare"
                aria-label={say('range.earlier')}
                onClick={() => setMonth(monthOf(month, -1))}
              >
                <Icon name="left" />
              </button>
              {[month, monthOf(month, 1)].map((each) => (
                <Month
                  key={each}
                  month={each}
                  first={first}
                  last={last ?? first}
                  today={today}
                  onPick={pick}
                />
              ))}
              <button
                type="button"
                className="button bare"
                aria-label={say('range.later')}
                disabled={monthOf(month, 1) >= monthOf(today)}
                onClick={() => setMonth(monthOf(month, 1))}
              >
                <Icon name="right" />
              </button>
            </div>
            <footer className={styles['foot']}>
              <span className="hint">
                {say(last === null ? 'range.pickLast' : 'range.pickFirst')}
              </span>
              <label>
                <span className="hidden">{say('range.zoneLabel')}</span>
                <select
                  className="input"
                  value={zone}
                  onChange={({ target }) =>
                    void navigate({
                      to: '.',
                      search: ((present: Search) => ({ ...present, tz: target.value })) as never,
                    })
                  }
                >
                  {[
                    ...new Set([ownTimeZone, 'UTC', zone, ...Intl.supportedValuesOf('timeZone')]),
                  ].map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
            </footer>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface MonthProps {
  readonly month: Day;
  readonly first: Day;
  readonly last: Day;
  readonly today: Day;
  readonly onPick: (day: Day) => void;
}

function Month({ month, first, last, today, onPick }: MonthProps) {
  const language = useLanguage();
  const format = (day: Day, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { timeZone: 'UTC', ...options }).format(
      new Date(`${day}T00:00Z`),
    );
  const start = weekOf(month);
  const week = [0, 1, 2, 3, 4, 5, 6];
  const weeks = [0, 1, 2, 3, 4, 5]
    .map((at) => week.map((weekday) => addDays(start, at * 7 + weekday)))
    .filter((days) => days.some((day) => monthOf(day) === month));
  return (
    <table>
      <caption>{format(month, { month: 'long', year: 'numeric' })}</caption>
      <thead>
        <tr>
          {week.map((at) => (
            <th key={at} scope="col">
              {format(addDays(start, at), { weekday: 'short' })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((days) => (
          <tr key={days[0]}>
            {days.map((day) => (
              <td key={day}>
                {monthOf(day) === month && (
                  <button
                    type="button"
                    aria-label={format(day, { day: 'numeric', month: 'long', year: 'numeric' })}
                    aria-pressed={day >= first && day <= last}
                    data-end={day === first || day === last}
                    disabled={day > today}
                    onClick={() => onPick(day)}
                  >
                    {Number(day.slice(-2))}
                  </button>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
