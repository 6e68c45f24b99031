import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkplace } from '../commands/support.ts';
import { greetingLines, startInFolder } from '../support/start-in-folder.ts';

const anyPort = 'server: { port: 0 }\n';

test.each([
  ['OPENAI_API_KEY', 'openai', '/v1/chat/completions'],
  ['ANTHROPIC_API_KEY', 'anthropic', '/v1/messages'],
  ['GEMINI_API_KEY', 'gemini', '/v1beta/models/'],
  ['ARK_API_KEY', 'ark', '/v1/images/generations'],
  ['DASHSCOPE_API_KEY', 'dashscope', '/v1/services/aigc/video-generation/video-synthesis'],
])('a first start offers a key in %s instead of the demo', async (variable, channel, path) => {
  const secret = 'sk-proj-environment-0123456789';
  const { folder, sluice } = createWorkplace(anyPort);
  const log: string[] = [];
  const gateway = await startInFolder(folder, { environment: { [variable]: secret }, log });
  const { url, greeting } = gateway;
  const { key = '', try: example = '', upstream } = greetingLines(greeting);
  expect(upstream).toBeUndefined();
  expect(example).not.toContain('demo-');
  expect(example).toContain(`${url}${path}`);
  const list = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await list.json()) as { data: { id: string; owned_by: string }[] };
  expect(data.length).toBeGreaterThan(0);
  expect(data.map(({ id }) => id).filter((id) => id.startsWith('demo-'))).toEqual([]);
  await gateway.close();
  const { out } = await sluice('export');
  expect(
    Array.from(out.matchAll(/^ {2}- name: (\S+)\n {4}provider:/gm), ([, name]) => name),
  ).toEqual([channel]);
  // Neither printed nor logged nor kept in the clear.
  expect(greeting + log.join('\n') + out).not.toContain(secret);
  const files = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true });
  expect(files.map(({ name }) => name)).toContain('sluice.db');
  for (const file of files.filter((each) => each.isFile())) {
    expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(secret);
  }
});

test('reaches a real upstream with ten lines of configuration', async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const secret = 'sk-ci-0123456789abcdefghijklmnopqrstuv';
  const file = readmeExample().replace(
    'provider: openai\n',
    `provider: openai-compatible\n    base_url: ${simulator.url}/v1\n`,
  );
  expect(file.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  const model = /models: \[([^\],]+)/.exec(file)?.[1] ?? '';
  const { folder } = createWorkplace(`${anyPort}${file}`);
  const environment = { OPENAI_API_KEY: 'upstream-key', CI_KEY: secret };
  const { url } = await startInFolder(folder, { environment });
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining('You said'),
  ]);
  expect(simulator.requests()[0]?.json).toMatchObject({ model });
});

/** The file of the README's section "A real upstream", so that what people copy is what is tested. */
function readmeExample(): string {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const section = readme.slice(readme.indexOf('## A real upstream'));
  return /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
}
