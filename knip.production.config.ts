import type { KnipConfig } from 'knip';

/**
 * Finds code that only tests use: it looks from the programs alone. An export that its own file uses may exist for a
 * property test. A room's face may offer tests what the room itself uses.
 */
export default {
  exclude: ['types', 'nsTypes', 'dependencies', 'binaries', 'unlisted', 'unresolved'],
  ignoreExportsUsedInFile: true,
  ignoreIssues: {
    'gateway/{importers/*,src/*/*}/index.ts': ['exports'],
    // The shared suite over all vendors.
    'gateway/src/base/vendors/registry.ts': ['exports'],
  },
  workspaces: {
    '.': { entry: [], project: [] },
    gateway: {
      entry: ['src/main.js!', 'src/**/*.worker.ts!'],
      project: ['{importers,src}/**/*.{ts,js}!', '!{importers,src}/**/*.test.ts!'],
    },
    console: {
      entry: ['src/main.tsx!', 'build.ts!'],
      project: ['src/**/*.{ts,tsx}!', '!src/**/*.test.ts!'],
    },
    simulator: {
      entry: ['src/main.ts!', 'src/index.ts!', 'src/load.ts!'],
      project: ['src/**/*.ts!', '!src/**/*.test.ts!'],
    },
  },
} satisfies KnipConfig;
