/** What is in a field as it was typed: spaces belong to a password. */
export function rawTextOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** What is in a field, without the spaces around it; null: nothing. */
export function textOf(form: FormData, name: string): string | null {
  const text = rawTextOf(form, name).trim();
  return text === '' ? null : text;
}

/** The names in a field of several. */
export const namesOf = (form: FormData, name: string): string[] =>
  form.getAll(name).flatMap((value) => (typeof value === 'string' ? [value] : []));
