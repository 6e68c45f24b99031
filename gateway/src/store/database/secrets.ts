import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** The uses of the master key. Each use derives a key of its own. */
export interface Secrets {
  /** Hex, derived from the master key (HKDF-SHA-256). It identifies the key and reveals nothing else about it. */
  readonly fingerprint: string;
  /**
   * Encrypts text for storage. `context` names the storage location (`channel:ch_1:credentials`): text sealed for one
   * location does not open at another.
   */
  seal(text: string, context: string): string;
  /** @throws Error if the master key or the context differs, or the text was altered. */
  open(sealed: string, context: string): string;
  /** Hex HMAC-SHA-256 of a client key, stored and looked up instead of the key. */
  hashKey(secret: string): string;
  /** 32 bytes that encrypt state which clients keep, under a key derived per owner; they can be passed to threads. */
  readonly stateKey: Uint8Array;
  /** 32 bytes that only this text gives: the random part of a key that is derived instead of stored. */
  keyBytes(text: string): Buffer;
  /** 22 characters (128 bits of a keyed hash) that replace an id, an owner or a credential that must not be stored. */
  digestState(text: string): string;
  /** What proves that a link is ours: a keyed hash of its text, in base64url. */
  signLink(text: string): string;
  /** 16 characters, identical for identical bytes. The hash is keyed, so nobody can guess the content by trying. */
  digestBody(body: Buffer): string;
}

const version = 'v1.';
const nonceLength = 12;
const tagLength = 16;

/** @throws Error if the master key is not 32 bytes. */
export function createSecrets(masterKey: Buffer): Secrets {
  if (masterKey.length !== 32) throw new Error('secrets.master_key: expected 32 bytes');
  const sealing = derive(masterKey, 'sluice seal v1');
  const digesting = derive(masterKey, 'sluice body digest v1');
  const naming = derive(masterKey, 'sluice upstream state v1');
  const linking = derive(masterKey, 'sluice link v1');
  const deriving = derive(masterKey, 'sluice derived key v1');
  const pepper = derive(masterKey, 'sluice client key v1');
  return Object.freeze({
    fingerprint: derive(masterKey, 'sluice master key v1').toString('hex'),
    seal: (text: string, context: string) => seal(sealing, text, context),
    open: (sealed: string, context: string) => open(sealing, sealed, context),
    hashKey: (secret: string) => createHmac('sha256', pepper).update(secret).digest('hex'),
    keyBytes: (text: string) => sign(deriving, text),
    stateKey: derive(masterKey, 'sluice client state v2'),
    digestState: (text: string) => sign(naming, text).toString('base64url').slice(0, 22),
    signLink: (text: string) => sign(linking, text).toString('base64url'),
    digestBody: (body: Buffer) => sign(digesting, body).toString('base64url').slice(0, 16),
  });
}

function sign(key: Buffer, data: string | Buffer): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function derive(masterKey: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', use, 32));
}

function seal(key: Buffer, text: string, context: string): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return version + body.toString('base64url');
}

function open(key: Buffer, sealed: string, context: string): string {
  const body = Buffer.from(sealed.slice(version.length), 'base64url');
  if (!sealed.startsWith(version) || body.length < nonceLength + tagLength) {
    throw new Error(`stored secret '${context}' is damaged`);
  }
  const nonce = body.subarray(0, nonceLength);
  const tag = body.subarray(body.length - tagLength);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  try {
    const text = decipher.update(body.subarray(nonceLength, body.length - tagLength));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new Error(
      `stored secret '${context}' cannot be decrypted: it was stored under another master key, or it was altered`,
      { cause },
    );
  }
}
