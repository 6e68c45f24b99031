export {
  createBilling,
  type Billing,
  type BillingOptions,
  type Hold,
  type MovedHold,
  type Order,
} from './billing.ts';
export {
  holdOf,
  parseMultiplier,
  receiptOf,
  type CostLine,
  type Multiplier,
  type Receipt,
} from './cost.ts';
export {
  affordableOutput,
  textBound,
  tokenBounds,
  usualOutput,
  type TextDemand,
} from './hold-bound.ts';
export { imageBound, mostLayers, unpricedPart, type ImageDemand } from './image-bound.ts';
export { exceededTier, imageLines, type ReturnedImage, type Unbillable } from './image-lines.ts';
export { hasMoney, metersOf } from './meters.ts';
export { ratesOf, type PriceRates, type Rate, type Reach } from './rates.ts';
export { repricedCost, rescaledCost } from './reprice.ts';
export { createSpentSource, type SpentSourceOptions } from './spent-source.ts';
export {
  chargeOfTask,
  measureTask,
  termsOfTask,
  type TaskCharge,
  type TaskTerms,
} from './task-charge.ts';
export { pricesVideo, videoBound, videoQuantity } from './video-bound.ts';
export {
  inputRateBeside,
  iterationLines,
  iterationMarks,
  judgeUsage,
  surchargedLines,
  tokenLines,
  unpricedLines,
} from './usage-lines.ts';
