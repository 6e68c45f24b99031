import { bundle } from './entry.ts';

const can = ['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools'];
const drawing = ['edits', 'multi_reference', 'streaming'];
const limits = [1_048_576, 65_536] as const;

/** USD: per response that searched for the 2.5 models, per search for later ones. */
const groundedPrompt = { grounded_prompt: '0.035' };
const searches = { web_search: '0.014' };

export const geminiModels = bundle('gemini', [
  { id: 'gemini-3.8-flash', name: 'Gemini 3.8 Flash', limits, can, fees: searches },
  { id: 'gemini-3.7-flash', name: 'Gemini 3.7 Flash', limits, can, fees: searches },
  { id: 'gemini-3.6-flash', name: 'Gemini 3.6 Flash', limits, can, fees: searches },
  {
    id: 'gemini-3.5-flash',
    name: 'Gemini 3.5 Flash',
    limits,
    can,
    fees: searches,
  },
  {
    id: 'gemini-3.5-flash-lite',
    name: 'Gemini 3.5 Flash-Lite',
    released: '2026-07-21',
    limits,
    can,
    fees: searches,
  },
  {
    id: 'gemini-3.1-pro-preview',
    name: 'Gemini 3.1 Pro (preview)',
    released: '2026-02-19',
    limits,
    can,
    fees: searches,
  },
  { id: 'gemini-3.1-flash-lite', name: 'Gemini 3.1 Flash-Lite', limits, can, fees: searches },
  {
    id: 'gemini-3-flash-preview',
    name: 'Gemini 3 Flash (preview)',
    released: '2025-12-17',
    limits,
    can,
    fees: searches,
  },
  {
    id: 'gemini-2.5-pro',
    name: 'Gemini 2.5 Pro',
    released: '2025-06-17',
    limits,
    can,
    fees: groundedPrompt,
  },
  {
    id: 'gemini-2.5-flash',
    name: 'Gemini 2.5 Flash',
    released: '2025-06-17',
    limits,
    can,
    fees: groundedPrompt,
  },
  {
    id: 'gemini-2.5-flash-lite',
    name: 'Gemini 2.5 Flash-Lite',
    released: '2025-07-22',
    limits,
    can,
    fees: groundedPrompt,
  },
  {
    id: 'gemini-3-pro-image',
    name: 'Gemini 3 Pro Image',
    released: '2026-05-28',
    type: 'image',
    can: drawing,
    price: { input: '2', output: '12', outputImage: '120', fees: searches },
  },
  {
    id: 'gemini-3.1-flash-image',
    name: 'Gemini 3.1 Flash Image',
    released: '2026-05-28',
    type: 'image',
    can: drawing,
    price: { input: '0.5', output: '3', outputImage: '60', fees: searches },
  },
]);
