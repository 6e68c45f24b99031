import type { VideoSettings } from '#config/index.ts';
import type { CopyTally, Results } from '#tasks/index.ts';
import type { Proxies } from '#upstream/index.ts';
import { createCopier, type CopierParts } from './copier.ts';
import { typeOf, withCopies } from './files.ts';
import { judgeLink, signedLink } from './links.ts';
import { insertResult, readCopied } from './results.repository.ts';
import { openResultStorage } from './storage.ts';

export interface ResultsOptions extends Omit<CopierParts, 'storage' | 'tally'> {
  readonly settings: VideoSettings;
  /** How clients reach the gateway. */
  readonly publicUrl: string;
  readonly proxies: Proxies;
}

/** Begins to copy what is due. @throws Error for the operator, if the settings do not say where to. */
export function createResults(options: ResultsOptions): Results {
  const { database, secrets, clock, publicUrl } = options;
  const storage = openResultStorage(options.settings, options.proxies);
  const tally: CopyTally = { copied: 0, failed: 0 };
  const copier = createCopier({ ...options, storage, tally });
  copier.start();
  return {
    plan: insertResult,
    tally,
    async withLinks(tasks) {
      const succeededTasks = tasks.filter(({ state }) => state === 'succeeded').map(({ id }) => id);
      if (succeededTasks.length === 0) return tasks;
      const copiedTasks = await readCopied(database, succeededTasks);
      return tasks.map((task) => {
        const row = copiedTasks.get(task.id);
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
