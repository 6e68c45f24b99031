import type { Extension, Extensions } from '#canonical/index.ts';

type IfForeign = Extension['ifForeign'];

/** An extension that only Responses understands. */
export function ownExtension(name: string, value: unknown, ifForeign: IfForeign): Extension {
  return { protocol: 'responses', name, value, ifForeign };
}

/** The value of this protocol's extension `name`; undefined if there is none. */
export function ownValue(extensions: Extensions | undefined, name: string): unknown {
  return extensions?.find((entry) => entry.protocol === 'responses' && entry.name === name)?.value;
}

/** `{extensions}` for spreading into a block; empty if there are none. */
export function withExtensions(extensions: Extensions): { extensions?: Extensions } {
  return extensions.length === 0 ? {} : { extensions };
}
