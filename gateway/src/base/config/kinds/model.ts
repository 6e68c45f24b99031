import { z } from 'zod';
import { distinctList } from '../collection.ts';
import { flag, integer, isName, name, oneOf, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';
import { choice, count, defineKind, member, names, structure, text, yesOrNo } from './kind.ts';
import { modelTypes } from './model-type.ts';
import { normalPrice } from './normal-price.ts';
import { type DeclaredPrice, isAllowable, price, writePrice } from './price.ts';

const capabilities = [
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

const tokens = () => count(integer(1, 1_000_000_000, { fallback: null }));
const shownText = (what: string) => text(string(what, isName, { fallback: null }));

const members = {
  id: member(text(name('a model id')), { identity: true }),
  type: member(choice(modelTypes), {
    doc: '`chat`, `image`, `video` or `embedding`: which endpoints can call it',
  }),
  display_name: member(shownText('a name'), { stored: 'settings', doc: 'for model lists' }),
  owned_by: member(shownText('a name'), { stored: 'settings', doc: 'for model lists' }),
  context_window: member(tokens(), {
    stored: 'settings',
    doc: 'tokens; [holds](billing.md#the-hold) assume that no response is longer',
  }),
  max_output_tokens: member(tokens(), {
    stored: 'settings',
    doc: 'tokens; [holds](billing.md#the-hold) assume that no response is longer',
  }),
  capabilities: member(names(distinctList(oneOf(capabilities) as z.ZodType<string>, () => [])), {
    stored: 'settings',
    doc: '`vision`, `tools`, `reasoning`, `sampling`, `hosted_tools`; images: `edits`, `streaming`, `layers`, `multi_reference`',
  }),
  echo_reasoning: member(choice(['require', 'allow', 'strip'], { fallback: null }), {
    stored: 'settings',
    usual: 'by vendor',
    doc: 'overrides what chat upstreams get of reasoning text in the history: in every message of the model (`require`), what there is of it (`allow`), or none (`strip`), [more](vendors.md#reasoning-in-the-history)',
  }),
  allow: member(
    names(distinctList(string('a surcharge such as service_tier.flex', isAllowable), () => [])),
    {
      stored: 'settings',
      doc: 'surcharges that requests may ask for without a price, such as `speed.fast`; also `models.other` and `fallbacks.other`, for [fields that name further models](billing.md#surcharges)',
    },
  ),
  image_tool_model: member(shownText('a model id'), {
    ignored: true,
    doc: 'accepted, without effect: the tool `image_generation` of Responses works [at upstreams of Responses](images.md#in-responses)',
  }),
  enabled: member(yesOrNo(flag({ fallback: true }))),
  price: member(
    structure(
      z.preprocess((input) => (isAbsent(input) ? undefined : input), price.optional()),
      {
        write: (parts: DeclaredPrice | null) => parts && writePrice(parts),
        // `0.20` and `0.2` are one price, and one version of it.
        compare: (parts: DeclaredPrice | null) => normalPrice(parts) ?? parts,
      },
    ),
    {
      stored: 'settings',
      doc: 'without the required parts the model is listed, but requests are refused as unpriced',
    },
  ),
};

export const model = defineKind('model', members, ({ price: parts, ...rest }) => {
  const { imageToolModel, ...known } = rest;
  return {
    ...known,
    ...({ imageToolModel } as Partial<Pick<typeof rest, 'imageToolModel'>>),
    /** Null: no price set; the model is listed but refused as unpriced. */
    price: parts === undefined || Object.keys(parts).length === 0 ? null : parts,
  };
});
