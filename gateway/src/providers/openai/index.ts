import type { Provider } from '../provider.ts';
import { classifyOpenAi } from './classify.ts';
import { bearer } from './headers.ts';
import { openAiPath } from './paths.ts';

export { classifyOpenAi } from './classify.ts';
export { bearer } from './headers.ts';
export { openAiPath } from './paths.ts';

export const openai = {
  name: 'openai',
  counters: ['responses'],
  path: openAiPath,
  headers: bearer,
  classify: classifyOpenAi,
} satisfies Provider;
