import { expect, test } from 'vitest';
import type { Declared } from '#config/index.ts';
import { settingsInVain } from './settings-in-vain.ts';

type Declarations = Parameters<typeof settingsInVain>[0];

const declare = (parts: { models?: object[]; keys?: object[]; teams?: object[] }): Declarations =>
  ({ models: [], keys: [], teams: [], ...parts }) as Pick<Declared, 'models' | 'keys' | 'teams'>;
const key = { name: 'ci', rpm: null, rph: null, maxConcurrency: null };

test.each([
  [['layers', 'streaming'], true],
  [['edits', 'multi_reference', 'layers', 'streaming'], true],
  [['multi_reference', 'streaming'], true],
  [['edits', 'multi_reference', 'streaming'], false],
  [['edits', 'streaming'], false],
  [['layers'], false],
])('streaming of a model with %j', (capabilities, isWarned) => {
  const warnings = settingsInVain(declare({ models: [{ id: 'seedream', capabilities }] }));
  expect(warnings).toEqual(
    isWarned ? [expect.stringMatching(/^model 'seedream' declares streaming, but /)] : [],
  );
});

test('an image model for a tool that nothing serves', () => {
  const models = [
    { id: 'writer', capabilities: [], imageToolModel: 'painter' },
    { id: 'plain', capabilities: [], imageToolModel: null },
  ];
  expect(settingsInVain(declare({ models }))).toEqual([
    "model 'writer' has image_tool_model, which has no effect: only upstreams of Responses have the tool image_generation",
  ]);
});

test('limits of 0, which refuse everything', () => {
  expect(
    settingsInVain(
      declare({
        keys: [key, { ...key, rpm: 0, maxConcurrency: 0 }, { ...key, rph: 1 }],
        teams: [{ name: 'research', rpm: 0 }],
      }),
    ),
  ).toEqual([
    "key 'ci' has rpm: 0, so every request is refused; leave it out for no limit",
    "key 'ci' has max_concurrency: 0, so every request is refused; leave it out for no limit",
    "team 'research' has rpm: 0, so every request is refused; leave it out for no limit",
  ]);
});
