/**
 * Turns a decimal as a person or a YAML number writes it (`0.10`, `.5`, `+1`, `2.5e-7`) into plain digits, exactly: no
 * float is involved. Null for anything else. Trailing zeros stay.
 */
export function parseDecimal(source: string): string | null {
  const match = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,3}))?$/.exec(source);
  if (match === null || source.length > 100) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return null;
  const shift = Number(exponent);
  if (Math.abs(shift) > 50) return null;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const left = digits
    .slice(0, Math.max(0, point))
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '');
  const right = point < 0 ? '0'.repeat(-point) + digits : digits.slice(point);
  const text = (left === '' ? '0' : left) + (right === '' ? '' : `.${right}`);
  return sign === '-' && /[1-9]/.test(text) ? `-${text}` : text;
}

/** The shortest form of a decimal: `0.20` and `.2` are `0.2`. Any other text stays as it is. */
export function normalDecimal(text: string): string {
  const digits = parseDecimal(text);
  return digits === null ? text : shortestDecimal(digits);
}

/** The integer `decimal × 10^places`; null if it is not an integer. */
export function scaled(decimal: string, places: number): bigint | null {
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.');
  const significant = trimTrailing(fraction, '0');
  if (significant.length > places) return null;
  const magnitude = BigInt(whole + significant.padEnd(places, '0'));
  return decimal.startsWith('-') ? -magnitude : magnitude;
}

/** The shortest form of digits with a point: `0.20` is `0.2`, `1.0` is `1`. */
export function shortestDecimal(digits: string): string {
  if (!digits.includes('.')) return digits;
  const shorter = trimTrailing(digits, '0');
  return shorter.endsWith('.') ? shorter.slice(0, -1) : shorter;
}

/** The shortest decimal for `value × 10^-places`; `value` ≥ 0. */
export function unscaled(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const point = digits.length - places;
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end -= 1;
  const fraction = digits.slice(point, end);
  return digits.slice(0, point) + (fraction === '' ? '' : `.${fraction}`);
}

/** Removes all characters of one kind from the end of a text. One pass: `/x+$/` takes quadratic time on long runs. */
export function trimTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
