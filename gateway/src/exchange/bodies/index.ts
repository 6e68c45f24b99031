export { BodyClaim } from './body-claim.ts';
export { CollectedBody } from './collected-body.ts';
export { joinInTurns } from './collected-body.ts';
export { createSpool, type Spool, type SpoolSpace } from './spool.ts';
export { type BodyEdit, type BodyPieces, SpooledBody, SpoolFailure } from './spooled-body.ts';
export { type PieceReader, UploadedBody } from './uploaded-body.ts';
export { createBodyMemory, type BodyMemory } from './body-memory.ts';
export { defaultBodyMemory, memoryLimit, memoryShortage } from './body-memory.ts';
