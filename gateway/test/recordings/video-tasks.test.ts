import { describe, expect, test } from 'vitest';
import { absence, readRecordings } from '../../../simulator/test/recordings.ts';
import { arkTasks } from '#vendors/ark/index.ts';
import { dashscopeTasks } from '#vendors/dashscope/index.ts';

/*
 * What the real vendors have answered about tasks. DashScope's tasks of other kinds are among the recordings: pictures and
 * embeddings have the same states, and no video.
 */

interface Recorded {
  readonly id: string;
  readonly protocol: string;
  readonly method: string;
  readonly endpoint: string;
  readonly status: number;
  readonly body: { readonly [name: string]: unknown } & Answer;
}

interface Answer {
  readonly id?: string;
  readonly status?: string;
  readonly error?: { readonly code: string };
  readonly usage?: { readonly total_tokens?: number; readonly duration?: number };
  readonly output?: {
    readonly task_id: string;
    readonly task_status: string;
    readonly video_url?: string;
  };
}

const all = absence === null ? (readRecordings() as unknown as Recorded[]) : [];
const of = (protocol: string, method: string) =>
  all.filter(
    (recorded) =>
      recorded.protocol === protocol && recorded.method === method && recorded.status === 200,
  );
const sides = { 'video-synthesis': dashscopeTasks(), 'contents-tasks': arkTasks() } as const;

describe.skipIf(absence !== null)(`recorded tasks${absence === null ? '' : `: ${absence}`}`, () => {
  test('there are some of each', () => {
    for (const protocol of Object.keys(sides)) {
      for (const method of ['GET', 'POST']) {
        expect(of(protocol, method), `${method} ${protocol}`).not.toEqual([]);
      }
    }
  });

  test.each(of('contents-tasks', 'POST'))('$id: the id of a submit', ({ body }) => {
    expect(sides['contents-tasks'].readId(body)).toBe(body.id);
  });

  test.each(of('video-synthesis', 'POST').filter(({ body }) => body.output?.task_id))(
    '$id: the id of a submit',
    ({ body }) => {
      expect(sides['video-synthesis'].readId(body)).toBe(body.output?.task_id);
    },
  );

  test.each(of('contents-tasks', 'GET'))('$id: a look', ({ body }) => {
    // A recorder has put a note where the address was.
    const text = JSON.stringify(body).replace('<SIGNED_VIDEO_URL>', 'https://v.example/a.mp4');
    const look = sides['contents-tasks'].readLook(JSON.parse(text));
    expect(look?.state).toBe(body.status);
    expect(look?.code).toBe(body.error?.code ?? null);
    expect(look?.usage.quantity).toBe(body.usage?.total_tokens ?? null);
    expect(look?.usage.isImplausible).toBe(false);
  });

  test.each(of('video-synthesis', 'GET'))('$id: a look', ({ body }) => {
    const look = sides['video-synthesis'].readLook(body);
    const isVideo = body.output?.video_url !== undefined;
    const success = isVideo ? 'succeeded' : 'withheld';
    const expected = body.output?.task_status === 'SUCCEEDED' ? success : 'unknown';
    expect(look?.state).toBe(expected);
    expect(look?.usage.quantity).toBe(isVideo ? (body.usage?.duration ?? 0) * 1_000 : null);
  });
});
