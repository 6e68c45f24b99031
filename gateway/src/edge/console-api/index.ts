export { registerConsole, type ConsoleOptions } from './register.ts';
export { consoleSurface } from './surface.ts';
export type { HealthSource } from './health/source.ts';
