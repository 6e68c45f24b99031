import type { OutputFormat } from '#canonical/index.ts';
import type { JsonRecord } from '../values.ts';

/** The schema of an output format, for a protocol whose formats have no description beside it. */
export function describedSchema({
  schema,
  description,
}: Extract<OutputFormat, { type: 'schema' }>): JsonRecord {
  return description === null || 'description' in schema ? schema : { description, ...schema };
}

/**
 * A response format as an instruction, for models that cannot be held to it.
 * @param when the condition under which it holds, as the beginning of a sentence
 */
export function formInWords(format: Exclude<OutputFormat, { type: 'text' }>, when = ''): string {
  const form = when === '' ? 'Answer' : `${when}, answer`;
  if (format.type === 'json') return `${form} with one JSON object and nothing else.`;
  const schema = JSON.stringify(format.schema);
  return `${form} with JSON and nothing else. It must match this JSON Schema:\n${schema}`;
}
