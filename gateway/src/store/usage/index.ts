export { chargeOf, leasedIn, type LineCharge } from './batch-totals.ts';
export {
  linesOf,
  readLines,
  splitLines,
  type LineValues,
  type StoredLines,
  type UsageLines,
} from './read-lines.ts';
export { unitsOf } from './record.ts';
export type * from './record.ts';
export { lineVersion, toLine, withoutWords } from './record-line.ts';
export { isDataError, recordUsage, type RecordUsageOptions } from './record-usage.repository.ts';
export { keepUsageFor, removeInSteps, removeStateWhenExpired } from './retention.ts';
export { decimalOf, entryOf, type UsageDetail, type UsageEntry } from './usage-entry.ts';
export {
  groupings,
  sumUsage,
  type Grouping,
  type SumFilter,
  type UsageSum,
} from './usage-sums.repository.ts';
export { recentHealth, type RecentHealth } from './recent-health.repository.ts';
export {
  channelTraffic,
  type AttemptFailed,
  type ChannelTraffic,
} from './channel-traffic.repository.ts';
export { listPricedRows, type PricedRow, type PricedRowsFilter } from './priced-rows.repository.ts';
export { errorTexts, removeErrorTexts } from './usage-errors.repository.ts';
export { lastRequests, lastUses } from './last-uses.repository.ts';
export { listUnfinished, type UnfinishedAttempt } from './unfinished.repository.ts';
export {
  findUsage,
  listUsage,
  totalUsage,
  type UsageFilter,
  type UsagePage,
} from './usage.repository.ts';
export { encodeOwnUsage, type MoneyLimit, type OwnLimits } from './own-usage.ts';
export { FilterError, readFilterLine, type Term } from './filter-line.ts';
export type { Test } from './filter-values.ts';
export {
  filterWords,
  nameWords,
  type FilteredRow,
  type FilterWord,
} from './filter-words.repository.ts';
export { ownedTeams, type NameFilters } from './conditions.repository.ts';
export { type Cell, csvLine } from './csv.ts';
export { type Percentiles } from './latency-buckets.ts';
export { areDaysWhole, timeDimensions, startOfHour, type Bucket } from './time-cuts.ts';
export { csvHeading, toCsv } from './csv.ts';
export {
  countNames,
  countedDimensions,
  costsBy,
  groupUsage,
  mergeGroups,
  metrics,
  nameDimensions,
  namesOf,
  type CountedDimension,
  type Dimension,
  type Grouped,
  type Sums,
} from './usage-groups.repository.ts';
export { mostLatencyRows, readLatency } from './latency.repository.ts';
export { countKinds, readHistogram } from './usage-readings.repository.ts';
export { clientOf } from './client-family.ts';
