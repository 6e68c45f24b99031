export { BodyClaim } from './body-claim.ts';
export { CollectedBody } from './collected-body.ts';
export { createSpool, type Spool, type SpoolSpace } from './spool.ts';
export { SpooledBody, SpoolFailure } from './spooled-body.ts';
export { createBodyMemory, type BodyMemory } from './body-memory.ts';
export { defaultBodyMemory, memoryLimit, memoryShortage } from './memory-limit.ts';
