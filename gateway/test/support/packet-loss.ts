import { spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

const nft = (script: string) => spawnSync('nft', ['-f', '-'], { input: script, encoding: 'utf8' });

const trial = nft(`table inet sluice_trial { }\ndelete table inet sluice_trial\n`);
if (trial.error !== undefined && process.env['CI'] !== undefined) {
  throw new Error('no nft, which this run requires');
}

/** Why packets cannot be dropped on this machine; null where they can. */
export const cannotLosePackets: string | null =
  trial.status === 0 ? null : (trial.error?.message ?? trial.stderr.trim().split('\n')[0]!);

let tables = 0;

/**
 * From now on every packet from and to this TCP port is lost on its way, as if a cable had been pulled: nobody hears
 * of it. Ends with the test.
 */
export function losePackets(port: number): void {
  const table = `sluice_${process.pid}_${(tables += 1)}`;
  const { status, stderr } = nft(`table inet ${table} {
    chain lost {
      type filter hook input priority -300;
      tcp sport ${port} drop
      tcp dport ${port} drop
    }
  }`);
  if (status !== 0) throw new Error(stderr);
  onTestFinished(() => void nft(`delete table inet ${table}\n`));
}
