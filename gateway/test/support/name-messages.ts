/* Questions to a name server, and its answers (RFC 1035). */

/** IPv4 addresses, or what a resolver says or does without any. */
export type NameResponse = readonly string[] | 'servfail' | 'nxdomain' | 'silence';

const responseCodes = { servfail: 2, nxdomain: 3 } as const;
/** The type of questions for IPv4. */
export const typeA = 1;

/** Twelve bytes of header, then the name in labels, then two of type and two of class. */
export function readQuestion(question: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: question.readUInt16BE(at + 1), end: at + 5 };
}

/** @param question without what follows it */
export function answerTo(
  question: Buffer,
  type: number,
  answer: Exclude<NameResponse, 'silence'>,
): Buffer {
  const head = Buffer.from(question);
  const addresses = typeof answer === 'string' || type !== typeA ? [] : answer;
  // A response, recursion available; one question, no authority, nothing additional.
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? responseCodes[answer] : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    // The question's name, A, IN, a second to live, four bytes.
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
