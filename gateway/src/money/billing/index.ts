export { affordableOutput } from './affordable-output.ts';
export {
  createBilling,
  type Billing,
  type BillingOptions,
  type Hold,
  type KeptHold,
  type Order,
} from './billing.ts';
export {
  parseMultiplier,
  receiptOf,
  type Line,
  type Multiplier,
  type Receipt,
  type ReceiptLine,
} from './cost.ts';
export { hasMoney } from './has-money.ts';
export { inputRateBeside } from './input-price.ts';
export { imageBound, mostLayers, unpricedPart, type ImageDemand } from './image-bound.ts';
export { holdOf, textBound, tokenBounds, usualOutput, type TextDemand } from './hold-bound.ts';
export { exceededTier, imageLines, type ReturnedImage, type Unbillable } from './image-lines.ts';
export { iterationLines, iterationMarks } from './iteration-lines.ts';
export { judgeUsage } from './judge-usage.ts';
export { metersOf } from './meters-of.ts';
export { ratesOf, type PriceRates, type Rate, type Reach } from './rates.ts';
export { surchargedLines } from './surcharges.ts';
export { createSpentSource, type SpentSourceOptions } from './spent-source.ts';
export { tokenLines, unpricedLines } from './token-lines.ts';
export {
  chargeOfTask,
  measureTask,
  termsOfTask,
  type TaskCharge,
  type TaskTerms,
} from './task-charge.ts';
export { pricesVideo, videoBound, videoQuantity } from './video-bound.ts';
