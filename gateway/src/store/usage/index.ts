export type { UsageEntry } from './usage-entry.ts';
export {
  groupings,
  sumUsage,
  type Grouping,
  type SumFilter,
  type UsageSum,
} from './usage-sums.repository.ts';
export { listUsage, totalUsage, type UsageFilter, type UsagePage } from './usage.repository.ts';
export { encodeOwnUsage, type MoneyLimit, type OwnLimits } from './own-usage.ts';
