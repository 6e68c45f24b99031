import type { Extension } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../../values.ts';
import { ownExtension } from '../own-extension.ts';

type IfForeign = Extension['ifForeign'];
type Rule = IfForeign | ((value: unknown) => IfForeign);

/** Read into members of the canonical request. */
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

/** Read there, and what of them has no equal is kept under a name of its own. */
const partlyDecoded = new Set([
  'tool_choice',
  'reasoning',
  'text',
  'top_logprobs',
  'include',
  'safety_identifier',
  'user',
]);

/** What a request means to another protocol's upstream; a member that is not listed is lost and reported. */
const rules: Readonly<Record<string, Rule>> = {
  // State that only the provider's own storage has.
  previous_response_id: 'refuse',
  conversation: 'refuse',
  prompt: 'refuse',
  background: (value) => (value === false ? 'ignore' : 'refuse'),
  store: (value) => (value === false ? 'ignore' : 'drop'),
  truncation: (value) => (value === 'disabled' ? 'ignore' : 'drop'),
  // Say nothing about the answer.
  metadata: 'ignore',
  client_metadata: 'ignore',
  stream_options: 'ignore',
  prompt_cache_options: 'ignore',
  prompt_cache_retention: 'ignore',
};

/** Every top-level member that the canonical request has no place for. */
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
