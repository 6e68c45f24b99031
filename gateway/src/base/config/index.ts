export type * from './config.ts';
export { isBracketedTooDeeply } from './bracket-depth.ts';
export type { Environment } from './expand.ts';
export {
  inspectConfig,
  type InspectedConfig,
  loadConfig,
  type LoadOptions,
  parseConfig,
} from './load.ts';
export { parseKeySettings, parseUserSettings } from './account-settings.ts';
export { isName, parseTimestamp } from './leaf.ts';
export { ConfigError, type ConfigProblem, formatProblem } from './problem.ts';
export { isHeaderName, reservedHeaders } from './schema/channel.ts';
export { enoughBits, seemingBits } from './secret-strength.ts';
export { formatDuration, parseDuration } from './units.ts';
export { trimTrailing } from './trim-trailing.ts';
