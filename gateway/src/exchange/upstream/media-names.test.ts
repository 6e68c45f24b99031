import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answerTo, readQuestion, typeA, type NameResponse } from '#test/support/name-messages.ts';
import { createMediaNames } from './media-names.ts';

/** A name server on this machine; `asked`: the names in the order of the questions for IPv4. */
async function serve(answers: Readonly<Record<string, NameResponse>>, hosts = '') {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => {
    const { name, type, end } = readQuestion(question);
    if (type === typeA) asked.push(name);
    const answer = answers[name] ?? 'nxdomain';
    if (answer === 'silence') return;
    socket.send(answerTo(question.subarray(0, end), type, answer), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'sluice-hosts-'));
  const hostsFile = join(folder, 'hosts');
  writeFileSync(hostsFile, hosts);
  onTestFinished(() => {
    socket.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const nameServers = [`127.0.0.1:${socket.address().port}`];
  return { resolve: createMediaNames({ nameServers, hostsFile }), asked };
}

const patient = new AbortController().signal;

test('gives all addresses, and none of a name that does not exist', async () => {
  const { resolve } = await serve({ 'a.example': ['93.184.216.34', '10.0.0.1'] });
  expect(await resolve('A.example.', patient)).toEqual(['93.184.216.34', '10.0.0.1']);
  await expect(resolve('b.example', patient)).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('a name that never resolves is given up at once when its caller is', async () => {
  const { resolve, asked } = await serve({
    'a.example': 'silence',
    'b.example': ['93.184.216.34'],
  });
  const abort = new AbortController();
  const waiting = Array.from({ length: 16 }, () => resolve('a.example', abort.signal));
  await expect.poll(() => asked.length).toBeGreaterThanOrEqual(16);
  // Meanwhile others resolve.
  expect(await resolve('b.example', patient)).toEqual(['93.184.216.34']);
  abort.abort();
  const ended = await Promise.allSettled(waiting);
  expect(ended.every(({ status }) => status === 'rejected')).toBe(true);
});

test('the file of hosts goes first, and this machine has no name', async () => {
  const { resolve, asked } = await serve(
    { 'a.example': ['93.184.216.34'], 'this.localhost': ['93.184.216.34'] },
    '10.0.0.7 other a.example # inside\n# 10.0.0.8 b.example\n',
  );
  expect(await resolve('a.example', patient)).toEqual(['10.0.0.7']);
  expect(await resolve('localhost', patient)).toEqual([]);
  expect(await resolve('this.localhost.', patient)).toEqual([]);
  await expect(resolve('b.example', patient)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toEqual(['b.example']);
});

test('a short name is not completed with a domain of this network', async () => {
  const { resolve, asked } = await serve({});
  await expect(resolve('box', patient)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toEqual(['box']);
});
