import type { Extension, OutputFormat } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { invalid, requireRecord } from './request-fields.ts';

/**
 * Reads `response_format`. A format that only some servers know (a grammar, a pattern) becomes an extension: without
 * it the text would have another form.
 * @throws GatewayError `invalid_value`
 */
export function decodeFormat(json: JsonRecord): {
  readonly format: OutputFormat | null;
  readonly extensions: readonly Extension[];
} {
  const value = json['response_format'];
  if (isAbsent(value)) return { format: null, extensions: [] };
  const wanted = requireRecord(value, 'response_format');
  switch (wanted['type']) {
    case 'text':
      return { format: { type: 'text' }, extensions: [] };
    case 'json_object':
      return { format: { type: 'json' }, extensions: [] };
    case 'json_schema':
      return { format: decodeSchema(wanted), extensions: [] };
    default:
      return {
        format: null,
        extensions: [
          { protocol: 'chat', name: 'response_format', value: wanted, ifForeign: 'refuse' },
        ],
      };
  }
}

function decodeSchema(wanted: JsonRecord): OutputFormat {
  const param = 'response_format.json_schema';
  const { name, description, schema, strict } = requireRecord(wanted['json_schema'], param);
  if (!isAbsent(schema) && !isRecord(schema)) throw invalid(`${param}.schema`, 'must be an object');
  return {
    type: 'schema',
    name: typeof name === 'string' ? name : null,
    description: typeof description === 'string' ? description : null,
    schema: recordAt({ schema }, 'schema'),
    strict: typeof strict === 'boolean' ? strict : null,
  };
}
