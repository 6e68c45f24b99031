/** Values that documentation, examples and other products ship, so everybody knows them. */
const samples = new Set(
  [
    'admin',
    'admin123',
    'administrator',
    'changeme',
    'change-me',
    'change_me',
    'default',
    'letmein',
    'master-key',
    'password',
    'password123',
    'placeholder',
    'qwerty',
    'replace-me',
    'root',
    'secret',
    'sk-1234',
    'test',
    'test-token',
    'todo',
    '123456',
    '12345678',
    '123456789',
    '1234567890',
  ].map((text) => text.toLowerCase()),
);

/** True for a well-known sample, or a placeholder that somebody forgot to replace. */
export function isSampleSecret(secret: string): boolean {
  const text = secret.trim().toLowerCase();
  const body = text.replace(/^sk-/, '');
  return (
    samples.has(text) ||
    samples.has(body) ||
    /^[x0*.…_-]+$/.test(body) ||
    /^0?123456789\d*$/.test(body) ||
    /^<.*>$/.test(text) ||
    /(^|[^a-z])(your|my)[-_ ]?(api|secret|own)?[-_ ]?(key|token|secret|password)/.test(text) ||
    /change[-_ ]?me|replace[-_ ]?(me|this)/.test(text)
  );
}
