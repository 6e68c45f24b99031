import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { surfaces } from '#endpoints/index.ts';
import { bearer, call, startGateway } from './support.ts';

const http = path.resolve(import.meta.dirname, '../../src/edge/http');

test('the server knows no surface: their paths stand where they are declared', () => {
  const known = surfaces.flatMap(({ prefix, base }) => [prefix, base]);
  const paths = [...new Set(known)].filter((text) => text.length > 1);
  const named = globSync('*.ts', { cwd: http })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(path.join(http, file), 'utf8');
      return paths.filter((each) => text.includes(`'${each}`)).map((each) => `${file}: ${each}`);
    });
  expect(named).toEqual([]);
});

test('no two surfaces have the same paths', () => {
  expect(new Set(surfaces.map(({ prefix }) => prefix)).size).toBe(surfaces.length);
});

test.each(['anthropic-version', 'vendorb-version'])(
  'a header has one name behind the server: %s',
  async (name) => {
    const gateway = await startGateway();
    const headers = { ...bearer(), [name]: '2026-10-21' };
    await call(gateway.port, '/v1/messages', { headers, body: '{}' });
    expect(gateway.exchanges[0]?.headers).toMatchObject({ 'anthropic-version': '2026-10-21' });
    expect(gateway.exchanges[0]?.headers).not.toHaveProperty('vendorb-version');
  },
);
