/** A value of the API as people read it: items one after another, and of an object the members that are set. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value === null) return '–';
  if (Array.isArray(value)) {
    const isOfObjects = value.some((item) => typeof item === 'object');
    return value.map(valueText).join(isOfObjects ? '; ' : ', ') || '–';
  }
  const members = Object.entries(value).filter(([, each]) => each !== null);
  return members.map(([name, each]) => `${name} ${valueText(each)}`).join(', ') || '–';
}
