import type { TextFacts } from '../facts.ts';

export const generateContentFacts = Object.freeze<TextFacts>({
  outputLimit: {
    names: ['maxOutputTokens', 'max_output_tokens'],
    holders: ['generationConfig', 'generation_config'],
  },
  countMember: 'totalTokens',
  usageIsOptional: true,
  hasPauses: false,
  expresses: { citations: false, logprobs: true, candidates: true, image: true, media: true },
  state: {
    isBytes: true,
    signsTexts: true,
    signsReasoning: false,
    emptySignature: 'first call',
    isLookedUp: false,
  },
  hasItems: false,
  sharesTiers: false,
  requiredHeaders: {},
  wantsJsonWord: false,
  takesLoneInstructions: false,
  placesSystemTurns: true,
  isRepaired: false,
  showsReasoning: false,
  namesSessions: false,
});
