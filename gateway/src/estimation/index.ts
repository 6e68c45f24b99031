export { familyOf, type EstimateTarget } from './family.ts';
export { createTokenEstimator, type TokenEstimator } from './token-estimator.ts';
