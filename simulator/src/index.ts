export { startSimulator, type Simulator, type SimulatorOptions } from './server.ts';
export type { ReceivedPart, ReceivedRequest } from './log/request-log.ts';
export { runLoad, type LoadOptions } from './load/run-load.ts';
export type { LoadFailure, LoadResult } from './load/request.ts';
export type { LoadSummary } from './load/summary.ts';
export type { Distribution } from './load/histogram.ts';
export type { ImageSpec } from './image-files/order.ts';
export { createImage } from './image-files/create-image.ts';
