/**
 * A string of a JSON body that is too long to become a JavaScript string: megabytes of Base64. `Buffer` pieces stand
 * between the quotes of the JSON as they are; texts are escaped when they are written.
 */
export class LongText {
  readonly pieces: readonly (string | Buffer)[];

  constructor(...pieces: readonly (string | Buffer)[]) {
    this.pieces = pieces;
  }
}

/** The bytes of a JSON value that may contain long texts. Their bytes are copied once. */
export function writeJson(value: unknown): Buffer {
  return Buffer.concat(writeJsonPieces(value));
}

/** The same in pieces: the bytes of long texts are not copied. */
export function writeJsonPieces(value: unknown): Buffer[] {
  const chunks: Buffer[] = [];
  let text = '';
  const bytes = (chunk: Buffer): void => {
    chunks.push(Buffer.from(text), chunk);
    text = '';
  };
  const write = (item: unknown): void => {
    if (item instanceof LongText) {
      text += '"';
      for (const piece of item.pieces) {
        if (typeof piece === 'string') text += JSON.stringify(piece).slice(1, -1);
        else bytes(piece);
      }
      text += '"';
    } else if (Array.isArray(item)) {
      text += '[';
      for (const [index, element] of item.entries()) {
        if (index > 0) text += ',';
        write(element);
      }
      text += ']';
    } else if (typeof item === 'object' && item !== null) {
      text += '{';
      let separator = '';
      for (const [key, member] of Object.entries(item)) {
        if (member === undefined) continue;
        text += `${separator}${JSON.stringify(key)}:`;
        separator = ',';
        write(member);
      }
      text += '}';
    } else text += JSON.stringify(item) ?? 'null';
  };
  write(value);
  chunks.push(Buffer.from(text));
  return chunks;
}
