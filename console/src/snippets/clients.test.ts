import { expect, it } from 'vitest';
import { inPowerShell, modelFor } from './clients.ts';

const model = (id: string, output: string, ...protocols: readonly string[]) => ({
  id,
  type: 'chat',
  priced: true,
  protocols,
  prices: [{ part: 'output', price: output }],
});
const models = [
  model('small', '4', 'messages'),
  model('best', '25', 'messages'),
  model('usual', '15', 'messages'),
  model('other', '60', 'chat'),
  { ...model('free', '90', 'messages'), priced: false },
];

it.each([
  ['Claude Code', undefined, 'best', 'small'],
  ['Claude Code', 'usual', 'usual', 'small'],
  // Another provider's is converted, so it is not the first choice.
  ['Claude Code', 'other', 'best', 'small'],
  ['curl', undefined, 'other', 'other'],
  // Nobody speaks its protocol: any will do.
  ['Codex', undefined, 'other', 'small'],
] as const)(
  '%s with a key used for %s gets %s, and %s for errands',
  (client, used, best, small) => {
    expect(modelFor(client, models, used)).toEqual({ model: best, small });
  },
);

it('writes variables as PowerShell does, and nothing else differently', () => {
  const text = "export A=https://x/v1\nexport B='a b'\nexport C=$SLUICE_KEY\nclaude";
  expect(inPowerShell(text)).toBe(
    "$env:A = 'https://x/v1'\n$env:B = 'a b'\n$env:C = $env:SLUICE_KEY\nclaude",
  );
});
