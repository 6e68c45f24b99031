export type * from './config.ts';
export type * from './kinds/index.ts';
export { isBracketedTooDeeply } from './syntax.ts';
export {
  type JsonMembers,
  parseEntry,
  readAlias,
  readEntry,
  readPrice,
  type TextMembers,
} from './declared.ts';
export type { Names } from './rules/names.ts';
export { scaled, trimTrailing, unscaled } from './decimal.ts';
export type { Environment } from './expand.ts';
export { adminKey, kinds } from './kinds/index.ts';
export { type ComparedFile, type NotCompared, readComparedFile } from './compared-file.ts';
export { changedSettings, describeSettings, type ShownSetting } from './described.ts';
export { isHeaderName, reservedHeaders } from './kinds/channel.ts';
export { modelTypes } from './kinds/model-type.ts';
export { normalPrice } from './kinds/normal-price.ts';
export { priceParts, type PriceUnit, priceUnits, writePrice } from './kinds/price.ts';
export { isName, isTimeZone, parseTimestamp } from './leaf.ts';
export { loadConfig, type LoadOptions, parseConfig } from './load.ts';
export { nearest } from './near.ts';
export { isWithinRanges, parseHttpUrl, postgresUrls } from './network.ts';
export { ConfigError, type ConfigProblem, formatPath, formatProblem } from './problem.ts';
export { enoughBits, seemingBits } from './secret-strength.ts';
export { parseDuration } from './units.ts';
