/**
 * Request members whose value can change the price of a response. A price names member and value with a dot between.
 */
export const surchargeFields = ['service_tier', 'speed', 'inference_geo'] as const;

/**
 * Members by which a request names further models. Those may answer in place of the model whose price the request pays.
 */
const modelFields = ['models.other', 'fallbacks.other'];

/** Uses with a fee of their own. `grounded_prompt` counts once per response, however many searches it took. */
export const feeNames = ['web_search', 'grounded_prompt'] as const;

const valueShape = /^[a-z0-9_-]{1,40}$/;

/** A field and its value, as in `service_tier.priority`. */
export function isSurchargeName(text: string): boolean {
  const field = surchargeFields.find((name) => text.startsWith(`${name}.`));
  return field !== undefined && valueShape.test(text.slice(field.length + 1));
}

/** Whether a model's `allow` may name it. */
export function isAllowable(text: string): boolean {
  return isSurchargeName(text) || modelFields.includes(text);
}
