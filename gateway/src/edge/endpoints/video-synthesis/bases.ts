/** The ends of base URLs below which this dialect has its paths: ours, and the vendor's own. */
export const bases = ['/v1', '/api/v1'] as const;
