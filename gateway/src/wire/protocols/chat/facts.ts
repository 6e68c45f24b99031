import type { TextFacts } from '../facts.ts';

export const chatFacts = Object.freeze<TextFacts>({
  outputLimit: { names: ['max_tokens', 'max_completion_tokens'], holders: [] },
  countMember: 'input_tokens',
  usageIsOptional: false,
  hasPauses: false,
  expresses: { citations: true, logprobs: true, candidates: true, image: false, media: false },
  state: {
    isBytes: false,
    signsTexts: false,
    signsReasoning: false,
    emptySignature: null,
    isLookedUp: false,
  },
  hasItems: false,
  sharesTiers: true,
  requiredHeaders: {},
  // https://platform.openai.com/docs/guides/structured-outputs
  wantsJsonWord: true,
  takesLoneInstructions: true,
  placesSystemTurns: false,
  isRepaired: false,
  showsReasoning: false,
  namesSessions: false,
});
