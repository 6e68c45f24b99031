import { bundle, tokens } from './entry.ts';

const can = ['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools'];
const drawing = ['edits', 'multi_reference', 'streaming'];
const limits = [1_048_576, 65_536] as const;

/** USD: per response that searched for the 2.5 models, per search for later ones. */
const grounded = { fees: { grounded_prompt: '0.035' } };
const searches = { fees: { web_search: '0.014' } };

/** The pro models cost more for prompts above 200 000 tokens. */
const long = 200_000;

export const geminiModels = bundle('gemini', [
  {
    id: 'gemini-3.5-flash',
    name: 'Gemini 3.5 Flash',
    limits,
    can,
    price: { ...tokens('1.5', '0.15', '9'), ...searches },
  },
  {
    id: 'gemini-3.5-flash-lite',
    name: 'Gemini 3.5 Flash-Lite',
    released: '2026-07-21',
    limits,
    can,
    price: { ...tokens('0.3', '0.03', '2.5'), ...searches },
  },
  {
    id: 'gemini-3.1-pro-preview',
    name: 'Gemini 3.1 Pro (preview)',
    released: '2026-02-19',
    limits,
    can,
    price: {
      ...tokens('2', '0.2', '12'),
      tiers: [{ above: long, input: '4', cacheRead: '0.4', output: '18' }],
      ...searches,
    },
  },
  {
    id: 'gemini-3-flash-preview',
    name: 'Gemini 3 Flash (preview)',
    released: '2025-12-17',
    limits,
    can,
    price: { ...tokens('0.5', '0.05', '3'), ...searches },
  },
  {
    id: 'gemini-2.5-pro',
    name: 'Gemini 2.5 Pro',
    released: '2025-06-17',
    limits,
    can,
    price: {
      ...tokens('1.25', '0.125', '10'),
      tiers: [{ above: long, input: '2.5', cacheRead: '0.25', output: '15' }],
      ...grounded,
    },
  },
  {
    id: 'gemini-2.5-flash',
    name: 'Gemini 2.5 Flash',
    released: '2025-06-17',
    limits,
    can,
    price: { ...tokens('0.3', '0.03', '2.5'), ...grounded },
  },
  {
    id: 'gemini-2.5-flash-lite',
    name: 'Gemini 2.5 Flash-Lite',
    released: '2025-07-22',
    limits,
    can,
    price: { ...tokens('0.1', '0.01', '0.4'), ...grounded },
  },
  {
    id: 'gemini-3-pro-image',
    name: 'Gemini 3 Pro Image',
    released: '2026-05-28',
    type: 'image',
    can: drawing,
    price: { input: '2', output: '12', outputImage: '120', ...searches },
  },
  {
    id: 'gemini-3.1-flash-image',
    name: 'Gemini 3.1 Flash Image',
    released: '2026-05-28',
    type: 'image',
    can: drawing,
    price: { input: '0.5', output: '3', outputImage: '60', ...searches },
  },
]);
