const backslash = 0x5c;
const escapeLength = '\\ud800'.length;
const replacement = Buffer.from('\\ufffd');

/**
 * JSON with U+FFFD in place of each half of a character (a lone UTF-16 surrogate), which a text has that was cut inside of
 * one. They can only be written as escapes, and the replacement is as long. Returns the same buffer if there is none.
 */
export function replaceHalfCharacters(json: Buffer): Buffer {
  // Most JSON has no such escape at all, and looking for one takes no time.
  const escapes = escapesIn(json);
  let repaired: Buffer | null = null;
  let high = -1;
  for (const at of [...escapes, -1]) {
    const isPair = high >= 0 && at === high + escapeLength && isLow(json, at);
    if (high >= 0 && !isPair) repaired = replaced(repaired ?? Buffer.from(json), high);
    const isAlone = at >= 0 && !isPair && isLow(json, at);
    if (isAlone) repaired = replaced(repaired ?? Buffer.from(json), at);
    high = at >= 0 && !isLow(json, at) ? at : -1;
  }
  return repaired ?? json;
}

/** The places of all escapes of surrogates, in their order. */
function escapesIn(json: Buffer): number[] {
  const places: number[] = [];
  for (const start of ['\\ud', '\\uD']) {
    let at = json.indexOf(start);
    while (at >= 0) {
      if (isSurrogate(json[at + 3]) && !isEscaped(json, at)) places.push(at);
      at = json.indexOf(start, at + start.length);
    }
  }
  return places.toSorted((a, b) => a - b);
}

/** `\ud8` and above, in either case of its third digit. */
function isSurrogate(digit = 0): boolean {
  return digit === 0x38 || digit === 0x39 || (digit | 0x20) >= 0x61;
}

/** From `\udc` on. */
function isLow(json: Buffer, at: number): boolean {
  return (json[at + 3]! | 0x20) >= 0x63;
}

/** Whether the backslash is the second half of an escaped one. */
function isEscaped(json: Buffer, at: number): boolean {
  let before = at;
  while (json[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

function replaced(json: Buffer, at: number): Buffer {
  replacement.copy(json, at);
  return json;
}
