import { createServer, type ServerResponse } from 'node:http';
import { seededRandom } from './statistics.ts';

/*
 * Both vendors of videos for the row `tasks`: every task runs until a message ends all, each at a random moment.
 * Run as a child process, with messages.
 */

/** Milliseconds within which all tasks end, from now on. */
export interface EndWithin {
  readonly endWithin: number;
}

export type VideoUpstreamMessage =
  | { readonly port: number }
  /** When each task ends, by id, in Unix milliseconds. */
  | { readonly ends: readonly (readonly [string, number])[] };

const ends = new Map<string, number>();
const random = seededRandom(1);
let made = 0;

function newId(): string {
  const id = `up-${(made += 1)}`;
  ends.set(id, Number.POSITIVE_INFINITY);
  return id;
}

const hasEnded = (id: string): boolean => (ends.get(id) ?? 0) <= Date.now();

const synthesisTask = (id: string): object =>
  hasEnded(id)
    ? {
        request_id: id,
        output: { task_id: id, task_status: 'SUCCEEDED', video_url: `https://v.test/${id}.mp4` },
        usage: { duration: 5, video_count: 1, SR: 720 },
      }
    : { request_id: id, output: { task_id: id, task_status: 'RUNNING' } };

const contentsTask = (id: string): object => ({
  id,
  model: 'bench',
  status: hasEnded(id) ? 'succeeded' : 'running',
  ...(hasEnded(id) && {
    content: { video_url: `https://v.test/${id}.mp4` },
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
  }),
  created_at: 1_795_344_612,
  updated_at: 1_795_344_612,
});

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://127.0.0.1');
  if (request.method === 'POST') {
    request.resume();
    request.on('end', () => {
      const id = newId();
      const isSynthesis = url.pathname.startsWith('/api/v1/');
      const output = { task_id: id, task_status: 'PENDING' };
      answer(response, isSynthesis ? { request_id: id, output } : { id });
    });
    return;
  }
  const id = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  if (url.pathname.startsWith('/api/v1/')) answer(response, synthesisTask(id));
  else if (id === 'tasks') {
    const items = url.searchParams.getAll('filter.task_ids').map(contentsTask);
    answer(response, { total: items.length, items });
  } else answer(response, contentsTask(id));
});

function answer(response: ServerResponse, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
  });
  response.end(bytes);
}

const tell = (message: VideoUpstreamMessage): void => void process.send?.(message);

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tell({ port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
});

process.on('message', ({ endWithin }: EndWithin) => {
  const now = Date.now();
  for (const id of ends.keys()) ends.set(id, now + Math.round(random() * endWithin));
  tell({ ends: [...ends] });
});
process.on('disconnect', () => process.exit());
