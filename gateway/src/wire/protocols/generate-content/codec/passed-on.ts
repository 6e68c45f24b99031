/** Members that are only passed on, see `Codec.passedOn`; in both spellings. */
export const passedOn: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'parameters_json_schema',
  'responseSchema',
  'response_schema',
  'responseJsonSchema',
  'response_json_schema',
]);
