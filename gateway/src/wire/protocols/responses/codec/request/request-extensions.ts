import type { Extension, Extensions } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../../shared/values.ts';

type IfForeign = Extension['ifForeign'];
type Rule = IfForeign | ((value: unknown) => IfForeign);

/** Members that have a place in the canonical request. */
const decoded = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'max_output_tokens',
  'temperature',
  'top_p',
  'tools',
  'parallel_tool_calls',
  'prompt_cache_key',
]);

/** Members with a place there, of which some parts become extensions. */
const partlyDecoded = new Set([
  'tool_choice',
  'reasoning',
  'text',
  'top_logprobs',
  'include',
  'safety_identifier',
  'user',
]);

/** What losing a member means. A member that is not listed is dropped and reported. */
const rules: Readonly<Record<string, Rule>> = {
  // State in the provider's storage.
  previous_response_id: 'refuse',
  conversation: 'refuse',
  prompt: 'refuse',
  background: (value) => (value === false ? 'ignore' : 'refuse'),
  store: (value) => (value === false ? 'ignore' : 'drop'),
  truncation: (value) => (value === 'disabled' ? 'ignore' : 'drop'),
  // Without effect on the response.
  metadata: 'ignore',
  client_metadata: 'ignore',
  stream_options: 'ignore',
};

/** All members at the top level without a place in the canonical request. */
export function decodeExtensions(json: JsonRecord): Extension[] {
  const extensions: Extension[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (isAbsent(value) || decoded.has(name) || partlyDecoded.has(name)) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const ifForeign = typeof rule === 'function' ? rule(value) : (rule ?? 'drop');
    extensions.push(ownExtension(name, value, ifForeign));
  }
  return extensions;
}

/** An extension that only Responses understands. */
export function ownExtension(name: string, value: unknown, ifForeign: IfForeign): Extension {
  return { protocol: 'responses', name, value, ifForeign };
}

/** The value of this protocol's extension `name`; undefined if there is none. */
export function ownValue(extensions: Extensions | undefined, name: string): unknown {
  return extensions?.find((entry) => entry.protocol === 'responses' && entry.name === name)?.value;
}
