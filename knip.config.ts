import type { KnipConfig } from 'knip';

/**
 * Unreachable code is dead. A unit test counts as a use: pure parts are exported for their property tests. Types are
 * not reported, because a contract may name more than its first user needs.
 */
export default {
  exclude: ['types', 'nsTypes'],
  ignoreExportsUsedInFile: true,
  workspaces: {
    '.': {
      entry: ['bench/*.ts', 'knip.production.config.ts'],
      project: ['*.ts', '{bench,lint,supply}/**/*.ts'],
      ignoreBinaries: ['taskset'],
    },
    // knip finds `src/main` through each package's `bin`, and tests through vitest's configuration.
    gateway: {
      // Workers and the programs that tests start are named by path, not imported.
      entry: ['src/**/*.worker.ts', 'test/**/*.{program,worker}.ts'],
      ignoreBinaries: [
        'mount',
        'nft',
        'openssl',
        'prlimit',
        'promtool',
        'systemd-analyze',
        'strace',
        'systemd-analyze',
        'umount',
        'unshare',
      ],
      project: ['{importers,src}/**/*.{ts,js}', 'test/**/*.ts'],
    },
    console: {
      project: ['src/**/*.{ts,tsx}', '*.ts'],
    },
    simulator: {
      entry: ['src/load.ts'],
      project: ['src/**/*.{ts,js}', 'test/**/*.ts'],
    },
  },
} satisfies KnipConfig;
