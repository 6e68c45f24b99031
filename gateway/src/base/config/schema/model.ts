import { z } from 'zod';
import { distinctList, mapping } from '../collection.ts';
import { type DeclaredModel, modelTypes } from '../config.ts';
import { flag, integer, isName, name, oneOf, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';
import { isAllowable } from '../surcharge-names.ts';
import { price } from './price.ts';

export const capabilities = [
  'vision',
  'tools',
  'reasoning',
  'sampling',
  'hosted_tools',
  'edits',
  'streaming',
  'layers',
  'multi_reference',
] as const;

const tokens = () => integer(1, 1_000_000_000, { fallback: null });
const shown = (what: string) => string(what, isName, { fallback: null });

export const model = mapping({
  id: name('a model id'),
  type: oneOf(modelTypes),
  display_name: shown('a name'),
  owned_by: shown('a name'),
  context_window: tokens(),
  max_output_tokens: tokens(),
  capabilities: distinctList(oneOf(capabilities), () => []),
  echo_reasoning: oneOf(['require', 'allow', 'strip'], { fallback: null }),
  allow: distinctList(string('a surcharge such as service_tier.flex', isAllowable), () => []),
  image_tool_model: string('a model id', isName, { fallback: null }),
  enabled: flag({ fallback: true }),
  price: z.preprocess((input) => (isAbsent(input) ? undefined : input), price.optional()),
}).transform(({ price: parts, ...rest }): DeclaredModel => ({
  ...rest,
  price: parts === undefined || Object.keys(parts).length === 0 ? null : parts,
}));
