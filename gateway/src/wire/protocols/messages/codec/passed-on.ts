/** Members that are only passed on, see `Codec.passedOn`. */
export const passedOn: ReadonlySet<string> = new Set(['input', 'input_schema', 'schema']);
