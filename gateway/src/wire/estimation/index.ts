export { familyOf, usualImageTokens, type EstimateTarget } from './family.ts';
export { imageSize } from './image-size.ts';
export { outlineRequest, type Outline } from './outline.ts';
export { createTokenEstimator, type TokenEstimator } from './token-estimator.ts';
