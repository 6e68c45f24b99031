import type { TaskLook, TaskUsage } from '#canonical/index.ts';
import type { UpstreamClient, UpstreamRequest } from '#upstream/index.ts';
import type { TaskSide, Vendor } from '#vendors/index.ts';
import { findVendor } from '#vendors/index.ts';

export const noUsage: TaskUsage = { quantity: null, isImplausible: false };

export const looksLike = (
  state: TaskLook['state'],
  { usage = noUsage, code = null, members = {} }: Partial<TaskLook> = {},
): TaskLook => ({ state, usage, code, members });

export const succeeded = (quantity: number | null): TaskLook =>
  looksLike('succeeded', {
    usage: { quantity, isImplausible: false },
    members: { video_url: 'https://video.test/1.mp4' },
  });

/** What an upstream does with a call: it describes its tasks, or fails. */
export type Mood =
  | 'well'
  | { readonly status: number; readonly retryAfter?: number }
  | 'cut'
  | 'garbled'
  | 'mute';

/** An upstream without a network, and a vendor whose bodies are looks by id. */
export interface FakeVendor {
  readonly vendor: Vendor;
  readonly upstream: UpstreamClient;
  /** By upstream id. */
  readonly tasks: Map<string, TaskLook>;
  readonly calls: UpstreamRequest[];
  mood: Mood;
  /** The same for calls that ask for many tasks. */
  listMood: Mood;
  /** Upstream ids that lists leave out. */
  readonly unlisted: Set<string>;
  /** Called before each call is answered; a call waits for it. */
  onCall: (request: UpstreamRequest) => Promise<void>;
}

export interface FakeOptions {
  /** Ids in one call; absent: one call asks for one task. */
  readonly most?: number;
  readonly looksPerSecond?: number;
}

const listPath = '/list/';

export function createFakeVendor({ most, looksPerSecond = 1_000 }: FakeOptions = {}): FakeVendor {
  const tasks = new Map<string, TaskLook>();
  const calls: UpstreamRequest[] = [];
  const side: TaskSide = {
    submitHeaders: {},
    readId: () => null,
    look: (id) => ({ method: 'GET', path: `/tasks/${id}` }),
    readLook: (body) => (body as { tasks?: TaskLook[] } | null)?.tasks?.[0] ?? null,
    ...(most !== undefined && {
      list: {
        most,
        call: (ids: readonly string[]) => ({
          method: 'GET',
          path: `${listPath}${ids.toSorted().join(',')}`,
        }),
        read: (body: unknown) => {
          const read = body as { ids: string[]; tasks: TaskLook[] } | null;
          return read === null ? null : new Map(read.ids.map((id, at) => [id, read.tasks[at]!]));
        },
      },
    }),
    cancel: (id) => ({ method: 'DELETE', path: `/tasks/${id}` }),
    looksPerSecond,
  };
  const vendor: Vendor = {
    ...findVendor('simulator')!,
    headers: (secret) => ({ authorization: `Bearer ${secret}` }),
    tasks: { 'video-synthesis': side, 'video-contents': side },
  };

  const bodyFor = ({ method, path }: UpstreamRequest): unknown => {
    const ids = path.slice(path.lastIndexOf('/') + 1).split(',');
    if (method === 'DELETE') {
      const [id] = ids;
      if (tasks.get(id!)?.state === 'queued') tasks.set(id!, looksLike('cancelled'));
      return {};
    }
    const isListed = (id: string) => !path.includes(listPath) || !fake.unlisted.has(id);
    const known = ids.filter((id) => tasks.has(id) && isListed(id));
    return { ids: known, tasks: known.map((id) => tasks.get(id)) };
  };

  const fake: FakeVendor = {
    vendor,
    tasks,
    calls,
    mood: 'well',
    listMood: 'well',
    unlisted: new Set(),
    onCall: async () => {},
    upstream: {
      send(request, listener) {
        let isOver = false;
        calls.push(request);
        void fake.onCall(request).then(() => {
          const mood = request.path.includes(listPath) ? fake.listMood : fake.mood;
          if (isOver || mood === 'mute') return;
          if (mood === 'cut') return listener.onBreak(new Error('cut') as never);
          const body = mood === 'garbled' ? '<html>' : JSON.stringify(bodyFor(request));
          const { status, retryAfter } = typeof mood === 'string' ? { status: 200 } : { ...mood };
          listener.onHead(
            status,
            retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
          );
          listener.onData(Buffer.from(body));
          if (!isOver) listener.onEnd();
        });
        return {
          isSent: true,
          pause() {},
          resume() {},
          abort: () => (isOver = true),
        };
      },
      close: async () => {},
    },
  };
  return fake;
}
