/** Loaded before the gateway by the test of clock steps, in every thread: the wall clock is as wrong as a file says. */
import { readFileSync } from 'node:fs';

const RealDate = Date;

/** Read at every look: a thread that is busy, or has just been started, is not late to notice a step. */
const now = () => RealDate.now() + Number(readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8'));

globalThis.Date = class Date extends RealDate {
  constructor(...parameters) {
    if (parameters.length === 0) super(now());
    else super(...parameters);
  }

  static now() {
    return now();
  }
};
