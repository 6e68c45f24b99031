import { writeFileSync } from 'node:fs';
import { list, readPackage } from './vendor-prices.ts';

/* Writes today's prices of the installed package into the bundled catalogue: `npm run catalogue`. */

const today = new Date().toISOString().slice(0, 10);
writeFileSync(list, `${JSON.stringify(readPackage(today), null, 2)}\n`);
