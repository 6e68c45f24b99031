export { createAdmission, type Admission, type Waiting } from './admission.ts';
export type { ClientResponse } from './client-response.ts';
export type { ExchangeInput, Relay } from './exchange.ts';
export type { Clock } from './clock.ts';
export { createDrainSlots } from './drain-slots.ts';
export type { RelayParts } from './parts.ts';
export { watchPressure } from './pressure.ts';
export { createRelay } from './relay.ts';
export { createWatch, type Watch } from './watch.ts';
