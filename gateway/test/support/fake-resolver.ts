import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { answerTo, readQuestion, typeA, type NameResponse } from './name-messages.ts';

const trial = spawnSync('unshare', ['-m', 'mount', '--bind', '/dev/null', '/etc/resolv.conf'], {
  encoding: 'utf8',
});

/** Why a process cannot be given a resolver of its own on this machine; null where it can. */
export const cannotFakeResolver: string | null =
  trial.status === 0 ? null : (trial.error?.message ?? trial.stderr.trim().split('\n')[0]!);

/** A name server on a loopback address of its own, and a way to have a process ask it. */
export interface FakeResolver {
  /** From here on; a name without a response does not exist. */
  set(name: string, answer: NameResponse): void;
  /** How often the name was asked for. */
  asked(name: string): number;
  /** Starts a program whose system asks this name server alone. */
  readonly within: readonly string[];
}

/** Gone with the test. */
export async function startFakeResolver(): Promise<FakeResolver> {
  const answers = new Map<string, NameResponse>();
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => {
    const { name, type, end } = readQuestion(question);
    // The system asks for both families; one of them counts.
    if (type === typeA) asked.push(name);
    const answer = answers.get(name) ?? 'nxdomain';
    if (answer === 'silence') return;
    socket.send(answerTo(question.subarray(0, end), type, answer), port, address);
  });
  const part = () => 1 + Math.floor(Math.random() * 250);
  const host = `127.${part()}.${part()}.53`;
  await new Promise<void>((resolve) => socket.bind(53, host, resolve));

  const folder = mkdtempSync(join(tmpdir(), 'sluice-resolver-'));
  const [names, sources] = [join(folder, 'resolv.conf'), join(folder, 'nsswitch.conf')];
  writeFileSync(names, `nameserver ${host}\noptions timeout:2 attempts:2\nsearch .\n`);
  writeFileSync(sources, 'hosts: files dns\n');
  onTestFinished(() => {
    socket.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const bind = (file: string, over: string) =>
    `if [ -e ${over} ]; then /bin/mount --bind ${file} ${over} || exit 1; fi`;
  const script = `${bind(names, '/etc/resolv.conf')}; ${bind(sources, '/etc/nsswitch.conf')}; exec "$@"`;
  return {
    set: (name, answer) => void answers.set(name, answer),
    asked: (name) => asked.filter((each) => each === name).length,
    within: ['/usr/bin/unshare', '-m', '/bin/sh', '-c', script, 'sh'],
  };
}
