import { createHmac } from 'node:crypto';

/**
 * Signs reasoning as vendors do: the caller must return it untouched, and a foreign signature is
 * refused.
 */
export interface Signer {
  /** `content` must return unmodified with the signature ('' if there is none). */
  mint(purpose: string, nonce: string, content: string): string;
  verify(purpose: string, signature: string, content: string): boolean;
}

/** Simulators with the same key accept each other's signatures, like two keys of one account. */
export function createSigner(key: string): Signer {
  const seal = (purpose: string, nonce: string, content: string) =>
    createHmac('sha256', key).update(`${purpose}\n${nonce}\n${content}`).digest('hex');
  return {
    mint: (purpose, nonce, content) =>
      Buffer.from(`simulator.${nonce}.${seal(purpose, nonce, content)}`).toString('base64'),
    verify(purpose, signature, content) {
      const [origin, nonce, mac] = Buffer.from(signature, 'base64').toString('latin1').split('.');
      return origin === 'simulator' && nonce !== undefined && mac === seal(purpose, nonce, content);
    },
  };
}
