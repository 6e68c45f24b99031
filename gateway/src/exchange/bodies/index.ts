export { BodyClaim } from './body-claim.ts';
export { CollectedBody } from './collected-body.ts';
export { createBodyMemory, type BodyMemory } from './body-memory.ts';
export { defaultBodyMemory, memoryLimit, memoryShortage } from './memory-limit.ts';
