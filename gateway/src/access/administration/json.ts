import type { JsonMembers } from '#config/index.ts';

/** Whether a value of JSON has members. */
export const isMapping = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
