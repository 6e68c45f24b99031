import type { UsageEntry } from '#usage/index.ts';
import { folder, type Recording, recordings } from '../recordings/recordings.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { errorOf } from './failures.ts';
import { modelOf, requestOf } from './recorded-request.ts';

export interface Replay {
  readonly response: Response;
  readonly text: string;
  /** The usage row's. */
  readonly requestId: string;
}

export interface ReplayOptions {
  /** As in the simulator's README. */
  readonly fault?: string;
  /** Merged into the recorded body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Appended to, or replaced in, the path. */
  readonly path?: (path: string) => string;
}

export interface RecordedGateway {
  readonly gateway: TestGateway;
  replay(recording: Recording, options?: ReplayOptions): Promise<Replay>;
  /** The row of one exchange, once it has reached the database. */
  row(requestId: string): Promise<UsageEntry | undefined>;
}

/**
 * A gateway that serves every recorded model name. A recording that becomes an error is served under a name and by a channel
 * of its own, so that its cool-down hurts no other.
 */
export async function startRecordedGateway(): Promise<RecordedGateway> {
  const gateway = await startTestGateway({ config: configOf(recordings), recordings: folder });
  let rows = new Map<string, UsageEntry>();
  return {
    gateway,
    async replay(recording, options = {}) {
      const { path, body } = requestOf(recording, servedName(recording));
      const response = await fetch(gateway.url + (options.path?.(path) ?? path), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${testKey}`,
          'content-type': 'application/json',
          'x-simulator-replay': recording.id,
          ...(options.fault !== undefined && { 'x-simulator-fault': options.fault }),
        },
        body: JSON.stringify({ ...body, ...options.body }),
      });
      const text = await response.text();
      return { response, text, requestId: response.headers.get('x-request-id') ?? '' };
    },
    async row(requestId) {
      if (!rows.has(requestId)) {
        rows = new Map((await gateway.usage()).map((entry) => [entry.id, entry]));
      }
      return rows.get(requestId);
    },
  };
}

export function servedName(recording: Recording): string {
  return errorOf(recording) !== null ? `failing/${recording.id}` : modelOf(recording);
}

function configOf(all: readonly Recording[]): string {
  const failing = all.filter((recording) => errorOf(recording) !== null);
  const passing = all.filter((recording) => errorOf(recording) === null);
  const names = new Set(passing.map(modelOf));
  const protocols = ['chat', 'responses', 'messages', 'generate-content'];
  const common = { provider: 'simulator', base_url: 'SIMULATOR', protocols };
  const channels = [
    { ...common, name: 'recorded', models: [...names] },
    ...failing.map((recording) => ({
      ...common,
      name: `for-${recording.id}`,
      models: [{ name: servedName(recording), upstream: modelOf(recording) }],
    })),
  ];
  const models = [...names, ...failing.map(servedName)].map((id) => ({
    id,
    type: 'chat',
    price: { input: 0, output: 0 },
  }));
  // JSON is YAML.
  return `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(models)}`;
}
