export type * from './config.ts';
export type { Environment } from './expand.ts';
export { loadConfig, type LoadOptions, parseConfig } from './load.ts';
export { parseKeySettings, parseUserSettings } from './account-settings.ts';
export { isName, parseTimestamp } from './leaf.ts';
export { ConfigError, type ConfigProblem, formatProblem } from './problem.ts';
export { providerDefaults, type ProviderDefaults } from './provider-defaults.ts';
export { isHeaderName, reservedHeaders } from './schema/channel.ts';
export { formatDuration, parseDuration } from './units.ts';
