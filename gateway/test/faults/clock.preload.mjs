/** Loaded before the gateway by the test of clock steps, in every thread: the wall clock is as wrong as a file says. */
import { readFileSync } from 'node:fs';

const RealDate = Date;
let offset = 0;

setInterval(() => {
  offset = Number(readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8'));
}, 10).unref();

globalThis.Date = class Date extends RealDate {
  constructor(...parameters) {
    if (parameters.length === 0) super(RealDate.now() + offset);
    else super(...parameters);
  }

  static now() {
    return RealDate.now() + offset;
  }
};
