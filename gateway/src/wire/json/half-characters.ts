const backslash = 0x5c;
const escapeLength = '\\ud800'.length;
const replacement = Buffer.from('\\ufffd');

/**
 * JSON with U+FFFD in place of each half of a character (a lone UTF-16 surrogate), which a text has that was cut inside of
 * one. They can only be written as escapes, and the replacement is as long. Returns the same buffer if there is none.
 */
export function replaceHalfCharacters(json: Buffer): Buffer {
  // Most JSON has no such escape at all, and looking for one takes no time.
  if (!json.includes('\\ud') && !json.includes('\\uD')) return json;
  let repairedJson: Buffer | null = null;
  let high = -1;
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] !== backslash) continue;
    if (isHalf(json, at)) {
      const isPair = high >= 0 && at === high + escapeLength && isLow(json, at);
      if (high >= 0 && !isPair)
        repairedJson = withReplacement(repairedJson ?? Buffer.from(json), high);
      if (!isPair && isLow(json, at))
        repairedJson = withReplacement(repairedJson ?? Buffer.from(json), at);
      high = isLow(json, at) ? -1 : at;
    }
    // The next byte is escaped, which may be a backslash.
    at += 1;
  }
  return high >= 0
    ? withReplacement(repairedJson ?? Buffer.from(json), high)
    : (repairedJson ?? json);
}

/** Whether the escape is that of a surrogate. */
function isHalf(json: Buffer, at: number): boolean {
  return json[at + 1] === 0x75 && (json[at + 2]! | 0x20) === 0x64 && isSurrogate(json[at + 3]);
}

/** `\ud8` and above, in either case of its third digit. */
function isSurrogate(digit = 0): boolean {
  return digit === 0x38 || digit === 0x39 || (digit | 0x20) >= 0x61;
}

/** From `\udc` on. */
function isLow(json: Buffer, at: number): boolean {
  return (json[at + 3]! | 0x20) >= 0x63;
}

function withReplacement(json: Buffer, at: number): Buffer {
  replacement.copy(json, at);
  return json;
}
