import type { TextFacts } from '../facts.ts';

export const messagesFacts = Object.freeze<TextFacts>({
  outputLimit: { names: ['max_tokens'], holders: [] },
  countMember: 'input_tokens',
  usageIsOptional: false,
  hasPauses: true,
  expresses: { citations: false, logprobs: false, candidates: false, image: false, media: false },
  state: {
    isBytes: false,
    signsTexts: false,
    signsReasoning: true,
    emptySignature: 'thought',
    isLookedUp: false,
  },
  hasItems: false,
  sharesTiers: false,
  requiredHeaders: { 'anthropic-version': '2023-06-01' },
  wantsJsonWord: false,
  takesLoneInstructions: false,
  placesSystemTurns: true,
  isRepaired: true,
  showsReasoning: true,
  namesSessions: true,
});
