import type { Weights } from '#body-work/index.ts';

/** Where the work on bodies is done. It makes no difference to anybody. */
export const bodyPlaces = {
  threads: { read: 0, mostValues: 0, conversion: 0, response: 0 },
  here: { read: Infinity, mostValues: Infinity, conversion: Infinity, response: Infinity },
} as const satisfies Record<string, Weights>;

/** The place that `SLUICE_BODY_WORK` names for all gateways of a run; undefined: as in production, by size. */
export function placeOfRun(): Weights | undefined {
  const name = process.env['SLUICE_BODY_WORK'];
  if (name === undefined) return undefined;
  if (name !== 'threads' && name !== 'here') throw new Error('SLUICE_BODY_WORK: threads or here');
  return bodyPlaces[name];
}
