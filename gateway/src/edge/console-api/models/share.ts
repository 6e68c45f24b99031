/** The share that succeeded; null: nothing was asked. Rounded, so that it tells nobody how many others asked. */
export const shareOf = (requests: number, failed: number): number | null =>
  requests === 0 ? null : Math.round((1 - failed / requests) * 1_000) / 1_000;
