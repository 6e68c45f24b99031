import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** Returns `length` random bytes. */
export type RandomBytes = (length: number) => Uint8Array;

/** Encrypts state that clients keep (AES-256-GCM), under a key of its owner. */
export interface StateSealer {
  /** @param owner the team or user whose requests may open it */
  seal(owner: string, content: string): Buffer;
  /** Null if it was altered, or sealed for another owner or under another master key. */
  open(owner: string, sealedBytes: Buffer): string | null;
}

const nonceLength = 12;
const tagLength = 16;
/** Deriving a key costs as much as using it, and a long history uses it hundreds of times. */
const maxKeys = 1000;

/**
 * Every node with the same master key can open the envelopes of the others. A key per owner keeps random nonces from
 * repeating: after 2^32 nonces for one owner, the probability of a collision is 2^-33.
 * @param stateKey 32 bytes, from which the keys of all owners are derived; plain bytes can be passed to a worker thread
 */
export function createStateSealer(stateKey: Uint8Array, random: RandomBytes): StateSealer {
  const ownerKeys = new Map<string, Buffer>();

  const keyOf = (owner: string): Buffer => {
    let key = ownerKeys.get(owner);
    if (key === undefined) {
      key = Buffer.from(hkdfSync('sha256', stateKey, '', `sluice client state v2 ${owner}`, 32));
      if (ownerKeys.size >= maxKeys) ownerKeys.clear();
      ownerKeys.set(owner, key);
    }
    return key;
  };

  return {
    seal(owner, content) {
      const nonce = random(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', keyOf(owner), nonce);
      return Buffer.concat([
        nonce,
        cipher.update(content, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(owner, sealedBytes) {
      const end = sealedBytes.length - tagLength;
      if (end <= nonceLength) return null;
      const nonce = sealedBytes.subarray(0, nonceLength);
      const cipher = createDecipheriv('aes-256-gcm', keyOf(owner), nonce, {
        authTagLength: tagLength,
      }).setAuthTag(sealedBytes.subarray(end));
      const content = cipher.update(sealedBytes.subarray(nonceLength, end));
      try {
        return Buffer.concat([content, cipher.final()]).toString('utf8');
      } catch {
        // The only possible failure is a wrong tag: the envelope is not ours.
        return null;
      }
    },
  };
}
