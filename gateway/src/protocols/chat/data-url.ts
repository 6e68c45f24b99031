/** A data URL (RFC 2397) taken apart; null when it is none, is empty, or its base64 is broken. */
export function parseDataUrl(url: string): { mime: string; base64: string } | null {
  const comma = url.indexOf(',');
  if (comma < 0 || !isDataUrl(url)) return null;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const mime = type.trim().toLowerCase() || 'text/plain';
  const data = url.slice(comma + 1);
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')) {
    return isBase64(data) ? { mime, base64: data } : null;
  }
  const text = percentDecoded(data);
  return text === null || text === ''
    ? null
    : { mime, base64: Buffer.from(text).toString('base64') };
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

export function formatDataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

/** Not empty, of the standard alphabet, and of a length that base64 can have. Padding may be left out. */
export function isBase64(text: string): boolean {
  if (text === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
