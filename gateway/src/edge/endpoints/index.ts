export type { Health } from './health/routes.ts';
export { registerEndpoints, type EndpointOptions } from './register.ts';
export { surfaces } from './surfaces.ts';
