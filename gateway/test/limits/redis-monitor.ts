import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { scripts } from '#limits/redis/scripts.ts';
import type { PrivateRedis } from './private-redis.ts';

/**
 * What a Redis is asked from now on: of each batch the names of its steps, else the command. What scripts do inside, and
 * the looks that nodes take by themselves, are left out.
 */
export async function monitor(redis: PrivateRedis): Promise<() => Promise<string[][]>> {
  const open = () => {
    const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  const [socket, marker] = [open(), open()];
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => (text += more));
  socket.write('MONITOR\r\n');
  await expect.poll(() => text).toContain('+OK');
  let marks = 0;
  return async () => {
    const mark = `until-${(marks += 1)}`;
    marker.write(`ECHO ${mark}\r\n`);
    await expect.poll(() => text).toContain(mark);
    const lines = text.slice(0, text.indexOf(mark)).split('\n').slice(0, -1);
    text = text.slice(text.indexOf(mark) + mark.length);
    return lines.flatMap((line) => {
      const [, from, command = ''] = /^\+[\d.]+ \[\d+ (\S+)\] (.*)/.exec(line) ?? [];
      if (from === undefined || from === 'lua') return [];
      const words = [...command.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!);
      if (words[1] !== scripts.batch.sha) return [[words[0]!]];
      const steps = stepsOf(words).filter((step) => step !== 'look');
      return steps.length === 0 ? [] : [steps];
    });
  };
}

/** From `EVALSHA sha count key … epoch number answered latest time (name keys values value …) …`. */
function stepsOf(words: readonly string[]): string[] {
  const values = words.slice(3 + Number(words[2]));
  const steps: string[] = [];
  for (let at = 5; at < values.length; at += 3 + Number(values[at + 2])) steps.push(values[at]!);
  return steps;
}
