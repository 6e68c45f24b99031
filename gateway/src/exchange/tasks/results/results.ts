import type { TaskView } from '#canonical/index.ts';
import type { VideoSettings } from '#config/index.ts';
import { createCopier, type CopierParts, type CopyTally } from './copier.ts';
import { typeOf, withCopies } from './files.ts';
import { judgeLink, signedLink, type PresentedLink } from './links.ts';
import { readCopied } from './results.repository.ts';
import { openResultStorage, type ResultStorage } from './storage.ts';

/** A copy that may be sent. */
export interface FoundResult {
  /** In bytes. */
  readonly size: number;
  readonly type: string;
  /** Opens these bytes, the last one included. */
  read(from: number, to: number): ReturnType<ResultStorage['read']>;
}

/** Copies of results: `video.keep_results`. */
export interface Results {
  /** The tasks with links to the copies that are there. @throws the error of the database */
  shown(tasks: readonly TaskView[]): Promise<readonly TaskView[]>;
  /** What a link names; `expired`: its time is over; null: it is none of ours, or the copy is gone. */
  find(link: PresentedLink): Promise<FoundResult | 'expired' | null>;
  readonly tally: Readonly<CopyTally>;
  close(): Promise<void>;
}

export interface ResultsOptions extends Omit<CopierParts, 'storage' | 'tally'> {
  readonly settings: VideoSettings;
  /** How clients reach the gateway. */
  readonly publicUrl: string;
}

/** Begins to copy what is due. @throws Error for the operator, if the settings do not say where to. */
export function createResults(options: ResultsOptions): Results {
  const { database, secrets, clock, publicUrl } = options;
  const storage = openResultStorage(options.settings);
  const tally: CopyTally = { copied: 0, failed: 0 };
  const copier = createCopier({ ...options, storage, tally });
  copier.start();
  return {
    tally,
    async shown(tasks) {
      const made = tasks.filter(({ state }) => state === 'succeeded').map(({ id }) => id);
      if (made.length === 0) return tasks;
      const copied = await readCopied(database, made);
      return tasks.map((task) => {
        const row = copied.get(task.id);
        if (row === undefined) return task;
        const addressOf = (name: string): string =>
          signedLink(secrets, publicUrl, { task: task.id, name, expiresAt: row.expires_at! });
        return { ...task, members: withCopies(task.members, row.files, addressOf) };
      });
    },
    async find(link) {
      const verdict = judgeLink(secrets, link, clock.now());
      if (verdict !== 'valid') return verdict === 'expired' ? 'expired' : null;
      const { task, name } = link;
      const size = await storage.size(task, name);
      if (size === null) return null;
      return { size, type: typeOf(name), read: (from, to) => storage.read(task, name, from, to) };
    },
    close: () => copier.close(),
  };
}
