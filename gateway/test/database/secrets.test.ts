import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecrets, hashPassword, readMasterKey, verifyPassword } from '#database/index.ts';

const secrets = createSecrets(Buffer.alloc(32, 1));
const others = createSecrets(Buffer.alloc(32, 2));

describe('seal', () => {
  it('opens to the same text, and never looks the same twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        const sealed = secrets.seal(text, context);
        expect(secrets.open(sealed, context)).toBe(text);
        expect(secrets.seal(text, context)).not.toBe(sealed);
      }),
    );
  });

  it('does not open after any altered byte, elsewhere, or with another key', () => {
    const sealed = secrets.seal('credential', 'channel:1');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(() => secrets.open(`v1.${altered.toString('base64url')}`, 'channel:1')).toThrow(
        'cannot be decrypted',
      );
    }
    expect(() => secrets.open(sealed, 'channel:2')).toThrow('cannot be decrypted');
    expect(() => others.open(sealed, 'channel:1')).toThrow('another master key');
    for (const text of ['', 'v1.', 'v2.abc', 'credential']) {
      expect(() => secrets.open(text, 'channel:1')).toThrow('is damaged');
    }
  });
});

describe('hashKey', () => {
  it('differs for similar keys, and with the master key', () => {
    const hash = secrets.hashKey('sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(secrets.hashKey('sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac')).not.toBe(hash);
    expect(secrets.hashKey('sk-baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab')).not.toBe(hash);
    expect(others.hashKey('sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab')).not.toBe(hash);
  });
});

describe('master key file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is created once, readable by its owner only', () => {
    const key = readMasterKey(folder);
    expect(key).toHaveLength(32);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    expect(readMasterKey(folder)).toEqual(key);
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  it('is refused if others can read it', () => {
    readMasterKey(folder);
    for (const mode of [0o640, 0o604, 0o660]) {
      chmodSync(join(folder, 'master.key'), mode);
      expect(() => readMasterKey(folder)).toThrow('chmod 600');
    }
  });

  it('is refused if it is damaged, and not replaced', () => {
    writeFileSync(join(folder, 'master.key'), 'c2hvcnQ=', { mode: 0o600 });
    expect(() => readMasterKey(folder)).toThrow('expected 32 bytes');
  });
});

describe('password', () => {
  it('matches its own hash only', async () => {
    const hash = await hashPassword('correct horse');
    expect(await verifyPassword('correct horse', hash)).toBe(true);
    expect(await verifyPassword('correct horse ', hash)).toBe(false);
    expect(await hashPassword('correct horse')).not.toBe(hash);
    expect(await verifyPassword('x', 'scrypt$1073741824$8$1$AAAA$AAAA')).toBe(false);
    expect(await verifyPassword('x', 'plain')).toBe(false);
  });
});

describe('digestBody', () => {
  it('is the same for the same bytes under the same master key only, and short', () => {
    const digest = secrets.digestBody(Buffer.from('{"a":1}'));
    expect(digest).toMatch(/^[\w-]{16}$/);
    expect(secrets.digestBody(Buffer.from('{"a":1}'))).toBe(digest);
    expect(secrets.digestBody(Buffer.from('{"a":2}'))).not.toBe(digest);
    expect(others.digestBody(Buffer.from('{"a":1}'))).not.toBe(digest);
  });
});
