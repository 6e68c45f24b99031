import { describe, expect, test } from 'vitest';
import { verdict } from '#protocols/index.ts';
import { EventRun, ResponseFlow } from './response-flow.ts';
import { createFraming, StreamSink } from '../../stream-sink.ts';

const { content, forward, terminal } = verdict;

function start() {
  const shown: string[] = [];
  let opened = 0;
  let firstContents = 0;
  const client = {
    headSent: false,
    halfClosed: false,
    disconnected: false,
    failedWith: null,
    fail: () => {},
    onDrain: () => {},
    onDisconnect: () => {},
    start: () => {
      client.headSent = true;
      opened += 1;
    },
    write: () => true,
    end: () => {},
  };
  const sink = new StreamSink(
    client,
    { keepAlive: () => '' },
    createFraming('event-stream'),
    () => 0,
  );
  const run = new EventRun(true, (bytes) => void shown.push(bytes.toString()));
  const onFirstContent = () => void (firstContents += 1);
  const flow = new ResponseFlow({ sink, headers: {}, onFirstContent }, run);
  const add = (text: string, flags: number) => {
    const added = flow.add(Buffer.from(text), flags);
    run.flush();
    return added;
  };
  const held = () => flow.takeHeld().map(String);
  return { flow, add, held, shown, opened: () => opened, firstContents: () => firstContents };
}

describe('what of a response the client gets now', () => {
  test('nothing before there is content, then all of it in order', () => {
    const { flow, add, shown, opened } = start();
    add('a', forward);
    expect([flow.stage, shown, opened()]).toEqual(['holding', [], 0]);
    add('b', content);
    add('c', forward);
    expect([flow.stage, shown.join(''), opened()]).toEqual(['flowing', 'abc', 1]);
  });

  test('nothing from the terminator on', () => {
    const { flow, add, held, shown } = start();
    add('a', content);
    add('b', content | terminal);
    add('c', forward);
    expect([flow.stage, shown, held()]).toEqual(['ending', ['a'], ['b', 'c']]);
  });

  test('a response of one event waits whole', () => {
    const { add, held, shown, opened, firstContents } = start();
    add('a', content | terminal);
    expect([shown, held(), opened(), firstContents()]).toEqual([[], ['a'], 0, 1]);
  });

  test('the first content is reported once, also when the last event has content too', () => {
    const { add, firstContents } = start();
    add('a', content);
    add('b', content);
    add('c', content | terminal);
    add('d', content);
    expect(firstContents()).toBe(1);
  });

  test('more than 16 MiB without content is no response', () => {
    const { add } = start();
    // What keeping it costs is counted too.
    const large = 'x'.repeat(8 * 1024 * 1024 - 128);
    expect([add(large, forward), add(large, forward), add('x', forward)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('nor are hundreds of thousands of tiny events', () => {
    const { add } = start();
    let held = 0;
    while (held < 1_000_000 && add(':\n\n', forward)) held += 1;
    expect(held).toBeGreaterThan(100_000);
    expect(held).toBeLessThan(200_000);
  });
});
