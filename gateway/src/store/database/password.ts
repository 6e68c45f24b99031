import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP's first choice for scrypt (2^17 blocks of 1 KiB): about 0.3 s and 128 MiB, on a thread of the pool. */
const cost = { N: 2 ** 17, r: 8, p: 1 };
const keyLength = 32;
const memoryLimit = 2 ** 28;

/** Hashes a password to `scrypt$N$r$p$salt$key` (base64url), which holds everything needed to verify it later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return [
    'scrypt',
    cost.N,
    cost.r,
    cost.p,
    salt.toString('base64url'),
    key.toString('base64url'),
  ].join('$');
}

/** False for a wrong password and for a hash in any other form. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, n, r, p, salt, key] = hash.split('$');
  if (scheme !== 'scrypt' || salt === undefined || key === undefined) return false;
  const parameters = { N: Number(n), r: Number(r), p: Number(p) };
  if (128 * parameters.N * parameters.r > memoryLimit) return false;
  const expectedKey = Buffer.from(key, 'base64url');
  if (expectedKey.length !== keyLength) return false;
  try {
    const actual = await derive(password, Buffer.from(salt, 'base64url'), parameters);
    return timingSafeEqual(actual, expectedKey);
  } catch {
    return false;
  }
}

function derive(password: string, salt: Buffer, parameters: typeof cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { ...parameters, maxmem: memoryLimit };
    scrypt(password.normalize('NFKC'), salt, keyLength, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
