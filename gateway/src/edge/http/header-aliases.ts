import type { IncomingHttpHeaders } from 'node:http';

/** Other names under which clients send a header, by the name that the rest of the gateway reads. */
const aliases: readonly (readonly [alias: string, name: string])[] = [
  ['vendorb-version', 'anthropic-version'],
  ['x-vendord-async', 'x-dashscope-async'],
];

/** Gives every header its one name, in place. What came under that name already goes first, unless it is empty. */
export function renameAliases(headers: IncomingHttpHeaders): void {
  for (const [alias, name] of aliases) {
    const value = headers[alias];
    if (value === undefined) continue;
    if (headers[name] === undefined || headers[name] === '') headers[name] = value;
    delete headers[alias];
  }
}
