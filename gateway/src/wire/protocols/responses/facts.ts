import type { TextFacts } from '../facts.ts';

export const responsesFacts = Object.freeze<TextFacts>({
  outputLimit: { names: ['max_output_tokens'], holders: [] },
  countMember: 'input_tokens',
  usageIsOptional: false,
  hasPauses: false,
  expresses: { citations: true, logprobs: true, candidates: false, image: true, media: false },
  state: {
    isBytes: false,
    signsTexts: false,
    signsReasoning: false,
    emptySignature: null,
    isLookedUp: true,
  },
  hasItems: true,
  sharesTiers: true,
  requiredHeaders: {},
  // https://platform.openai.com/docs/guides/structured-outputs
  wantsJsonWord: true,
  takesLoneInstructions: false,
  placesSystemTurns: false,
  isRepaired: false,
  showsReasoning: false,
  namesSessions: false,
});
