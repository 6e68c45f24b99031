/** Members that are passed on unread, see `Codec.passedOn`. */
export const passedOn: ReadonlySet<string> = new Set(['input', 'input_schema', 'schema']);
