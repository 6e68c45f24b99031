/** Members of a request whose value can make an answer dearer or cheaper; prices name the two with a dot between. */
export const surchargeFields = ['service_tier', 'speed', 'inference_geo'] as const;

/** Uses that cost something each. `grounded_prompt` is one for an answer, however many searches it took. */
export const feeNames = ['web_search', 'grounded_prompt'] as const;

const valueShape = /^[a-z0-9_-]{1,40}$/;

/** A field and its value, as in `service_tier.priority`. */
export function isSurchargeName(text: string): boolean {
  const field = surchargeFields.find((name) => text.startsWith(`${name}.`));
  return field !== undefined && valueShape.test(text.slice(field.length + 1));
}
