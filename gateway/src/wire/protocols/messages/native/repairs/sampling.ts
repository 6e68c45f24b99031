import type { JsonRecord } from '../../../shared/values.ts';
import { type Draft, gone, type RepairContext } from './draft.ts';
import { isThinking } from './thinking.ts';

const withoutSampling = '2026-10-21';

/** `temperature` is never sent, see the patches. */
export function dropSampling(draft: Draft): boolean {
  const { root, context } = draft;
  const dropsTopP = refusesTopP(root, context);
  const dropsTopK = refusesTopK(root, context);
  if (dropsTopP) draft.set('top_p', gone);
  if (dropsTopK) draft.set('top_k', gone);
  return dropsTopP || dropsTopK;
}

/**
 * Models after Claude 4.6 accept `top_p` only with almost no effect. Older ones limit it while thinking, a bit less.
 */
export function refusesTopP(root: JsonRecord, { model, version }: RepairContext): boolean {
  const topP = root['top_p'];
  if (topP === undefined || topP === null) return false;
  if (version === withoutSampling) return true;
  const value = Number(topP);
  if (model.refusesSampling) return !(value >= 0.99);
  return isThinking(root) && !(value >= 0.95);
}

export function refusesTopK(root: JsonRecord, { model, version }: RepairContext): boolean {
  const topK = root['top_k'];
  if (topK === undefined || topK === null) return false;
  return version === withoutSampling || model.refusesSampling || isThinking(root);
}
