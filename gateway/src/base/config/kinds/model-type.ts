/** What kind of work a model does, and so which endpoints can call it. */
export const modelTypes = ['chat', 'image', 'video', 'embedding'] as const;
export type ModelType = (typeof modelTypes)[number];
