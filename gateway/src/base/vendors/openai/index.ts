import type { Vendor } from '../vendor.ts';
import type { SurchargeFacts } from '../surcharges.ts';
import { classifyOpenAi } from './classify.ts';
import { bearer } from './headers.ts';
import { openAiPath } from './paths.ts';
import { openAiTraits } from './traits.ts';

export { classifyOpenAi } from './classify.ts';
export { bearer } from './headers.ts';
export { openAiPath } from './paths.ts';

/** Its "Priority processing" page; flex and batch are cheaper. */
export const openAiSurcharges: SurchargeFacts = { dear: ['service_tier.priority'], betas: [] };

export const openai = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  versionPath: '/v1',
  protocols: ['chat', 'responses', 'images', 'embeddings'],
  environmentKey: 'OPENAI_API_KEY',
  ownedBy: 'openai',
  countsTokensIn: ['responses'],
  compacts: true,
  path: openAiPath,
  headers: bearer,
  classify: classifyOpenAi,
  surcharges: openAiSurcharges,
  traitsOf: openAiTraits,
} satisfies Vendor;
