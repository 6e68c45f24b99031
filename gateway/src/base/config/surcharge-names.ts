/** Members of a request whose value can make an answer dearer or cheaper; prices name the two with a dot between. */
export const surchargeFields = ['service_tier', 'speed', 'inference_geo'] as const;

/** Members by which a request names further models, which may answer in place of the one whose price it pays. */
const modelFields = ['models.other', 'fallbacks.other'];

/** Uses that cost something each. `grounded_prompt` is one for an answer, however many searches it took. */
export const feeNames = ['web_search', 'grounded_prompt'] as const;

const valueShape = /^[a-z0-9_-]{1,40}$/;

/** A field and its value, as in `service_tier.priority`. */
export function isSurchargeName(text: string): boolean {
  const field = surchargeFields.find((name) => text.startsWith(`${name}.`));
  return field !== undefined && valueShape.test(text.slice(field.length + 1));
}

/** What a model's `allow` may name. */
export function isAllowable(text: string): boolean {
  return isSurchargeName(text) || modelFields.includes(text);
}
