/** The two parts of a `data:` URL in base64; null when it is not one, or broken. */
export function parseDataUrl(url: string): { mime: string; base64: string } | null {
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const [mime = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  if (parameters.at(-1)?.trim().toLowerCase() !== 'base64') return null;
  const base64 = url.slice(comma + 1);
  return isBase64(base64) ? { mime: mime.toLowerCase() || 'text/plain', base64 } : null;
}

export function isDataUrl(url: string): boolean {
  return url.slice(0, 'data:'.length).toLowerCase() === 'data:';
}

export function formatDataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

export function isBase64(text: string): boolean {
  return text.length > 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
