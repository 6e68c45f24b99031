/** The names of what can be shown: a type, or what cannot be used for want of a price. */
export const kinds = ['chat', 'image', 'video', 'embedding', 'unpriced'] as const;
export type ModelKind = (typeof kinds)[number];
