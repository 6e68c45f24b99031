/** The bytes in memory of their own, which transfer requires: small buffers share theirs with others. */
export function ownBytes(bytes: Uint8Array): Buffer {
  return asBuffer(bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes));
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}
