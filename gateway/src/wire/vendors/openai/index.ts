import type { Provider } from '../provider.ts';
import type { SurchargeFacts } from '../surcharges.ts';
import { classifyOpenAi } from './classify.ts';
import { bearer } from './headers.ts';
import { openAiPath } from './paths.ts';

export { classifyOpenAi } from './classify.ts';
export { bearer } from './headers.ts';
export { openAiPath } from './paths.ts';

/** Its "Priority processing" page; flex and batch are cheaper. */
export const openAiSurcharges: SurchargeFacts = { dear: ['service_tier.priority'], betas: [] };

export const openai = {
  name: 'openai',
  counters: ['responses'],
  path: openAiPath,
  headers: bearer,
  classify: classifyOpenAi,
  surcharges: openAiSurcharges,
} satisfies Provider;
