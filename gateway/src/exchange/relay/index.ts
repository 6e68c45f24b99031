export {
  createConcurrencyGate,
  type ConcurrencyGate,
  type OverloadCause,
  type Waiting,
} from './overload/concurrency-gate.ts';
export type { ClientResponse } from './exchange.ts';
export type { Clock } from './ticker.ts';
export { createDrainSlots } from './overload/concurrency-gate.ts';
export { watchPressure, type PressureCause } from './overload/pressure.ts';
export { createPressureReport, createRefusalReport } from './overload/pressure.ts';
export { createTicker, type Ticker } from './ticker.ts';
export { createModelSearch, type ModelSearch } from './trial/find-models.ts';
export { createChannelTrial, type ChannelTrial, type TrialParts } from './trial/trial.ts';
export { createRelay, type Relay, type RelayInput, type RelayParts } from './relay.ts';
export type { EmbedInput } from './embeddings/open-embed.ts';
export type { ImageInput } from './images/prepared.ts';
export type { TextInput } from './text/input.ts';
export { createItemMemory, type ItemMemory } from './text/items/item-memory.ts';
export { createSealedTexts } from './text/items/item-memory.ts';
export { createSharedItems } from './text/items/item-memory.ts';
export { createSharedStates } from './text/items/item-memory.ts';
export type { VideoInput } from './videos/open-video.ts';
