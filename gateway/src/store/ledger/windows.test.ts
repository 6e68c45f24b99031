import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeZone, dailyWindow, spansOf, windowOf, type WindowClock } from './windows.ts';

const monthlyWindow = (zone: string, unixMs: number) => dailyWindow(zone, unixMs).slice(0, 7);

const minute = 60_000;
const hour = 60 * minute;
const at = (text: string) => Date.parse(text);

describe('windows', () => {
  it('B-16 begin at local midnight, not at UTC midnight', () => {
    const zone = 'Asia/Shanghai';
    expect(dailyWindow(zone, at('2026-11-21T15:59:59.999Z'))).toBe('2026-11-21');
    expect(dailyWindow(zone, at('2026-11-21T16:00:00Z'))).toBe('2026-11-22');
    expect(monthlyWindow(zone, at('2026-11-30T15:59:59.999Z'))).toBe('2026-11');
    expect(monthlyWindow(zone, at('2026-11-30T16:00:00Z'))).toBe('2026-12');
  });

  it.each([
    ['2026-03-08', 23],
    ['2026-03-09', 24],
    ['2026-11-01', 25],
    ['2026-11-02', 24],
  ])('B-17 %s in New York is one window of %d hours', (date, hours) => {
    expect(minutesOf('America/New_York', date)).toBe(hours * 60);
  });

  it('B-17 miss no minute if clocks change at midnight or by half an hour', () => {
    expect(minutesOf('America/Santiago', '2026-09-06')).toBe(23 * 60);
    expect(minutesOf('Australia/Lord_Howe', '2026-04-05')).toBe(24.5 * 60);
    expect(minutesOf('Pacific/Apia', '2011-12-30')).toBe(0);
  });

  it.each(['2026-01-31', '2026-02-28', '2028-02-29', '2026-04-30', '2026-12-31'])(
    'B-18 a month that ends on %s',
    (last) => {
      const zone = 'Europe/Berlin';
      const noon = at(`${last}T12:00:00Z`);
      expect(dailyWindow(zone, noon)).toBe(last);
      expect(monthlyWindow(zone, noon)).toBe(last.slice(0, 7));
      const next = new Date(noon + 24 * hour).toISOString();
      expect(dailyWindow(zone, noon + 24 * hour)).toBe(next.slice(0, 10));
      expect(monthlyWindow(zone, noon + 24 * hour)).not.toBe(last.slice(0, 7));
    },
  );

  it.each([
    [
      'UTC',
      '2026-11-21T10:00Z',
      ['2026-11-21T00:00Z', '2026-11-22T00:00Z'],
      ['2026-11-01T00:00Z', '2026-12-01T00:00Z'],
    ],
    [
      'Europe/Berlin',
      '2026-10-25T12:00Z',
      ['2026-10-24T22:00Z', '2026-10-25T23:00Z'],
      ['2026-09-30T22:00Z', '2026-10-31T23:00Z'],
    ],
    [
      'Asia/Kathmandu',
      '2026-12-31T18:15Z',
      ['2026-12-31T18:15Z', '2027-01-01T18:15Z'],
      ['2026-12-31T18:15Z', '2027-01-31T18:15Z'],
    ],
    [
      'America/Santiago',
      '2026-09-06T12:00Z',
      ['2026-09-06T04:00Z', '2026-09-07T03:00Z'],
      ['2026-09-01T04:00Z', '2026-10-01T03:00Z'],
    ],
  ])('begin and end by the clock of %s at %s', (timeZone, now, day, month) => {
    const spans = spansOf({ timeZone, openWindow: null }, at(now));
    const shown = [spans.daily, spans.monthly].map(({ from, to }) => [from, to]);
    expect(shown).toEqual([day.map(at), month.map(at)]);
  });

  it('end by the clock that was in force when the zone changed', () => {
    const clock = { timeZone: 'Asia/Shanghai', openWindow: null };
    const later = changeZone(clock, 'America/New_York', at('2026-11-21T10:00Z'));
    const { daily } = spansOf(later, at('2026-11-21T10:00Z'));
    // The next window is that of New York, which has the same date until 05:00 of the next day.
    expect(daily).toEqual({
      name: '2026-11-21',
      from: at('2026-11-20T16:00Z'),
      to: at('2026-11-22T05:00Z'),
    });
  });

  const time = fc.integer({ min: at('1973-01-01'), max: at('2100-01-01') });
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC', '+05:45');

  it('follow the clock of the zone, in any order of calls', () => {
    const asked = fc.array(fc.tuple(zone, time, fc.integer({ min: -2, max: 2 })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(asked, (questions) => {
        for (const [timeZone, around, minutes] of questions) {
          const unixMs = around + minutes * minute;
          const shown = new Date(unixMs).toLocaleDateString('sv-SE', { timeZone });
          expect(dailyWindow(timeZone, unixMs)).toBe(shown);
          expect(monthlyWindow(timeZone, unixMs)).toBe(shown.slice(0, 7));
        }
      }),
    );
  });

  it('change at whole minutes only', () => {
    fc.assert(
      fc.property(
        zone,
        time,
        fc.integer({ min: 0, max: minute - 1 }),
        (timeZone, around, offset) => {
          const start = around - (around % minute);
          const shown = new Date(start + offset).toLocaleDateString('sv-SE', { timeZone });
          expect(new Date(start).toLocaleDateString('sv-SE', { timeZone })).toBe(shown);
        },
      ),
    );
  });

  it('refuse an unknown zone', () => {
    expect(() => dailyWindow('Mars/Olympus', 0)).toThrow(RangeError);
  });
});

/** How many minutes of the days around it a window has. */
function minutesOf(zone: string, date: string): number {
  const noon = at(`${date}T12:00:00Z`);
  let count = 0;
  for (let time = noon - 48 * hour; time < noon + 48 * hour; time += minute) {
    if (dailyWindow(zone, time) === date) count += 1;
  }
  return count;
}

describe('a changed time zone', () => {
  const shanghai: WindowClock = { timeZone: 'Asia/Shanghai', openWindow: null };
  const utc: WindowClock = { timeZone: 'UTC', openWindow: null };

  it('B-18 eastward: the open day ends by its own clock, and the next one is shorter', () => {
    const changed = changeZone(utc, 'Asia/Shanghai', at('2026-11-21T20:00:00Z'));
    expect(windowOf(changed, at('2026-11-21T20:00:00Z'))).toBe('2026-11-21');
    expect(windowOf(changed, at('2026-11-21T23:59:59Z'))).toBe('2026-11-21');
    expect(windowOf(changed, at('2026-11-22T00:00:00Z'))).toBe('2026-11-22');
    expect(windowOf(changed, at('2026-11-22T15:59:59Z'))).toBe('2026-11-22');
    expect(windowOf(changed, at('2026-11-22T16:00:00Z'))).toBe('2026-11-23');
  });

  it('B-18 westward: the open day continues until the new clock has passed it', () => {
    const changed = changeZone(shanghai, 'UTC', at('2026-11-21T20:00:00Z'));
    expect(windowOf(changed, at('2026-11-21T20:00:00Z'))).toBe('2026-11-22');
    expect(windowOf(changed, at('2026-11-22T23:59:59Z'))).toBe('2026-11-22');
    expect(windowOf(changed, at('2026-11-23T00:00:00Z'))).toBe('2026-11-23');
  });

  it('changes nothing if it stays the same', () => {
    expect(changeZone(utc, 'UTC', 0)).toBe(utc);
  });

  const zone = fc.constantFrom('UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kolkata');
  const step = fc.record({ zone, wait: fc.integer({ min: 0, max: 40 * 60 }) });

  it('repeatedly: time moves on, no day comes twice, and the clock soon is the last one', () => {
    fc.assert(
      fc.property(zone, fc.array(step, { maxLength: 8 }), (first, steps) => {
        let now = at('2026-11-21T00:00:00Z');
        let clock: WindowClock = { timeZone: first, openWindow: null };
        let last = windowOf(clock, now);
        for (const { zone: next, wait } of steps) {
          for (let passed = 0; passed < wait; passed += 30) {
            const window = windowOf(clock, now + passed * minute);
            expect(window >= last).toBe(true);
            last = window;
          }
          now += wait * minute;
          last = windowOf(clock, now);
          clock = changeZone(clock, next, now);
          // A change by itself opens no window.
          expect(windowOf(clock, now)).toBe(last);
        }
        const later = now + 52 * hour;
        expect(windowOf(clock, later)).toBe(dailyWindow(clock.timeZone, later));
      }),
    );
  });
});
