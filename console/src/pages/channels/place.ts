import type { Say } from '../../words/index.ts';
import type { Channel } from './list.ts';

/** Such as "change it in sluice.yaml, channels[2]". */
export const placeText = (say: Say, { declared_in: place }: Pick<Channel, 'declared_in'>): string =>
  place === null ? say('keys.ofFile') : say('keys.ofFileAt', place);
