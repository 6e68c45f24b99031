import type { OutputFormat } from '#canonical/index.ts';
import type { JsonRecord } from './values.ts';

/** The schema of an output format, for a protocol whose formats have no description beside it. */
export function describedSchema({
  schema,
  description,
}: Extract<OutputFormat, { type: 'schema' }>): JsonRecord {
  return description === null || 'description' in schema ? schema : { description, ...schema };
}
