import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLanguage } from '../words/index.ts';

/** Numbers and times in the language of the page. */
export interface Formats {
  /** `86,912`, `0.25`: every digit. */
  count(value: number): string;
  /** `1.2M`, `860` */
  short(value: number): string;
  /** From a share of 1: `96`. */
  percent(share: number): string;
  /** `0.42 s`, `12 ms`, `2 min 05 s` */
  duration(milliseconds: number): string;
  /** `19:04:31`, with the day before today. */
  time(rfc3339: string): string;
  /** `24 Nov 2026, 19:04:31.482` */
  fullTime(rfc3339: string): string;
  /** `10:05`, on whatever day. */
  clock(rfc3339: string): string;
  /** `24 Nov, 10:05` */
  moment(rfc3339: string): string;
  /** `24 Nov 2026` */
  day(rfc3339: string): string;
  /** Four significant digits: `214.8`, `0.0042`. */
  amount(value: number): string;
  /** From a share of 1, near 1: `99.42`. */
  share(share: number): string;
  /** `+0.2` */
  signed(value: number): string;
  /** `+8.2 %` against what was before; `–` if there was nothing. */
  change(value: number, before: number): string;
  /** `24 Nov, 10:00 – 12:00` */
  span(from: string, to: string): string;
  /** A month, day or hour as sums name it: `Nov 2026`, `24 Nov`, `10:00`; with the day at midnight. */
  part(name: string): string;
  /** The name of an hour or day in UTC such as `2026-11-24T10:00Z`: `10:00` in the browser's zone, or `24 Nov`. */
  bucket(name: string): string;
}

/** A minus is as wide as a plus. */
const minus = (text: string): string => text.replace('-', '−');

export function useFormats(): Formats {
  const language = useLanguage();
  const { tz }: { readonly tz?: string } = useSearch({ strict: false });
  return useMemo(() => createFormats(language, tz), [language, tz]);
}

/** @param zone an IANA name; absent: that of the browser */
export function createFormats(language: string, zone?: string): Formats {
  const timeZone = zone === undefined ? {} : { timeZone: zone };
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 9 });
  const compact = new Intl.NumberFormat(language, {
    notation: 'compact',
    maximumSignificantDigits: 3,
  });
  const percents = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const clock = new Intl.DateTimeFormat(language, {
    ...timeZone,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  const date = new Intl.DateTimeFormat(language, { ...timeZone, day: 'numeric', month: 'short' });
  const full = new Intl.DateTimeFormat(language, {
    ...timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
  });
  const calendar = new Intl.DateTimeFormat(language, {
    ...timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
  const hour = new Intl.DateTimeFormat(language, {
    ...timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const amounts = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 });
  const shares = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const signed = new Intl.NumberFormat(language, {
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  });
  const moment = new Intl.DateTimeFormat(language, {
    ...timeZone,
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const month = new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    month: 'short',
    year: 'numeric',
  });
  const utcDay = new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
  });
  return {
    count: (value) => whole.format(value),
    short: (value) => compact.format(value),
    percent(share) {
      // Never rounded to all of them: 99.5 % of the requests of a day can hide a hundred failures.
      if (share > 0.99 && share < 1) return percents.format(Math.min(99.9, share * 100));
      return percents.format(share >= 0.1 ? Math.round(share * 100) : share * 100);
    },
    duration(milliseconds) {
      if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
      if (milliseconds < 10_000) return `${(milliseconds / 1_000).toFixed(2)} s`;
      if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
      const seconds = Math.round(milliseconds / 1_000);
      return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
    },
    time(rfc3339) {
      const time = new Date(rfc3339);
      const isToday = date.format(time) === date.format(new Date());
      return isToday ? clock.format(time) : `${date.format(time)} ${clock.format(time)}`;
    },
    fullTime: (rfc3339) => full.format(new Date(rfc3339)),
    clock: (rfc3339) => hour.format(new Date(rfc3339)),
    moment: (rfc3339) => moment.format(new Date(rfc3339)),
    day: (rfc3339) => calendar.format(new Date(rfc3339)),
    amount: (value) => amounts.format(value),
    // Never rounded up to all of them.
    share: (share) => shares.format(share < 1 ? Math.min(99.99, share * 100) : 100),
    signed: (value) => minus(signed.format(value)),
    change(value, before) {
      if (before === 0) return '–';
      return `${minus(signed.format(((value - before) / before) * 100))} %`;
    },
    span: (from, to) => moment.formatRange(new Date(from), new Date(to)),
    part(name) {
      if (name.length === 7) return month.format(new Date(`${name}-01T00:00Z`));
      if (!name.includes('T')) return utcDay.format(new Date(`${name}T00:00Z`));
      const time = new Date(name);
      const text = hour.format(time);
      return text === '00:00' ? date.format(time) : text;
    },
    bucket: (name) =>
      name.includes('T') ? hour.format(new Date(name)) : utcDay.format(new Date(`${name}T00:00Z`)),
  };
}
