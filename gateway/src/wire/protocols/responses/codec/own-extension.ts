import type { Extension, Extensions } from '#canonical/index.ts';

type IfForeign = Extension['ifForeign'];

/** Something that only Responses understands. */
export function ownExtension(name: string, value: unknown, ifForeign: IfForeign): Extension {
  return { protocol: 'responses', name, value, ifForeign };
}

/** The value this protocol left under `name`; undefined when it left none. */
export function ownValue(extensions: Extensions | undefined, name: string): unknown {
  return extensions?.find((entry) => entry.protocol === 'responses' && entry.name === name)?.value;
}

/** `{extensions}` when there are any, for spreading into a block. */
export function withExtensions(extensions: Extensions): { extensions?: Extensions } {
  return extensions.length === 0 ? {} : { extensions };
}
