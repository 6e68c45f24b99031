export {
  createConcurrencyGate,
  type ConcurrencyGate,
  type OverloadCause,
  type Waiting,
} from './exchange/concurrency-gate.ts';
export type { ClientResponse } from './exchange/client-response.ts';
export type { Clock } from './exchange/ticker.ts';
export { createDrainSlots } from './exchange/concurrency-gate.ts';
export { watchPressure, type PressureCause } from './exchange/pressure.ts';
export { createPressureReport, createRefusalReport } from './exchange/pressure-report.ts';
export { createTicker, type Ticker } from './exchange/ticker.ts';
export { createRelay, type Relay, type RelayInput, type RelayParts } from './relay.ts';
export type { EmbedInput } from './embeddings/prepared.ts';
export type { ImageInput } from './images/prepared.ts';
export type { TextInput } from './text/input.ts';
export { createItemMemory, type ItemMemory } from './text/items/item-memory.ts';
export { createSealedTexts } from './text/items/sealed-texts.ts';
export { createSharedItems } from './text/items/shared-items.ts';
export { createSharedStates } from './text/items/shared-items.ts';
export type { VideoInput } from './videos/prepared.ts';
